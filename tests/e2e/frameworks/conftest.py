"""The servers of the frameworks, and the agents of Signoff that they are."""

from contextlib import ExitStack

import pytest

from inbox.actions.agents.remote_agents import set_remote_agent
from inbox.rules.people.access import SEED
from tests.e2e.frameworks.running import FRAMEWORKS, Desk


@pytest.fixture(scope="session")
def desks(tmp_path_factory):
    """Start a server when it is first asked for; all of them run to the end of the tests."""
    running = {}
    with ExitStack() as stack:

        def start(framework):
            if framework.name not in running:
                directory = tmp_path_factory.mktemp(framework.name)
                running[framework.name] = stack.enter_context(Desk(framework, directory))
            return running[framework.name]

        yield start


@pytest.fixture(params=FRAMEWORKS, ids=lambda framework: framework.name)
def framework(request):
    return request.param


@pytest.fixture
def desk(framework, desks, settings):
    settings.PRIVATE_AGENT_HOSTS = {"127.0.0.1"}
    running = desks(framework)
    running.forget()
    return running


@pytest.fixture
def refunds(world, desk, framework):
    return _agent(world, "refunds", f"{desk.url}{framework.agui}")


@pytest.fixture
def forms(world, desk, framework):
    return _agent(world, "forms", f"{desk.url}{framework.form}")


def _agent(world, slug, url):
    placed = set_remote_agent(team_id=world.team.pk, slug=slug, url=url, headers={}, actor=SEED)
    return placed.agent
