"""Programs start what was approved, once, and report what became of it."""

from uuid import UUID

import pytest

from tests.support.requests.programs import (
    APPROVED,
    CALL,
    Program,
    actions,
    answer_doubt,
    decide,
    make_program,
    pass_time,
    program,
)

__all__ = ["program"]

IDEMPOTENT = {"effect": "idempotent"}


def approved(program, bob, *items, **members):
    request = program.ask(*items, **members)
    for item in request["items"]:
        decide(request, bob, APPROVED, item=item["id"])
    return request


def item_of(program, request, number=0):
    return program.read(request)["items"][number]


def code_of(answer, status=409):
    assert answer.status_code == status, answer.content
    return answer.json()["code"]


def test_an_approval_is_handed_out_once(program, bob):
    request = approved(program, bob)

    started = program.start(request, attempt="first")
    again = program.start(request, attempt="first")
    other = program.start(request, attempt="second")

    assert started.status_code == 200, started.content
    assert started.json()["args"] == CALL["args"]
    assert started.json()["replayed"] is False
    assert again.json()["replayed"] is True
    assert again.json()["idempotency_key"] == item_of(program, request)["call"]
    assert code_of(other) == "CALL_STARTED"
    assert item_of(program, request)["state"] == "started"


def test_a_report_ends_the_request(program, bob):
    request = approved(program, bob)
    program.start(request)

    reported = program.report(request, result={"refund": "re_9001"}, executed_args=CALL["args"])
    again = program.report(request, result={"refund": "re_9001"}, executed_args=CALL["args"])
    other = program.report(request, "failed", error="no")

    assert reported.json() == {"state": "succeeded", "replayed": False, "late": False}
    assert again.json() == {"state": "succeeded", "replayed": True, "late": False}
    assert code_of(other) == "ALREADY_REPORTED"
    ended = program.read(request)
    assert (ended["status"], ended["items"][0]["state"]) == ("done", "succeeded")
    assert "tool.deviated" not in actions(request)
    assert actions(request)[-2:] == ["tool.settled", "run.succeeded"]


def test_a_failure_ends_the_request_too(program, bob):
    request = approved(program, bob)
    program.start(request)

    assert program.report(request, "failed", error="card expired").json()["state"] == "failed"

    assert item_of(program, request)["state"] == "failed"
    assert program.read(request)["status"] == "done"


@pytest.mark.parametrize("payload", [None, {"approved": False}], ids=["open", "denied"])
def test_what_is_not_approved_does_not_start(program, bob, payload):
    request = program.ask()
    if payload:
        decide(request, bob, payload)

    assert code_of(program.start(request)) == "NOT_APPROVED"


def test_a_question_does_not_start(program, bob):
    request = approved(program, bob, {"title": "Deploy?"})

    assert code_of(program.start(request)) == "NOT_APPROVED"
    assert code_of(program.report(request)) == "NOT_STARTED"
    assert code_of(program.start_unknown(request), 404) == "NOT_FOUND"


def test_an_approved_item_waits_for_the_rest_of_its_request(program, bob):
    request = program.ask({"id": "1", **CALL}, {"id": "2", "title": "Sure?"})
    decide(request, bob, APPROVED)

    assert code_of(program.start(request)) == "NOT_APPROVED"

    decide(request, bob, APPROVED, item="2")
    assert program.start(request).status_code == 200


def test_only_the_approved_arguments_start(program, bob):
    request = program.ask()
    proposed = request["items"][0]["args_digest"]
    decide(request, bob, {"approved": True, "editedArgs": {"charge": "ch_17", "amount": 1}})

    refused = program.start(request, args_digest=proposed)
    started = program.start(request)

    assert code_of(refused) == "ARGUMENTS_DIFFER"
    assert started.json()["args"] == {"charge": "ch_17", "amount": 1}


def test_an_approval_lapses_unless_it_is_started(program, bob, later):
    request = approved(program, bob, execution={"valid_seconds": 60})

    pass_time(later, seconds=61)

    assert program.read(request)["status"] == "lapsed"
    assert item_of(program, request)["state"] == "lapsed"
    assert code_of(program.start(request)) == "APPROVAL_LAPSED"
    assert "tool.lapsed" in actions(request)


