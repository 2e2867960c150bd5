"""Two endings that exclude each other: one of them happens, never both, never none."""

import time
from functools import partial

import pytest

from inbox import engine
from inbox.actions.decisions.expiry import expire_interrupts
from inbox.actions.runs.cancel_run import cancel_run
from inbox.actions.runs.start_run import start_run
from inbox.models import Decision, Run
from inbox.platform.clock import database_now
from inbox.rules.errors import InterruptExpired, RunEnded
from tests.support import steps
from tests.support.races.concurrently import at_once, failures, rounds

pytestmark = pytest.mark.services


def test_an_answer_and_the_expiry_exclude_each_other(committed_world, race_bob):
    seen = set()
    number = rounds(short=6, long=30)
    runs = [steps.start(committed_world, "rehearse:expires_soon") for _ in range(number)]
    questions = [steps.open_interrupts(run)[0] for run in runs]
    for index, (run, question) in enumerate(zip(runs, questions, strict=True)):
        # Around the moment itself: a little before, and a little after.
        moment = question.expires_at.timestamp() + (index % 3 - 1) * 0.002
        due = time.monotonic() + moment - database_now().timestamp()

        def at_the_moment(call, due=due):
            time.sleep(max(0.0, due - time.monotonic()))
            return call()

        outcomes = at_once(
            [
                partial(at_the_moment, partial(steps.approve, question, race_bob)),
                partial(at_the_moment, partial(expire_interrupts, thread_id=run.thread_id)),
            ]
        )
        expire_interrupts(thread_id=run.thread_id)  # the next sweep, if the first came too early

        answered = isinstance(outcomes[0], Decision)
        assert answered or isinstance(outcomes[0], InterruptExpired)
        assert not isinstance(outcomes[1], BaseException)
        decision = Decision.objects.get(interrupt=question)
        status = steps.reread(question).status
        assert (decision.actor_label, status) == (
            ("Bob", "resolved") if answered else ("system:expiry", "expired")
        )
        assert Run.objects.filter(resumes=run).count() == 1
        seen.add(status)
    assert "expired" in seen


def test_a_cancel_and_the_end_of_a_run_exclude_each_other(committed_world, race_bob):
    for _ in range(rounds(short=20, long=100)):
        run = steps.start(committed_world, "rehearse:tool_call")
        (interrupt,) = steps.open_interrupts(run)
        steps.approve(interrupt, race_bob)
        resume = Run.objects.get(resumes=run)

        outcomes = at_once(
            [
                partial(engine.execute_run, resume.pk),
                partial(cancel_run, run_id=resume.pk, actor=race_bob),
            ]
        )

        ended = steps.reread(resume)
        assert ended.status in ("succeeded", "cancelled")
        assert [type(error) for error in failures(outcomes)] == (
            [] if ended.status == "cancelled" else [RunEnded]
        )
        terminals = [
            kind for kind in steps.event_types(ended) if kind in ("RUN_FINISHED", "RUN_ERROR")
        ]
        assert terminals == ["RUN_FINISHED"]
        numbers = list(run.thread.events.order_by("seq").values_list("seq", flat=True))
        assert numbers == list(range(1, len(numbers) + 1))


def test_a_cancel_and_a_resume_of_the_same_thread_leave_one_outcome(committed_world, race_bob):
    """Bob calls the interrupt off in the inbox while a client resumes with an approval."""
    for _ in range(rounds(short=20, long=100)):
        run = steps.start(committed_world, "rehearse:tool_call")
        (interrupt,) = steps.open_interrupts(run)
        approve = partial(
            start_run,
            agent=committed_world.agent,
            request=steps.request(
                thread_id=run.thread.external_id, entries=(steps.entry(interrupt, steps.APPROVE),)
            ),
            actor=race_bob,
        )

        outcomes = at_once([approve, partial(steps.call_off, interrupt, race_bob)])

        assert [type(error).__name__ for error in failures(outcomes)] == ["AlreadyDecided"]
        decision = Decision.objects.get(interrupt=interrupt)
        assert decision.status == ("cancelled" if failures(outcomes[:1]) else "resolved")
        resume = Run.objects.get(resumes=run)
        engine.execute_run(resume.pk)
        executed = [result.get("executionCount") for result in steps.results(resume)]
        assert executed == ([1] if decision.status == "resolved" else executed)
        assert decision.status == "resolved" or 1 not in executed
