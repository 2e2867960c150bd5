"""Grants: further calls that a person has allowed while approving one."""

import json
from decimal import Decimal

import pytest
from django.db import IntegrityError, transaction

from inbox import sweeper
from inbox.actions.decisions.decide import decide
from inbox.actions.decisions.withdrawals import withdraw_decision
from inbox.actions.people.members import change_role, remove_member
from inbox.actions.policies import grants
from inbox.actions.policies.grants import revoke_grant
from inbox.models import AuditEntry, Decision, Delivery, Grant, Unmasking
from inbox.rules import errors
from inbox.rules.decisions.gate import Entrance
from inbox.rules.people.access import SEED, Role
from inbox.rules.policies.grants import Budget, GrantInvalid, GrantRequest
from inbox.rules.runs.states import EntryStatus
from tests.support.policies.published import publish, rule, tool_is, up_to
from tests.support.steps import deny, open_interrupts, reread, resumed_run

ANY = GrantRequest({"amount": "any"}, is_for_agent=True)


def allow(interrupt, actor, request=ANY, **more):
    """Approve a request, and make a grant."""
    decide(
        interrupt_id=interrupt.pk,
        status=EntryStatus.RESOLVED,
        payload={"approved": True, **more.pop("payload", {})},
        actor=actor,
        view_digest=interrupt.shown_digest,
        entrance=more.pop("entrance", Entrance.PAGE),
        grant=request,
        **more,
    )
    return Grant.objects.latest("pk")


@pytest.fixture
def grant(run_paying, bob):
    """A grant of Bob's for all threads of the agent, and any amount."""
    (interrupt,) = open_interrupts(run_paying({"amount": 1}))
    return allow(interrupt, bob)


def is_asked(run):
    return bool(open_interrupts(run))


def entries(action):
    rows = AuditEntry.objects.filter(action=action).order_by("pk").select_related("payload")
    return [json.loads(row.payload.text)["detail"] for row in rows]


def end_of(grant):
    return reread(grant).end_reason


@pytest.mark.parametrize("has_policy", [False, True])
def test_a_grant_approves_the_next_call(world, run_paying, bob, has_policy):
    if has_policy:
        publish(world, rule("ask", "ask", tool_is("refund")))
    (interrupt,) = open_interrupts(run_paying({"amount": 1}))
    grant = allow(interrupt, bob)

    run = run_paying({"amount": 2})

    decision = Decision.objects.get(interrupt__run=run)
    assert (decision.grant, decision.grant_use, decision.actor_label) == (grant, 1, "system:policy")
    assert (decision.entrance, json.loads(decision.payload)) == ("policy", {"approved": True})
    assert resumed_run(run).status == "succeeded"
    assert (reread(grant).used, end_of(grant)) == (1, "")
    ruling = run.interrupts.get().ruling
    assert (ruling and ruling.effect) == ("grant" if has_policy else None)


def test_uses_are_the_decisions_of_a_grant(run_paying, bob):
    (interrupt,) = open_interrupts(run_paying({"amount": 1}))
    grant = allow(interrupt, bob, GrantRequest({"amount": "any"}, most_uses=3, is_for_agent=True))

    run = run_paying(*({"amount": number} for number in range(5)))

    assert [row.args for row in open_interrupts(run)] == ['{"amount":3}', '{"amount":4}']
    uses = Decision.objects.filter(grant=grant).order_by("interrupt__position")
    assert list(uses.values_list("grant_use", flat=True)) == [1, 2, 3]
    assert (reread(grant).used, end_of(grant)) == (3, "used_up")


def test_a_hundred_interrupts_spend_in_order(run_paying, bob):
    (interrupt,) = open_interrupts(run_paying({"amount": 1}))
    request = GrantRequest({"amount": "any"}, most_uses=100, is_for_agent=True)
    grant = allow(interrupt, bob, request)

    run_paying(*({"amount": number} for number in range(100)))

    uses = Decision.objects.filter(grant=grant).order_by("interrupt__position")
    assert list(uses.values_list("grant_use", flat=True)) == [*range(1, 101)]


