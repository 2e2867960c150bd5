"""REST: backtests of a team's policy on its past requests."""

import threading

import ag_ui.core as agui
import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from inbox.models import AuditEntry, PolicyDraft
from inbox.queries.policies import backtests
from tests.support.policies.published import administrator, publish, rule, tool_is, up_to
from tests.support.steps import answer, approve, call_off, deny, reread, start

PATH = "/api/teams/tests/policy/backtest"
TOOL = {"path": "/tool", "op": "present"}
SCHEMA = {
    "type": "object",
    "properties": {
        "approved": {"type": "boolean"},
        "reason": {"type": "string"},
        "editedArgs": {
            "type": "object",
            "properties": {"iban": {"type": "string", "writeOnly": True}},
        },
    },
}


@pytest.fixture
def admin(client, world):
    client.force_login(type(world.bob).objects.get(pk=administrator(world).user_id))
    return client


@pytest.fixture
def propose(world, as_agent):
    """Start a run that proposes a call with these arguments as JSON; return its interrupt."""

    def start_run(args):
        async def play(run_input, ctx):
            if ctx.answers:
                yield agui.RunFinishedEvent(thread_id="t", run_id="r")
                return
            yield agui.ToolCallStartEvent(tool_call_id="c", tool_call_name="refund")
            yield agui.ToolCallArgsEvent(tool_call_id="c", delta=args)
            yield agui.ToolCallEndEvent(tool_call_id="c")
            interrupt = agui.Interrupt(
                id="i", reason="tool_call", tool_call_id="c", response_schema=SCHEMA
            )
            outcome = agui.RunFinishedInterruptOutcome(interrupts=[interrupt])
            yield agui.RunFinishedEvent(thread_id="t", run_id="r", outcome=outcome)

        return start(world, "go", agent=as_agent(play)).interrupts.get()

    return start_run


def backtest(client, *rules, **body):
    policy = {"policy": {"rules": list(rules)}} if rules else {}
    return client.post(PATH, {**policy, **body}, "application/json")


def cells(response):
    return {(cell["effect"], cell["outcome"]): cell["count"] for cell in response.json()["table"]}


def test_past_requests_are_counted_by_effect_and_outcome(admin, world, propose):
    bob = world.actor(world.bob)
    approve(propose('{"amount": 10}'), bob)
    answer(propose('{"amount": 20}'), bob, {"approved": True, "editedArgs": {"amount": 5}})
    rejected = propose('{"amount": 30}')
    deny(rejected, bob)
    call_off(propose('{"amount": 40}'), bob)
    propose('{"amount": 45}')
    approve(propose('{"amount": 1000}'), bob)

    response = backtest(admin, rule("small", "allow", tool_is("refund"), up_to(50)))
    assert cells(response) == {
        ("allow", "rejected"): 1,
        ("allow", "edited"): 1,
        ("allow", "approved"): 1,
        ("allow", "cancelled"): 1,
        ("allow", "open"): 1,
        ("ask", "approved"): 1,
    }
    first = response.json()["contradictions"][0]
    assert first == {
        "request": str(rejected.pk),
        "effect": "allow",
        "outcome": "rejected",
        "rules": ["small"],
    }


def test_answers_of_rules_and_expired_requests_are_no_contradictions(admin, world, propose):
    publish(world, rule("small", "allow", up_to(50)))
    propose('{"amount": 10}')
    publish(world, rule("small", "allow", up_to(1)))
    interrupt = propose('{"amount": 10}')
    type(interrupt).objects.filter(pk=interrupt.pk).update(
        status="expired", closed_at=interrupt.created_at
    )

    response = backtest(admin, rule("all", "deny"))
    assert cells(response) == {("deny", "by_rule"): 1, ("deny", "expired"): 1}
    assert response.json()["contradictions"] == []


def test_the_draft_is_tried_then_the_version_in_force(admin, world, propose):
    propose('{"amount": 10}')
    assert backtest(admin).status_code == 404

    publish(world, rule("small", "allow", up_to(50)))
    publish(world, rule("small", "allow", up_to(1)))
    assert backtest(admin).json()["unused"] == ["small"]
    assert backtest(admin, version=1).json()["decided"] == {"small": 1}
    assert backtest(admin, version=9).status_code == 404
    admin.put(
        "/api/teams/tests/policy", {"policy": {"rules": [rule("no", "deny")]}}, "application/json"
    )
    assert backtest(admin).json()["decided"] == {"no": 1}


