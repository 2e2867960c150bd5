"""Requests of programs pass the gate of all others: policies, quorum, withdrawal, AG-UI."""

import json
from uuid import UUID

import pytest

from tests.support.policies.published import publish, rule, tool_is
from tests.support.requests.programs import (
    APPROVED,
    CALL,
    actions,
    answer_doubt,
    decide,
    make_program,
    pass_time,
    program,
)
from tests.support.steps import events

__all__ = ["program"]


def test_a_rule_answers_in_the_post(program, world):
    publish(world, rule("refunds", "allow", tool_is("refund")))

    request = program.ask()

    assert request["status"] == "decided"
    (item,) = request["items"]
    assert (item["status"], item["state"]) == ("approved", "waiting")
    assert item["by"]["kind"] == "policy"
    assert program.start(request).status_code == 200


def test_a_rule_that_denies_ends_the_request_in_the_post(program, world):
    publish(world, rule("refunds", "deny", tool_is("refund")))

    request = program.ask()

    assert (request["status"], request["items"][0]["status"]) == ("done", "denied")
    assert program.start(request).json()["code"] == "NOT_APPROVED"


def test_the_policy_in_force_is_checked_at_the_start(program, world, bob):
    request = program.ask()
    decide(request, bob, APPROVED)
    publish(world, rule("refunds", "deny", tool_is("refund")))

    answer = program.start(request)

    assert (answer.status_code, answer.json()["code"]) == (409, "NOT_APPROVED")
    assert "refunds" in answer.json()["detail"]


def test_a_rule_that_denies_the_edit_refuses_it(program, world, bob):
    from inbox.rules.errors import DeniedByPolicy

    large = {"path": "/args/amount", "op": "gt", "value": 5_000}
    publish(world, rule("large", "deny", tool_is("refund"), large))
    request = program.ask()

    with pytest.raises(DeniedByPolicy):
        decide(request, bob, {"approved": True, "editedArgs": {**CALL["args"], "amount": 9_000}})


def test_two_people_approve_before_a_program_starts(program, world, bob, add_erin):
    two = {"slots": [{"role": "reviewer"}, {"role": "reviewer"}]}
    publish(world, rule("two", "ask", tool_is("refund"), require=two))
    request = program.ask(may_edit=False)

    decide(request, bob, APPROVED)
    after_one = program.start(request)
    decide(request, add_erin, APPROVED)

    assert after_one.json()["code"] == "NOT_APPROVED"
    assert program.start(request).status_code == 200


@pytest.fixture
def add_erin(world):
    from inbox.actions.people.provisioning import add_member
    from inbox.rules.people.access import SEED, Role

    user = add_member(
        team=world.team,
        username="erin",
        full_name="Erin",
        password="erin-password",
        role=Role.REVIEWER,
        actor=SEED,
    )
    return world.actor(user)


def test_a_decision_counts_after_the_grace_period(program, world, bob, later):
    from inbox import sweeper
    from inbox.actions.decisions.withdrawals import withdraw_decision

    world.team.grace_seconds = 10
    world.team.save()
    request = program.ask()

    decide(request, bob, APPROVED)
    in_grace, refused = program.read(request), program.start(request)
    withdraw_decision(interrupt_id=UUID(request["items"][0]["interrupt"]), actor=bob)
    decide(request, bob, APPROVED)
    later(seconds=11)
    sweeper.handle_due_times()

    assert in_grace["status"] == "open"
    assert refused.json()["code"] == "NOT_APPROVED"
    assert program.read(request)["status"] == "decided"
    assert program.start(request).status_code == 200


def test_the_key_of_an_agent_never_decides(program, world):
    from inbox.queries.people.api_keys import actor_of_header
    from inbox.rules.errors import Forbidden, RequestRejected

    request = program.ask()
    actor = actor_of_header(f"Bearer {make_program(world, 'second')}", "127.0.0.1")

    with pytest.raises((Forbidden, RequestRejected)):
        decide(request, actor, APPROVED)