def test_a_budget_is_never_exceeded(run_paying, bob):
    (interrupt,) = open_interrupts(run_paying({"amount": 10}))
    budget = Budget("amount", Decimal(100))
    request = GrantRequest({"amount": {"up_to": 60}}, is_for_agent=True, budget=budget)
    grant = allow(interrupt, bob, request)

    run = run_paying({"amount": 59.99}, {"amount": 50}, {"amount": 40.01}, {"amount": 0})

    assert [row.args for row in open_interrupts(run)] == ['{"amount":50}', '{"amount":0}']
    assert (reread(grant).spent, end_of(grant)) == (Decimal(100), "budget")


@pytest.mark.parametrize("args", [{"amount": 51}, {"amount": 40, "to": "x"}, {"amount": "40"}, {}])
def test_a_call_outside_of_the_limits_is_asked(run_paying, bob, args):
    (interrupt,) = open_interrupts(run_paying({"amount": 1}))
    grant = allow(interrupt, bob, GrantRequest({"amount": {"up_to": 50}}, is_for_agent=True))

    assert is_asked(run_paying(args))
    assert reread(grant).used == 0


def test_a_grant_of_one_thread_ends_there(run_paying, bob):
    first = run_paying({"amount": 1})
    (interrupt,) = open_interrupts(first)
    grant = allow(interrupt, bob, GrantRequest({"amount": "any"}))

    assert is_asked(run_paying({"amount": 1}))
    assert reread(grant).thread_id == first.thread_id


def test_a_grant_of_an_edited_call_has_the_edited_arguments(run_paying, bob):
    (interrupt,) = open_interrupts(run_paying({"amount": 900}))
    request = GrantRequest({}, is_for_agent=True)
    allow(interrupt, bob, request, payload={"editedArgs": {"amount": 5}})

    assert is_asked(run_paying({"amount": 900}))
    assert not is_asked(run_paying({"amount": 5}))


def test_every_limit_above_a_cap_is_refused_at_once(run_paying, bob):
    (interrupt,) = open_interrupts(run_paying({"amount": 1}))
    budget = Budget("amount", Decimal("1e12"))
    request = GrantRequest({"to": "any"}, minutes=24 * 60 + 1, most_uses=101, budget=budget)

    with pytest.raises(GrantInvalid) as refusal:
        allow(interrupt, bob, request)

    pointers = [problem["pointer"] for problem in refusal.value.detail["problems"]]
    assert pointers == [
        "/grant/arguments/to",
        "/grant/minutes",
        "/grant/most_uses",
        "/grant/budget/amount",
    ]
    assert reread(interrupt).status == "open"
    assert not Grant.objects.exists()


def test_only_people_make_grants_at_the_page_or_by_rest(run_paying, bob, world):
    (interrupt,) = open_interrupts(run_paying({"amount": 1}))

    with pytest.raises(errors.InvalidValue, match="on the page or by REST"):
        allow(interrupt, bob, entrance=Entrance.AGUI_HTTP)
    with pytest.raises(errors.InvalidValue, match="on the page or by REST"):
        allow(interrupt, SEED, entrance=Entrance.EXPIRY)


def test_a_denial_makes_no_grant(run_paying, bob):
    (interrupt,) = open_interrupts(run_paying({"amount": 1}))

    with pytest.raises(errors.InvalidValue, match="while approving a tool call"):
        allow(interrupt, bob, payload={"approved": False})


def test_the_requester_makes_no_grant(run_paying, bob):
    (interrupt,) = open_interrupts(run_paying({"amount": 1}, actor=bob))

    with pytest.raises(errors.InvalidValue, match="You started this run"):
        allow(interrupt, bob)


def test_a_grant_does_not_approve_the_calls_of_its_maker(run_paying, bob, grant):
    assert is_asked(run_paying({"amount": 1}, actor=bob))
    assert not is_asked(run_paying({"amount": 1}))


def test_a_rule_may_forbid_grants(world, run_paying, bob):
    publish(world, rule("ask", "ask", tool_is("refund"), require={"grantable": False}))
    (interrupt,) = open_interrupts(run_paying({"amount": 1}))

    with pytest.raises(errors.InvalidValue, match="a decision of its own"):
        allow(interrupt, bob)


