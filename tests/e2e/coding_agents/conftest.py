"""A running Signoff, and the real coding agents with a model on loopback."""

import pytest
from signoff_client.hooks.loopback_model import model_server

from tests.support.clients.coding_agents import CodingAgent
from tests.support.clients.live_desk import live_desk


@pytest.fixture(scope="package")
def running_desk(tmp_path_factory):
    with live_desk(tmp_path_factory.mktemp("desk")) as desk:
        yield desk


@pytest.fixture
def desk(running_desk):
    running_desk.take_next_agent()
    return running_desk


@pytest.fixture(params=["claude-code", "codex", "copilot-cli", "gemini-cli"])
def agent(desk, tmp_path, request):
    with model_server("") as model:
        yield CodingAgent(desk, tmp_path, request.param, model)
