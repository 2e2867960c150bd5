"""A running Signoff, and the real coding agents with a model on loopback."""

import pytest

from tests.support.clients.coding_agents import CodingAgent
from tests.support.clients.live_desk import live_desk
from tests.support.clients.model_server import model_server


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