def test_edits_past_a_rule_that_forbids_grants_make_none(world, run_paying, bob):
    large = {"path": "/args/amount", "op": "gt", "value": 50}
    publish(world, rule("large", "ask", large, require={"grantable": False}))
    (interrupt,) = open_interrupts(run_paying({"amount": 1}))

    with pytest.raises(errors.InvalidValue, match="a decision of its own"):
        allow(interrupt, bob, payload={"editedArgs": {"amount": 60}})


def test_masked_values_have_to_be_seen(run_paying, bob):
    (interrupt,) = open_interrupts(run_paying({"amount": 1, "api_key": "sk-123"}))
    request = GrantRequest({"amount": "any"})

    with pytest.raises(errors.MaskedNotSeen):
        allow(interrupt, bob, request)
    with pytest.raises(errors.MaskedNotSeen):
        allow(interrupt, bob, request, unseen=True)

    Unmasking.objects.create(
        interrupt=interrupt,
        user_id=bob.user_id,
        view_digest=interrupt.shown_digest,
        value_set="arguments",
        at=interrupt.created_at,
    )
    assert allow(interrupt, bob, request).used == 0


def test_an_expired_grant_is_ended_by_its_next_call(run_paying, grant):
    Grant.objects.update(expires_at=grant.created_at)

    assert is_asked(run_paying({"amount": 1}))
    assert end_of(grant) == "expired"


def test_the_sweeper_ends_what_nobody_uses(grant, world):
    sweeper.sweep()
    assert end_of(grant) == ""

    remove_member(team_id=world.team.pk, user_id=world.bob.pk, actor=SEED)
    sweeper.sweep()
    assert end_of(grant) == "maker"


def test_the_sweeper_ends_expired_grants(grant):
    Grant.objects.update(expires_at=grant.created_at)

    sweeper.sweep()
    sweeper.sweep()

    assert [entry["reason"] for entry in entries("grant.ended")] == ["expired"]


def test_a_grant_ends_when_its_maker_may_not_decide(world, run_paying, grant):
    change_role(team_id=world.team.pk, user_id=world.bob.pk, role=Role.VIEWER, actor=SEED)

    assert is_asked(run_paying({"amount": 1}))
    assert end_of(grant) == "maker"


def test_a_rejection_ends_the_grants_that_cover_the_call(world, run_paying, bob, dora, grant):
    (request,) = open_interrupts(run_paying({"amount": 1}, actor=bob))

    deny(request, dora)

    assert end_of(grant) == "rejected"
    assert is_asked(run_paying({"amount": 1}))


def test_a_rejection_of_another_call_ends_no_grant(run_paying, bob):
    (interrupt,) = open_interrupts(run_paying({"amount": 1}))
    grant = allow(interrupt, bob, GrantRequest({"amount": {"up_to": 50}}, is_for_agent=True))
    (request,) = open_interrupts(run_paying({"amount": 51}))

    deny(request, bob)

    assert end_of(grant) == ""


def test_withdrawing_the_approval_ends_the_grant(run_paying, bob):
    interrupt, _ = open_interrupts(run_paying({"amount": 1}, {"amount": 2}))
    grant = allow(interrupt, bob)

    withdraw_decision(interrupt_id=interrupt.pk, actor=bob)

    assert end_of(grant) == "withdrawn"


def test_a_revoked_grant_approves_nothing(run_paying, dora, grant):
    revoke_grant(grant_id=grant.pk, actor=dora)
    revoke_grant(grant_id=grant.pk, actor=dora)

    assert is_asked(run_paying({"amount": 1}))
    assert [entry["reason"] for entry in entries("grant.ended")] == ["revoked"]


def test_revoking_needs_the_right_to_decide(alice, carol, grant):
    with pytest.raises(errors.Forbidden):
        revoke_grant(grant_id=grant.pk, actor=alice)
    with pytest.raises(errors.NotFound):
        revoke_grant(grant_id=grant.pk, actor=carol)