def test_a_start_after_the_end_lapses_without_the_sweeper(program, bob, later):
    request = approved(program, bob, execution={"valid_seconds": 60})

    later(seconds=61)

    assert code_of(program.start(request)) == "APPROVAL_LAPSED"
    assert program.read(request)["status"] == "lapsed"


def test_an_approval_lapses_when_the_team_says_so(program, bob, later, world):
    world.team.execute_within_hours = 1
    world.team.save()
    request = approved(program, bob)

    later(minutes=61)

    assert code_of(program.start(request)) == "APPROVAL_LAPSED"


def test_a_lost_program_leaves_a_doubt_that_a_person_settles(program, bob, later):
    request = approved(program, bob, execution={"lease_seconds": 60})
    program.start(request)

    pass_time(later, seconds=61)

    assert program.read(request)["status"] == "decided"
    assert item_of(program, request)["state"] == "in_doubt"
    assert code_of(program.start(request)) == "IN_DOUBT"
    answer_doubt(request, bob, "happened", result="re_9001")
    assert program.read(request)["status"] == "done"
    assert item_of(program, request)["state"] == "succeeded"


def test_a_call_that_did_not_happen_may_start_once_more(program, bob):
    request = approved(program, bob)
    program.start(request, attempt="first")
    assert program.report(request, "unknown", attempt="first").json()["state"] == "in_doubt"

    answer_doubt(request, bob, "did_not_happen")
    second = program.start(request, attempt="second")
    third = program.start(request, attempt="third")

    assert (second.status_code, second.json()["replayed"]) == (200, False)
    assert code_of(third) == "CALL_STARTED"
    assert program.report(request, attempt="second").json()["state"] == "succeeded"
    assert program.read(request)["status"] == "done"


def test_a_call_that_a_person_stops_is_not_run(program, bob):
    request = approved(program, bob)
    program.start(request)
    program.report(request, "unknown")

    answer_doubt(request, bob, "stop")

    assert program.read(request)["status"] == "done"
    assert item_of(program, request)["state"] == "not_run"
    assert code_of(program.start(request, attempt="b")) == "NOT_APPROVED"


def test_a_late_report_stands_beside_the_question(program, bob, later):
    request = approved(program, bob, execution={"lease_seconds": 60})
    program.start(request)
    pass_time(later, seconds=61)

    late = program.report(request, result="re_9001")

    assert late.json() == {"state": "in_doubt", "replayed": False, "late": True}
    assert item_of(program, request)["state"] == "in_doubt"
    assert "tool.reported_late" in actions(request)
    answer_doubt(request, bob, "did_not_happen")
    assert item_of(program, request)["state"] == "waiting"


def test_a_late_report_of_the_second_attempt_is_stored_too(program, bob):
    from inbox.models import ToolCall

    request = approved(program, bob)
    for attempt in ("first", "second"):
        program.start(request, attempt=attempt)
        program.report(request, "unknown", attempt=attempt)
        program.report(request, result=f"late {attempt}", attempt=attempt)
        stored = ToolCall.objects.get(thread=request["thread"]).late_report
        answer_doubt(request, bob, "did_not_happen")

        assert f"late {attempt}" in stored


def test_a_report_is_late_when_the_lease_has_ended_unnoticed(program, bob, later):
    request = approved(program, bob, execution={"lease_seconds": 60})
    program.start(request)

    later(seconds=61)

    assert program.report(request).json()["late"] is True


def test_nobody_is_asked_while_another_call_is_under_way(program, bob):
    from inbox.models import Interrupt

    request = approved(program, bob, {"id": "1", **CALL}, {"id": "2", **CALL}, {"id": "3", **CALL})
    program.start(request, "1")
    program.start(request, "2", attempt="b")
    program.report(request, "unknown")
    doubts = Interrupt.objects.filter(reason="signoff:outcome_unknown")
    assert not doubts.exists()

    program.report(request, item="2", attempt="b")

    assert doubts.count() == 1
    assert code_of(program.start(request, "3", attempt="c")) == "IN_DOUBT"
    answer_doubt(request, bob, "happened", result="")
    assert program.start(request, "3", attempt="c").status_code == 200


def test_an_idempotent_call_starts_again_after_its_lease(program, bob, later):
    request = approved(program, bob, execution={**IDEMPOTENT, "lease_seconds": 60})
    program.start(request, attempt="first")

    pass_time(later, seconds=61)

    assert item_of(program, request)["state"] == "waiting"
    assert program.start(request, attempt="second").json()["replayed"] is False
    assert code_of(program.report(request, attempt="first")) == "CALL_STARTED"
    assert program.report(request, attempt="second").json()["state"] == "succeeded"


