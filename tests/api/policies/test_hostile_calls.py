"""Calls and people that try to get past a policy, over REST."""

import ag_ui.core as agui
import pytest

from inbox import engine
from inbox.actions.people.members import change_team
from inbox.actions.policies.versions import publish_draft, save_draft
from inbox.models import AuditEntry, Decision, Run, Team
from inbox.rules.people.access import SEED
from tests.support.policies.published import administrator, publish, rule, tool_is, up_to
from tests.support.policies.refunds import proposals
from tests.support.steps import open_interrupts, reread, resumed_run

SMALL = rule("small", "allow", tool_is("refund"), up_to(50))
ANY_REFUND = rule("any", "allow", {"path": "/tool", "op": "matches", "value": "r*"})
LARGE = {"path": "/args/amount", "op": "gt", "value": 50}
FOUR_EYES = rule("four-eyes", "ask", tool_is("refund"), require={"self_approval": False})
APPROVE = {"approved": True}


@pytest.fixture
def call_refund(client, world, as_agent):
    """Return a function that starts a run over REST whose agent proposes one refund."""

    def call(args, *, user=None, key=None, tool="refund"):
        agent = as_agent(proposals([args], tool=tool))
        return start(client, agent, user=user or (None if key else world.alice), key=key)

    return call


def headers_of(client, user, key):
    if user is not None:
        client.force_login(user)
        return {}
    client.logout()
    return {"Authorization": f"Bearer {key}"}


def start(client, agent, *, user=None, key=None, **more):
    body = {"agent": agent.slug, "message": "go", **more}
    headers = headers_of(client, user, key)
    response = client.post("/api/runs", body, "application/json", headers=headers)
    assert response.status_code in (200, 201, 202), response.content
    run = Run.objects.get(pk=response.json()["id"])
    engine.execute_run(run.pk)
    return reread(run)


def decide(client, run, payload=APPROVE, *, user=None, key=None):
    """Answer the run's one open request; return the status and the code."""
    (interrupt,) = open_interrupts(run)
    headers = headers_of(client, user, key)
    path = f"/api/interrupts/{interrupt.pk}"
    digest = client.get(path, headers=headers).json()["view_digest"]
    body = {"status": "resolved", "payload": payload, "view_digest": digest}
    response = client.post(f"{path}/decide", body, "application/json", headers=headers)
    return response.status_code, response.json().get("code")


@pytest.mark.parametrize(
    "args",
    [
        "{}",
        '{"amount": null}',
        '{"amount": "35"}',
        '{"amount": true}',
        '{"amount": [35]}',
        '{"amount": {"value": 35}}',
        '{"Amount": 35}',
        '{"amount ": 35}',
        '{"amount\\u200b": 35}',
        '{"amount": "\\uff13\\uff15"}',
        '{"args": {"amount": 35}}',
        '{"amount": 1e300}',
        '{"amount": 50.00000000000001}',
        '{"amount": 35, "note": "a\\u202eb"}',
    ],
    ids=lambda text: text[:40],
)
def test_no_odd_argument_is_allowed(call_refund, world, args):
    publish(world, SMALL)

    run = call_refund(args)

    assert [row.ruling.effect for row in open_interrupts(run)] == ["ask"]


@pytest.mark.parametrize(
    "args",
    [
        '{"amount": 5000, "amount": 1}',
        '{"amount": NaN}',
        '{"amount": -1e400}',
        '{"amount": -1' + "0" * 5_000 + "}",
        '{"amount": 35, "deep": ' + "[" * 40 + "]" * 40 + "}",
        '{"amount": 35, "many": [' + ",".join("0" * 10_001) + "]}",
        "[35]",
    ],
    ids=lambda text: text[:40],
)
def test_arguments_that_are_no_plain_json_object_run_nothing(call_refund, world, args):
    publish(world, SMALL)

    run = call_refund(args)

    assert not Decision.objects.filter(interrupt__run=run).exists()


@pytest.mark.parametrize(
    ("tool", "policy"),
    [
        ("r\u0435fund", ANY_REFUND),  # Cyrillic
        ("refund\u200b", ANY_REFUND),
        ("r\u202efund", ANY_REFUND),
        ("Refund", SMALL),
        (" refund", SMALL),
        ("refund ", SMALL),
        ("\uff52efund", SMALL),
    ],
    ids=ascii,
)
def test_a_name_like_that_of_an_allowed_tool_is_asked(call_refund, world, tool, policy):
    publish(world, policy)

    assert len(open_interrupts(call_refund({"amount": 1}, tool=tool))) == 1


