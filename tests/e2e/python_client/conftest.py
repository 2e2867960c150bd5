"""One running Signoff for the tests of the Python client."""

import pytest

from tests.support.clients.live_desk import live_desk


@pytest.fixture(scope="package")
def running_desk(tmp_path_factory):
    with live_desk(tmp_path_factory.mktemp("desk")) as desk:
        yield desk


@pytest.fixture
def desk(running_desk):
    running_desk.take_next_agent()
    return running_desk