def test_a_lease_is_prolonged_up_to_a_day(program, bob, later):
    from inbox.models import ToolCall

    request = approved(program, bob, execution={"lease_seconds": 60})
    first = program.start(request).json()["lease_until"]

    later(seconds=50)
    second = program.start(request).json()["lease_until"]
    program.start(request, lease_seconds=86_400)

    assert second > first
    call = ToolCall.objects.get(thread=request["thread"])
    assert (call.lease_until - call.started_at).total_seconds() == 86_400


def test_other_executed_arguments_are_recorded(program, bob):
    request = approved(program, bob)
    program.start(request)

    program.report(request, executed_args={**CALL["args"], "amount": 9_999})

    assert "tool.deviated" in actions(request)


def test_a_repeated_report_with_other_executed_arguments_is_refused(program, bob):
    request = approved(program, bob)
    program.start(request)
    program.report(request)

    other = program.report(request, executed_args={"amount": 9_999})

    assert code_of(other) == "ALREADY_REPORTED"


def test_a_program_that_reports_nothing_takes_its_call(program, bob):
    request = approved(program, bob, execution={"report": False})

    started = program.start(request)
    again = program.start(request)

    assert (started.json()["state"], started.json()["lease_until"]) == ("started", None)
    assert again.json()["replayed"] is True
    assert item_of(program, request)["state"] == "handed_over"
    assert program.read(request)["status"] == "done"
    assert code_of(program.report(request)) == "ALREADY_REPORTED"


def test_the_program_of_another_agent_gets_nothing(program, bob, world):
    request = approved(program, bob)
    stranger = Program(make_program(world, "other"))
    address = f"/api/requests/{request['id']}"

    answers = [
        stranger.get(address),
        stranger.post(f"{address}/withdraw"),
        stranger.post(f"{address}/items/1/start", {"attempt": "a", "args_digest": ""}),
        stranger.post(f"{address}/items/1/report", {"attempt": "a", "outcome": "succeeded"}),
    ]

    assert [answer.status_code for answer in answers] == [404] * 4


def test_people_do_not_act_for_a_program(program, bob, alice):
    from inbox.actions.requests.call_permits import start_call
    from inbox.rules.errors import Forbidden

    request = approved(program, bob)

    with pytest.raises(Forbidden):
        start_call(
            request_id=UUID(request["id"]), item_id="1", attempt="a", args_digest="", actor=alice
        )


def test_no_worker_claims_what_a_program_executes(program, bob):
    from datetime import timedelta

    from inbox import engine
    from inbox.models import Run
    from inbox.queries.runs import overdue

    request = approved(program, bob)
    resume = Run.objects.get(thread=request["thread"], resumes__isnull=False)

    engine.execute_run(resume.pk)

    resume.refresh_from_db()
    assert (resume.status, resume.pulled) == ("queued", True)
    assert overdue.runs_queued_for(timedelta(0)) == []
    assert program.start(request).status_code == 200


def test_a_run_that_a_program_executes_has_no_lost_worker(program, bob, later):
    from inbox.actions.runs.recovery import recover_run
    from inbox.models import Run
    from inbox.queries.runs import overdue

    request = approved(program, bob, execution=IDEMPOTENT)
    program.start(request)
    later(days=2)

    assert overdue.runs_with_lost_workers() == []
    run = Run.objects.get(thread=request["thread"], status="running")
    assert recover_run(run_id=run.pk, restartable=True) is None


def test_administrators_revoke_an_approval_that_is_not_started(program, bob, key_with):
    request, started = approved(program, bob), approved(program, bob)
    program.start(started)
    admin = key_with("admin")
    revoke = "/api/requests/{}/items/1/revoke".format

    revoked = admin.post(revoke(request["id"]), {"reason": "Wrong customer"})

    assert (revoked.status_code, revoked.json()["status"]) == (200, "lapsed")
    assert code_of(program.start(request)) == "APPROVAL_LAPSED"
    assert code_of(admin.post(revoke(started["id"]))) == "CALL_STARTED"
    assert program.post(revoke(request["id"])).status_code == 403