def test_no_edit_gets_past_a_rule_that_denies(client, call_refund, world):
    publish(world, rule("large", "deny", tool_is("refund"), LARGE))
    run = call_refund({"amount": 40})
    edited = {**APPROVE, "editedArgs": {"amount": 4000}}

    assert decide(client, run, edited, user=world.bob) == (422, "DENIED_BY_POLICY")
    assert open_interrupts(run)
    assert decide(client, run, user=world.bob)[0] == 200


@pytest.mark.parametrize("edit", [{"amount": 4000}, {"amount": "40"}, {"amount": None}, {}])
def test_no_edit_gets_past_a_stricter_rule(client, call_refund, world, edit):
    large = rule("large", "ask", tool_is("refund"), LARGE, require={"self_approval": False})
    publish(world, large)
    run = call_refund({"amount": 40}, user=world.bob)

    answer = decide(client, run, {**APPROVE, "editedArgs": edit}, user=world.bob)

    assert answer == (403, "SELF_APPROVAL")
    assert decide(client, run, user=world.bob)[0] == 200


def test_a_key_does_not_approve_the_runs_that_it_started(client, call_refund, world):
    publish(world, FOUR_EYES)
    run = call_refund({"amount": 40}, key=world.key)

    assert decide(client, run, key=world.key) == (403, "SELF_APPROVAL")
    assert decide(client, run, user=world.bob)[0] == 200


def test_the_requester_stays_the_requester_after_a_resume(client, world, as_agent):
    publish(world, FOUR_EYES)
    agent = as_agent(proposals([{"amount": 40}], is_endless=True))
    run = start(client, agent, user=world.bob)
    assert decide(client, run, key=world.key)[0] == 200
    resume = Run.objects.get(resumes=run)
    engine.execute_run(resume.pk)

    assert decide(client, resume, user=world.bob) == (403, "SELF_APPROVAL")
    assert decide(client, resume, key=world.key)[0] == 200


def test_a_second_message_makes_its_author_the_requester(client, world, as_agent):
    publish(world, FOUR_EYES)
    propose = proposals([{"amount": 40}], is_endless=True)

    async def propose_once(run_input, ctx):
        if ctx.answers:
            yield agui.RunFinishedEvent(thread_id="t", run_id="r")
            return
        async for event in propose(run_input, ctx):
            yield event

    agent = as_agent(propose_once)
    first = start(client, agent, user=world.alice)
    assert decide(client, first, {"approved": False}, user=world.bob)[0] == 200
    assert resumed_run(first).status == "succeeded"

    second = start(client, agent, user=world.bob, thread_id=first.thread.external_id)

    assert second.thread_id == first.thread_id
    assert decide(client, second, user=world.bob) == (403, "SELF_APPROVAL")


def test_the_policy_of_another_team_allows_nothing(call_refund, world):
    save_draft(team_id=Team.objects.get(slug="others").pk, body={"rules": [ANY_REFUND]}, actor=SEED)
    publish_draft(team_id=Team.objects.get(slug="others").pk, actor=SEED)

    (interrupt,) = open_interrupts(call_refund({"amount": 1}))

    assert interrupt.ruling is None


def test_the_trail_names_who_allowed_their_own_run(client, call_refund, world):
    erin = administrator(world)
    user = type(world.bob).objects.get(pk=erin.user_id)
    publish(world, FOUR_EYES)
    publish(world, SMALL, actor=erin)

    run = call_refund({"amount": 40}, user=user)

    decision = Decision.objects.get(interrupt__run=run)
    assert decision.ruling.version.published_by == user
    published = AuditEntry.objects.filter(action="policy.published").latest("pk")
    assert published.actor_id == erin.ident


def test_two_administrators_keep_one_from_allowing_their_own_run(client, call_refund, world):
    erin = administrator(world)
    user = type(world.bob).objects.get(pk=erin.user_id)
    change_team(team_id=world.team.pk, actor=erin, two_administrators=True)
    client.force_login(user)
    path = "/api/teams/tests/policy"
    client.put(path, {"policy": {"rules": [SMALL]}}, "application/json")

    assert client.post(f"{path}/publish", {}, "application/json").status_code == 403
    assert len(open_interrupts(call_refund({"amount": 1}, user=user))) == 1