def test_who_made_the_key_counts_as_the_requester(program, world, bob):
    from inbox.models import ApiKey
    from inbox.rules.errors import SelfApproval

    world.team.self_approval = False
    world.team.save()
    ApiKey.objects.update(made_by_user=world.bob)
    request = program.ask()

    with pytest.raises(SelfApproval):
        decide(request, bob, APPROVED)


def test_changed_rows_start_nothing(program, bob):
    from inbox.models import ToolCall

    request = program.ask()
    decide(request, bob, APPROVED)
    ToolCall.objects.filter(thread=request["thread"]).update(edited_args='{"amount":9}')

    answer = program.start(request)

    assert (answer.status_code, answer.json()["code"]) == (409, "NOT_APPROVED")
    assert "run.failed" in actions(request)


def test_an_approval_after_a_retry_has_its_own_time_to_start(program, bob, later):
    from inbox import engine
    from inbox.models import Interrupt, Run, ToolCall

    request = program.ask()
    decide(request, bob, APPROVED)
    ToolCall.objects.filter(thread=request["thread"]).update(edited_args='{"amount":9}')
    program.start(request)
    pass_time(later, hours=23)
    engine.retry_run(Run.objects.get(thread=request["thread"], status="failed").pk, bob)
    interrupt = Interrupt.objects.get(thread=request["thread"], status="open")
    decide({"items": [{"id": "1", "interrupt": str(interrupt.pk)}]}, bob, APPROVED)
    pass_time(later, hours=2)

    started = program.start(request)

    assert (started.status_code, started.json()["args"]) == (200, CALL["args"])


def test_a_retry_with_usable_decisions_opens_the_calls(program, bob):
    from inbox import engine
    from inbox.models import Decision, Run

    request = program.ask({"id": "1", **CALL}, {"id": "2", "title": "Sure?"})
    decide(request, bob, APPROVED)
    decisions = Decision.objects.filter(interrupt__thread=request["thread"])
    payload = decisions.get().payload
    decisions.update(payload='{"approved":true,"editedArgs":{"amount":9}}')
    decide(request, bob, APPROVED, item="2")
    decisions.filter(interrupt__interrupt_id="1").update(payload=payload)

    engine.retry_run(Run.objects.get(thread=request["thread"], status="failed").pk, bob)

    assert program.read(request)["status"] == "decided"
    assert program.start(request).status_code == 200


# -- withdrawal -----------------------------------------------------------------------------------


def test_a_withdrawn_request_executes_nothing(program, bob):
    request = program.ask({"id": "1", **CALL}, {"id": "2", "title": "Sure?"})
    decide(request, bob, APPROVED)

    withdrawn = program.withdraw(request, reason="No longer needed")
    again = program.withdraw(request)

    assert (withdrawn.status_code, again.status_code) == (200, 200)
    assert withdrawn.json()["status"] == "withdrawn"
    assert [item["status"] for item in withdrawn.json()["items"]] == ["approved", "withdrawn"]
    assert withdrawn.json()["items"][0]["state"] == "not_run"
    assert program.start(request).json()["code"] == "NOT_APPROVED"
    assert actions(request).count("request.withdrawn") == 1
    assert actions(request)[-1] == "run.cancelled"


def test_a_decided_request_is_not_withdrawn(program, bob):
    request = program.ask()
    decide(request, bob, APPROVED)

    answer = program.withdraw(request)

    assert (answer.status_code, answer.json()["code"]) == (409, "ALREADY_DECIDED")
    assert answer.json()["request"]["items"][0]["status"] == "approved"


def test_a_withdrawal_is_of_the_system_on_behalf_of_the_key(program):
    from inbox.models import AuditEntry, Decision

    request = program.ask()
    program.withdraw(request)

    decision = Decision.objects.get(interrupt__thread=request["thread"])
    assert (decision.actor_label, decision.entrance) == ("system:withdrawal", "withdrawal")
    entry = AuditEntry.objects.get(thread=request["thread"], action="interrupt.cancelled")
    assert json.loads(entry.payload.text)["on_behalf"] == "key key of ci"


