"""In the demo of this machine, authors see what their agents raised, with their own lines."""

import pytest

from agents.sdk.tools import tool
from agents.sdk.workflow import WorkflowContext, workflow
from inbox.actions.audit.erasure import erase_thread
from inbox.actions.people.members import change_team
from inbox.models import AgentError
from inbox.rules.people.access import SEED
from tests.support.steps import start
from tests.support.web.pages import words


@tool(effect="read")
def look_up(order: str) -> str:
    """Look an order up."""
    raise LookupError(f"no order {order}")


@workflow(tools=[look_up])
async def broken(ctx: WorkflowContext) -> None:
    """Looks an order up and divides."""
    await ctx.call(look_up, order="88121")
    print(1 / 0)


@pytest.fixture
def in_demo(settings):
    settings.SHOWS_AGENT_ERRORS = True


@pytest.fixture
def failed_run(world, as_agent):
    return lambda: start(world, "go", agent=as_agent(broken.run))


def test_the_page_of_a_run_shows_what_the_agent_raised(in_demo, failed_run, reads_bob):
    run = failed_run()

    page = words(reads_bob.get(f"/threads/{run.thread_id}/"))

    assert "AGENT_ERROR: The agent failed." in page
    assert "ZeroDivisionError: division by zero test_agent_errors.py:" in page
    assert " in broken print(1 / 0)" in page
    assert "LookupError: no order 88121 test_agent_errors.py:" in page
    assert "agents/sdk" not in page


def test_no_other_installation_stores_or_shows_exceptions(failed_run, reads_bob, settings):
    run = failed_run()
    assert not AgentError.objects.exists()

    AgentError.objects.create(run=run, text="ZeroDivisionError: of a demo before")

    assert "ZeroDivisionError" not in words(reads_bob.get(f"/threads/{run.thread_id}/"))


def test_the_page_shows_what_a_team_stores(failed_run, reads_bob, world):
    change_team(team_id=world.team.pk, stores_exceptions=True, actor=SEED)

    run = failed_run()

    page = words(reads_bob.get(f"/threads/{run.thread_id}/"))
    assert "ZeroDivisionError: division by zero test_agent_errors.py:" in page


def test_switching_the_setting_off_deletes_what_is_stored(failed_run, world):
    change_team(team_id=world.team.pk, stores_exceptions=True, actor=SEED)
    failed_run()
    change_team(team_id=world.team.pk, stores_exceptions=True, name="Same", actor=SEED)
    assert AgentError.objects.count() == 2

    change_team(team_id=world.team.pk, stores_exceptions=False, actor=SEED)

    assert not AgentError.objects.exists()


def test_secrets_in_exceptions_are_masked(in_demo, world, as_agent, reads_bob):
    @workflow(tools=[])
    async def connecting(ctx: WorkflowContext) -> None:
        """Connects with its password."""
        raise ConnectionError("postgres://bob:hunter2@db: password=hunter2")

    run = start(world, "go", agent=as_agent(connecting.run))

    assert "hunter2" not in AgentError.objects.get().text
    AgentError.objects.update(text="stored before: token=hunter2")
    page = words(reads_bob.get(f"/threads/{run.thread_id}/"))
    assert "stored before: token=" in page
    assert "hunter2" not in page


def test_strangers_see_no_exceptions(in_demo, failed_run, reads_carol):
    run = failed_run()

    assert reads_carol.client.get(f"/threads/{run.thread_id}/").status_code == 404


def test_erasing_a_thread_erases_the_exceptions_of_its_runs(in_demo, failed_run, dora, world):
    run = failed_run()
    assert AgentError.objects.count() == 2

    erase_thread(thread_id=run.thread_id, reason="asked for", actor=SEED)

    assert not AgentError.objects.exists()


def test_the_log_of_a_failed_agent_begins_with_the_cause(failed_run, caplog):
    failed_run()

    (line,) = [record.msg for record in caplog.records if "agent failed" in str(record.msg)]
    assert line["cause"] == "ZeroDivisionError: division by zero"
    assert line["at"].startswith("test_agent_errors.py:")
    assert line["at"].endswith(" in broken")