@pytest.mark.parametrize(
    "newer",
    [
        rule("never", "deny", tool_is("refund")),
        rule("person", "ask", tool_is("refund"), require={"grantable": False}),
    ],
)
def test_a_newer_version_ends_a_grant_that_it_forbids(world, run_paying, grant, newer):
    publish(world, newer)

    run = run_paying({"amount": 1})

    assert end_of(grant) == "policy"
    assert not Decision.objects.filter(interrupt__run=run, grant=grant).exists()


def test_the_same_version_only_asks_about_other_calls(world, run_paying, bob):
    large = {"path": "/args/amount", "op": "gt", "value": 50}
    publish(world, rule("large", "ask", large, require={"grantable": False}))
    (interrupt,) = open_interrupts(run_paying({"amount": 1}))
    grant = allow(interrupt, bob)

    assert is_asked(run_paying({"amount": 60}))
    assert not is_asked(run_paying({"amount": 6}))
    assert end_of(grant) == ""


def test_a_rule_that_allows_spends_nothing(world, run_paying, grant):
    publish(world, rule("small", "allow", tool_is("refund"), up_to(50)))

    assert not is_asked(run_paying({"amount": 1}))
    assert reread(grant).used == 0


def test_deceptive_characters_are_asked_whatever_is_granted(run_paying, bob):
    (interrupt,) = open_interrupts(run_paying({"amount": "x"}))
    allow(interrupt, bob)

    assert is_asked(run_paying({"amount": "pay\u202egro"}))


def test_a_thread_that_resumes_without_people_is_asked(world, run_paying, grant, monkeypatch):
    monkeypatch.setattr("inbox.rules.policies.evaluation.MAX_RESUMES", 0)

    assert is_asked(run_paying({"amount": 1}))
    assert end_of(grant) == ""


def test_an_agent_that_accepts_no_approval_spends_nothing(run_paying, grant):
    only_no = {"type": "object", "properties": {"approved": {"const": False}}}

    assert is_asked(run_paying({"amount": 1}, schema=only_no))
    assert reread(grant).used == 0


def test_the_trail_names_the_grant(run_paying, grant):
    run = run_paying({"amount": 1})

    (detail,) = entries("grant.made")
    assert detail["grant"] == str(grant.pk)
    assert detail["limits"] == {"amount": "any"}
    expected = {"id": str(grant.pk), "use": 1, "made_by": "Bob"}
    rows = AuditEntry.objects.filter(thread=run.thread_id, action="interrupt.resolved")
    assert json.loads(rows.get().payload.text)["detail"]["grant"] == expected


def test_webhooks_report_grants(world, run_paying, bob):
    from inbox.actions.webhooks.endpoints import add_webhook

    add_webhook(
        team_id=world.team.pk,
        url="https://example.org/hook",
        event_types=["grant.made", "grant.ended", "interrupt.opened"],
        actor=SEED,
    )
    (interrupt,) = open_interrupts(run_paying({"amount": 1}))
    grant = allow(interrupt, bob)
    run_paying({"amount": 1})
    revoke_grant(grant_id=grant.pk, actor=bob)

    rows = Delivery.objects.order_by("pk")
    kinds = list(rows.values_list("type", flat=True))
    assert kinds == ["interrupt.opened", "grant.made", "grant.ended"]
    ended = json.loads(rows.last().body)["data"]["grant"]
    assert (ended["end_reason"], ended["used"]) == ("revoked", 1)


def test_an_agent_has_a_limited_number_of_active_grants(run_paying, bob, monkeypatch):
    monkeypatch.setattr(grants, "MOST_ACTIVE", 1)
    first, second = open_interrupts(run_paying({"amount": 1}, {"amount": 2}))
    allow(first, bob)

    with pytest.raises(errors.InvalidValue, match="Revoke one first"):
        allow(second, bob)


def test_the_database_refuses_a_use_too_many(grant):
    with pytest.raises(IntegrityError), transaction.atomic():
        Grant.objects.update(used=grant.most_uses + 1)


def test_without_grants_a_call_costs_one_query_more(run_paying, django_assert_max_num_queries):
    run = run_paying({"amount": 1})
    (interrupt,) = open_interrupts(run)
    from inbox.models.locks import lock_active_grants

    with django_assert_max_num_queries(1):
        assert lock_active_grants(interrupt.agent_id) == []
