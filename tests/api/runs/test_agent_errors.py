"""REST: what an agent raised, for its authors, in the demo and where a team allows it."""

from datetime import timedelta

import pytest
from django.db.models import F

from agents.sdk.workflow import WorkflowContext, workflow
from inbox.actions.audit.thread_deletion import delete_if_old
from inbox.actions.people.api_keys import make_key
from inbox.actions.people.members import change_team
from inbox.models import AgentError, Team, Thread
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
def is_allowed(world):
    allow(world, True)


def allow(world, is_stored):
    change_team(team_id=world.team.pk, stores_exceptions=is_stored, actor=SEED)


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


def test_a_team_lets_keys_that_may_run_read_exceptions(is_allowed, world, failed_run):
    run = failed_run()

    (text,) = exceptions_of(run, caller(world, Permission.READ, Permission.RUN))

    assert text.startswith("ZeroDivisionError: division by zero\n  test_agent_errors.py:")


@pytest.mark.parametrize("scopes", [[Permission.READ], [Permission.READ, Permission.ADMIN]])
def test_other_keys_of_such_a_team_read_none(is_allowed, world, failed_run, scopes):
    assert exceptions_of(failed_run(), caller(world, *scopes)) is None


def test_other_teams_do_not_see_such_a_run(is_allowed, world, failed_run):
    others = Team.objects.get(slug="others")
    change_team(team_id=others.pk, stores_exceptions=True, actor=SEED)
    scopes = {Permission.READ, Permission.RUN}
    _, key = make_key(team_id=others.pk, name="k", scopes=scopes, actor=SEED)

    assert Caller(key).get(f"/api/runs/{failed_run().pk}").status_code == 404


def test_the_setting_of_another_team_stores_nothing(world, failed_run):
    change_team(team_id=Team.objects.get(slug="others").pk, stores_exceptions=True, actor=SEED)

    run = failed_run()

    assert exceptions_of(run, caller(world, Permission.READ, Permission.RUN)) is None
    assert not AgentError.objects.exists()


def test_exceptions_are_hidden_once_the_team_forbids_it(is_allowed, world, failed_run):
    before = failed_run()
    allow(world, False)

    run = failed_run()

    api = caller(world, Permission.READ, Permission.RUN)
    assert [exceptions_of(row, api) for row in (before, run)] == [None, None]
    assert not AgentError.objects.filter(run=run).exists()


@workflow()
async def leaking(_ctx: WorkflowContext) -> None:
    """Raises a secret after characters that steer a terminal."""
    raise ValueError('{"reply": "\x1b[2J\u202e", "api_key": "hunter2"}')


def test_stored_exceptions_have_no_secrets_and_steer_nothing(is_allowed, world, as_agent):
    run = start(world, "go", agent=as_agent(leaking.run))

    (text,) = exceptions_of(run, caller(world, Permission.READ, Permission.RUN))

    assert "hunter2" not in AgentError.objects.get(run=run).text
    assert "\u202e" not in text
    assert "\x1b" not in text


@workflow()
async def long(_ctx: WorkflowContext) -> None:
    """Raises a text that has no end."""
    raise ValueError("x" * 1_000_000)


def test_stored_exceptions_are_short(is_allowed, world, as_agent):
    run = start(world, "go", agent=as_agent(long.run))

    (text,) = exceptions_of(run, caller(world, Permission.READ, Permission.RUN))

    assert len(text) <= 4_000


def test_an_old_thread_is_deleted_with_its_exceptions(is_allowed, world, failed_run):
    run = failed_run()
    change_team(team_id=world.team.pk, thread_days=1, actor=SEED)
    Thread.objects.update(updated_at=F("updated_at") - timedelta(days=2))

    assert delete_if_old(thread_id=run.thread_id)

    assert not AgentError.objects.exists()
