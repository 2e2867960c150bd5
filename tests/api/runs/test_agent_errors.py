"""REST: what an agent raised, for the people who write agents in the demo."""

import pytest

from agents.sdk.workflow import WorkflowContext, workflow
from inbox.actions.people.api_keys import make_key
from inbox.models import AgentError
from inbox.rules.people.access import SEED, Permission
from tests.support.http.rest_client import Caller
from tests.support.steps import start


@workflow()
async def broken(_ctx: WorkflowContext) -> None:
    """Divides by zero."""
    print(1 / 0)


@pytest.fixture
def in_demo(settings):
    settings.SHOWS_AGENT_ERRORS = True


@pytest.fixture
def failed_run(world, as_agent):
    return lambda: start(world, "go", agent=as_agent(broken.run))


def caller(world, *scopes):
    _, key = make_key(team_id=world.team.pk, name="k", scopes={*scopes}, actor=SEED)
    return Caller(key)


def exceptions_of(run, api):
    return api.get(f"/api/runs/{run.pk}").json()["exceptions"]


def test_keys_that_may_run_read_what_the_agent_raised(in_demo, world, failed_run):
    run = failed_run()

    (text,) = exceptions_of(run, caller(world, Permission.READ, Permission.RUN))

    assert text.startswith("ZeroDivisionError: division by zero\n  test_agent_errors.py:")
    assert "print(1 / 0)" in text


def test_a_run_that_raised_nothing_has_no_exceptions(in_demo, world):
    run = start(world, "rehearse:echo")

    assert exceptions_of(run, caller(world, Permission.READ, Permission.RUN)) == []


def test_secrets_in_exceptions_are_cut(in_demo, world):
    run = start(world, "rehearse:echo")
    text = 'KeyError: {"password": "hunter2-and-more"}'
    AgentError.objects.create(run=run, text=text)

    (text,) = exceptions_of(run, caller(world, Permission.READ, Permission.RUN))

    assert "hunter2" not in text
    assert text.startswith("KeyError")


@pytest.mark.parametrize("scopes", [[Permission.READ], [Permission.READ, Permission.DECIDE]])
def test_keys_that_may_not_run_read_no_exceptions(in_demo, world, failed_run, scopes):
    assert exceptions_of(failed_run(), caller(world, *scopes)) is None


def test_no_other_installation_shows_exceptions(world, failed_run):
    run = failed_run()
    AgentError.objects.create(run=run, text="ZeroDivisionError: of a demo before")

    assert exceptions_of(run, caller(world, Permission.READ, Permission.RUN)) is None


def test_only_the_single_run_has_exceptions(in_demo, world, failed_run):
    failed_run()

    (row,) = caller(world, Permission.READ, Permission.RUN).get("/api/runs").json()["results"]

    assert "exceptions" not in row