def test_cancelling_its_run_stops_what_was_approved(program, bob):
    from inbox.models import Run

    request = program.ask()
    decide(request, bob, APPROVED)
    run = Run.objects.get(thread=request["thread"], status="queued")

    assert program.post(f"/api/runs/{run.pk}/cancel").status_code == 200

    assert program.read(request)["status"] == "withdrawn"
    assert program.start(request).json()["code"] == "NOT_APPROVED"


def test_requesters_withdraw_a_waiting_run_of_a_worker(world, alice, bob):
    from inbox.actions.runs.cancel_run import cancel_run
    from tests.support.steps import open_interrupts, resumed_run, start

    run = start(world, "rehearse:tool_call")

    cancel_run(run_id=run.pk, actor=alice)

    assert open_interrupts(run) == []
    assert resumed_run(run) is not None


# -- AG-UI ----------------------------------------------------------------------------------------


def test_nobody_starts_an_agent_that_asks_by_itself(program, key_with):
    answer = key_with("run").post("/api/runs", {"agent": "ci", "message": "Go"})

    assert (answer.status_code, answer.json()["code"]) == (409, "ASKS_BY_ITSELF")


def test_starting_it_over_agui_is_a_run_error(program, world, alice):
    from inbox.agui_server import gateway
    from inbox.rules.decisions.gate import Entrance

    value = {
        "threadId": "t",
        "runId": "r",
        "messages": [{"id": "m", "role": "user", "content": "Go"}],
        "state": {},
        "tools": [],
        "context": [],
        "forwardedProps": {},
    }
    from agents.agui.legacy.dialects import Dialect

    answer = gateway._run(alice, "ci", value, Dialect.CANONICAL, Entrance.AGUI_HTTP)

    last = json.loads(answer.bodies[-1])
    assert (last["type"], last["code"]) == ("RUN_ERROR", "ASKS_BY_ITSELF")


def test_an_agui_client_answers_first(program, world, bob):
    from inbox.actions.runs.start_run import start_run
    from inbox.models import Agent
    from inbox.rules.runs.contract import ResumeEntry
    from inbox.rules.runs.states import EntryStatus
    from tests.support import steps

    request = program.ask()
    agent = Agent.objects.select_related("team").get(slug="ci")
    answer = steps.request(
        thread_id=request["id"], entries=(ResumeEntry("1", EntryStatus.RESOLVED, APPROVED),)
    )

    started = start_run(agent=agent, request=answer, actor=bob, claim=True)

    assert (started.run.status, started.lease) == ("queued", None)
    assert program.read(request)["status"] == "decided"
    assert program.start(request).status_code == 200


def test_the_log_of_a_request_is_valid_agui(program, bob):
    from agents.agui import wire
    from agents.agui.sequence import Sequence

    request = program.ask({"id": "1", **CALL}, {"id": "2", **CALL})
    decide(request, bob, APPROVED)
    decide(request, bob, {"approved": False}, item="2")
    program.start(request)
    program.report(request, result={"id": "re_1"})

    sequence, kinds = Sequence(), []
    for event in events(UUID(request["thread"])):
        sequence.check(wire.decode(json.dumps(event)))
        kinds.append(event["type"])
    assert kinds == [
        "RUN_STARTED",
        *["TOOL_CALL_START", "TOOL_CALL_ARGS", "TOOL_CALL_END"] * 2,
        *["MESSAGES_SNAPSHOT", "RUN_FINISHED"],
        *["RUN_STARTED", "TOOL_CALL_RESULT", "TOOL_CALL_RESULT", "RUN_FINISHED"],
    ]


@pytest.mark.parametrize("outcome", ["succeeded", "unknown", "handed over", "lapsed"])
def test_the_audit_trail_agrees_with_the_rows(program, bob, later, outcome):
    from inbox.transparency_log.reconciliation import reconcile

    execution = {"report": outcome != "handed over", "valid_seconds": 60}
    request = program.ask(execution=execution)
    decide(request, bob, APPROVED)
    if outcome == "lapsed":
        pass_time(later, seconds=61)
    else:
        program.start(request)
    if outcome in ("succeeded", "unknown"):
        program.report(request, outcome)
    if outcome == "unknown":
        answer_doubt(request, bob, "happened", result="")

    assert program.read(request)["status"] in ("done", "lapsed")
    assert reconcile() == []
