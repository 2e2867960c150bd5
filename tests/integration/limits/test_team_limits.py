"""Limits of what a team may have at once, and the refusals beyond them."""

import pytest

from inbox import engine
from inbox.actions.limits.count_use import count_use_of_teams
from inbox.actions.runs.run_lease import claim_run
from inbox.actions.runs.start_run import start_run
from inbox.models import Interrupt, Run, TeamLimits, Thread
from inbox.queries.limits.team_limits import (
    bytes_of_events,
    limit_memory,
    limits_of,
    number_of_threads,
)
from inbox.rules import errors
from inbox.rules.limits.team_limits import Limit
from tests.support import steps
from tests.support.limits import limit_teams
from tests.support.steps import request


@pytest.fixture
def begin(world, alice):
    def begin(text="rehearse:echo", **more):
        return start_run(agent=world.agent, request=request(text, **more), actor=alice)

    return begin


def refusal_of(call, *arguments, **more):
    with pytest.raises(errors.LimitReached) as refusal:
        call(*arguments, **more)
    return refusal.value


def test_runs_beyond_the_limit_of_the_queue_are_refused(begin, settings):
    limit_teams(settings, queued_runs=2)
    begin(), begin()

    refusal = refusal_of(begin)

    assert refusal.code == "LIMIT_REACHED"
    assert refusal.detail == {"limit": "queued_runs", "most": 2, "retry_after": 5}
    assert Run.objects.count() == Thread.objects.count() == 2


def test_a_refused_start_with_an_earlier_key_returns_the_earlier_run(world, alice, settings):
    limit_teams(settings, queued_runs=1)
    again = {"agent": world.agent, "actor": alice, "request": request("rehearse:echo")}
    first = start_run(**again, idempotency_key="k")

    assert start_run(**again, idempotency_key="k").run == first.run


def test_the_limit_of_a_team_counts_instead_of_the_default(begin, world, settings):
    limit_teams(settings, queued_runs=1)
    TeamLimits.objects.create(team=world.team, queued_runs=3)
    begin(), begin(), begin()

    assert refusal_of(begin).detail["most"] == 3


def test_resumes_are_queued_beyond_every_limit(world, begin, bob, settings):
    run = begin("rehearse:tool_call").run
    engine.execute_run(run.pk)
    begin()
    limit_teams(settings, queued_runs=1, open_requests=1, agent_open_requests=1, event_bytes=1)

    steps.approve(steps.open_interrupts(run)[0], bob)

    assert Run.objects.get(resumes=run).status == "queued"


def test_no_run_starts_while_the_team_has_too_many_open_requests(begin, settings):
    engine.execute_run(begin("rehearse:parallel3").run.pk)
    limit_teams(settings, open_requests=3)

    assert refusal_of(begin).detail["limit"] == "open_requests"


def test_no_run_starts_while_its_agent_has_too_many_open_requests(begin, settings):
    engine.execute_run(begin("rehearse:parallel3").run.pk)
    limit_teams(settings, agent_open_requests=3)

    assert refusal_of(begin).detail["limit"] == "agent_open_requests"


def test_a_run_that_asks_beyond_the_limit_of_the_team_fails(begin, settings):
    limit_teams(settings, open_requests=2)
    run = begin("rehearse:parallel3").run

    engine.execute_run(run.pk)

    run = steps.reread(run)
    assert (run.status, run.error_code) == ("failed", "LIMIT_REACHED")
    assert not Interrupt.objects.exists()
    error = steps.events(run.thread_id)[-1]
    assert error["type"] == "RUN_ERROR"
    assert error["message"].endswith("Decide some, then retry the run.")


def test_new_threads_beyond_the_limit_are_refused(begin, settings):
    begin(thread_id="first")
    limit_teams(settings, threads=1)

    assert refusal_of(begin, thread_id="second").detail == {
        "limit": "threads",
        "most": 1,
        "retry_after": None,
    }


def test_a_thread_within_the_limit_continues(begin, settings):
    engine.execute_run(begin(thread_id="first").run.pk)
    limit_teams(settings, threads=1)

    assert begin(thread_id="first").run.status == "queued"


def test_no_run_starts_while_the_events_of_a_team_take_too_much(begin, world, settings):
    engine.execute_run(begin("rehearse:stream:50").run.pk)
    count_use_of_teams()
    limit_teams(settings, event_bytes=1_000)

    assert bytes_of_events(world.team.pk) > 1_000
    assert refusal_of(begin).detail["limit"] == "event_bytes"


def test_the_characters_of_events_are_those_of_the_log(begin, world):
    run = begin("rehearse:stream:50").run
    engine.execute_run(run.pk)

    stored = sum(len(event.body) for event in run.events.all())
    assert Thread.objects.get().event_bytes == stored


def test_threads_are_counted_before_and_after_the_last_count(begin, world):
    begin()
    count_use_of_teams()
    begin(), begin()
    assert number_of_threads(world.team.pk) == 3

    count_use_of_teams()

    assert number_of_threads(world.team.pk) == 3


def test_a_run_waits_while_its_team_has_as_many_running_runs_as_it_may(begin, settings):
    limit_teams(settings, running_runs=1)
    first, second = begin().run, begin().run
    lease = claim_run(run_id=first.pk)

    engine.execute_run(second.pk)
    assert lease
    assert steps.reread(second).status == "queued"

    Run.objects.filter(pk=first.pk).update(status="queued", lease_until=None)
    engine.execute_run(second.pk)
    assert steps.reread(second).status == "succeeded"


def test_a_start_counts_at_most_once_a_second_far_below_the_limits(
    begin, django_assert_num_queries
):
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    def counts():
        with CaptureQueriesContext(connection) as queries:
            begin()
        return [query for query in queries if "COUNT" in query["sql"]]

    assert counts()
    assert not counts()


def test_limits_are_read_again_after_a_second(world):
    assert limits_of(world.team.pk)[Limit.THREADS] == 1_000_000
    TeamLimits.objects.create(team=world.team, threads=7)

    limit_memory.clear()

    assert limits_of(world.team.pk)[Limit.THREADS] == 7
