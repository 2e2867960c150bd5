"""A running Signoff for the programs of docs/frameworks.md."""

import pytest

from tests.support.clients.live_desk import live_desk


@pytest.fixture(scope="package")
def running_desk(tmp_path_factory):
    # n8n and Signoff are in one network here.
    settings = {"SIGNOFF_PRIVATE_WEBHOOK_HOSTS": "127.0.0.1"}
    with live_desk(tmp_path_factory.mktemp("desk"), **settings) as desk:
        yield desk


@pytest.fixture
def desk(running_desk):
    running_desk.take_next_agent()
    return running_desk