def test_only_the_last_requests_of_the_team_are_read(admin, world, propose):
    for amount in (1, 2, 3):
        propose(f'{{"amount": {amount}}}')

    response = backtest(admin, rule("small", "allow", up_to(1)), requests=2)
    assert cells(response) == {("ask", "open"): 2}
    for number in (0, 10_001):
        assert backtest(admin, rule("all", "deny"), requests=number).status_code == 400


def test_facts_that_were_not_stored_are_unknown(admin, world, propose):
    world.agent.environment = "production"
    propose('{"amount": 10}')
    type(world.agent).objects.update(environment="production")

    environment = {"path": "/environment", "op": "is", "value": "production"}
    role = {"path": "/requester/role", "op": "is", "value": "viewer"}
    kind = {"path": "/requester/kind", "op": "is", "value": "human"}
    assert cells(backtest(admin, rule("a", "allow", environment))) == {("ask", "open"): 1}
    assert cells(backtest(admin, rule("a", "allow", role))) == {("ask", "open"): 1}
    assert cells(backtest(admin, rule("a", "allow", kind))) == {("allow", "open"): 1}


def test_facts_of_a_ruling_are_those_of_its_time(admin, world, as_agent, propose):
    publish(world, rule("other", "ask", tool_is("other")))
    propose('{"amount": 10}')
    agent = propose('{"amount": 10}').agent
    type(agent).objects.update(environment="production")

    environment = {"path": "/environment", "op": "is", "value": "production"}
    role = {"path": "/requester/role", "op": "is", "value": "viewer"}
    assert cells(backtest(admin, rule("a", "allow", environment))) == {("ask", "open"): 2}
    assert cells(backtest(admin, rule("a", "allow", role))) == {("allow", "open"): 2}


@pytest.mark.parametrize("args", ['{"password": "hunter2"}', '{"iban": "hunter2"}'])
def test_conditions_do_not_find_out_secrets(admin, propose, args):
    propose(args)

    for path in ("/args/password", "/args/iban"):
        guess = {"path": path, "op": "starts_with", "value": "h"}
        assert cells(backtest(admin, rule("a", "allow", guess))) == {("ask", "open"): 1}
        assert cells(backtest(admin, rule("a", "deny", {**guess, "not": True}))) == {
            ("ask", "open"): 1
        }


def test_a_backtest_changes_nothing(admin, propose):
    interrupt = propose('{"amount": 10}')
    entries = AuditEntry.objects.count()

    backtest(admin, rule("all", "deny"))
    assert (reread(interrupt).status, AuditEntry.objects.count()) == ("open", entries)
    assert not PolicyDraft.objects.exists()


def test_a_document_that_is_no_policy_is_refused(admin):
    response = admin.post(PATH, {"policy": {"rules": [{"id": "a"}]}}, "application/json")

    assert (response.status_code, response.json()["code"]) == (422, "INVALID_VALUE")


def test_a_second_backtest_at_the_same_time_is_refused(admin, monkeypatch):
    monkeypatch.setattr(backtests, "_free_slots", threading.BoundedSemaphore(1))
    backtests._free_slots.acquire()

    response = backtest(admin, rule("all", "deny"))
    assert (response.status_code, response.headers["Retry-After"]) == (429, "1")
    backtests._free_slots.release()
    assert backtest(admin, rule("all", "deny")).status_code == 200


def test_a_refused_backtest_leaves_the_slot_free(admin, monkeypatch):
    monkeypatch.setattr(backtests, "past_requests", lambda *_: [].pop())
    with pytest.raises(IndexError):
        backtest(admin, rule("all", "deny"))
    monkeypatch.undo()

    assert backtest(admin, rule("all", "deny")).status_code == 200


def test_only_who_drafts_and_reads_tests_a_policy(client, world):
    for person, status in ((world.bob, 403), (world.carol, 404)):
        client.force_login(person)
        assert backtest(client, rule("all", "deny")).status_code == status


def test_requests_are_read_in_few_queries(admin, world, propose):
    publish(world, rule("other", "ask", tool_is("other")))
    for _ in range(5):
        propose('{"amount": 10}')

    backtest(admin, rule("all", "deny"))

    with CaptureQueriesContext(connection) as queries:
        backtest(admin, rule("all", "deny"))
    with CaptureQueriesContext(connection) as single:
        backtest(admin, rule("all", "deny"), requests=1)
    assert len(queries) == len(single)
