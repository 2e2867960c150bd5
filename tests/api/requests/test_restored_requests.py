"""Requests of programs in a database that was restored from a backup."""

from uuid import UUID

from inbox import engine
from inbox.actions.runs.restored_runs import stop_restored_run
from inbox.models import Run
from inbox.queries.runs.latest_run import unfinished_threads
from tests.support.requests.programs import APPROVED, actions, answer_doubt, decide, program

__all__ = ["program"]


def restore():
    for thread in [*unfinished_threads()]:
        stop_restored_run(thread_id=thread)


def retry(request, bob):
    engine.retry_run(Run.objects.get(thread=request["thread"], status="failed").pk, bob)


def test_restored_approval_is_not_handed_out(program, bob):
    request = program.ask()
    decide(request, bob, APPROVED)

    restore()

    answer = program.start(request)
    assert (answer.status_code, answer.json()["code"]) == (409, "NOT_APPROVED")
    assert "thread.restored" in actions(request)


def test_restored_approval_is_handed_out_after_a_retry(program, bob):
    request = program.ask()
    decide(request, bob, APPROVED)
    restore()

    retry(request, bob)

    assert program.start(request).status_code == 200


def test_restored_started_call_is_asked_about_by_the_retry(program, bob):
    request = program.ask()
    decide(request, bob, APPROVED)
    assert program.start(request).status_code == 200
    restore()
    assert program.start(request, attempt="b").json()["code"] == "IN_DOUBT"

    retry(request, bob)
    answer_doubt(request, bob, "stop")

    assert program.start(request, attempt="b").status_code == 409


def test_restored_open_request_stays_open(program, bob):
    request = program.ask()

    restore()

    assert program.read(request)["status"] == "open"
    decide(request, bob, APPROVED, despite_restore=True)
    assert program.start(request).status_code == 200
    assert Run.objects.filter(thread=UUID(request["thread"]), status="failed").count() == 0
