"""A team's policy allows, denies or asks when a run ends with interrupts."""

import json

import pytest

from inbox.actions.decisions.expiry import expire_interrupts
from inbox.actions.decisions.withdrawals import withdraw_decision
from inbox.models import AuditEntry, Decision, Delivery, Interrupt, Run
from inbox.queries.policies.policies import reasons_of
from inbox.rules import errors
from tests.support.policies.published import publish, rule, tool_is, up_to
from tests.support.policies.refunds import proposals
from tests.support.steps import (
    answer,
    approve,
    events,
    open_interrupts,
    reread,
    resumed_run,
    start,
)

SMALL = rule("small", "allow", tool_is("refund"), up_to(50))
LARGE = rule("large", "deny", {"path": "/args/amount", "op": "gt", "value": 1000})


def entries(run, action):
    rows = AuditEntry.objects.filter(thread=run.thread_id, action=action).order_by("seq")
    return [json.loads(row.payload.text)["detail"] for row in rows.select_related("payload")]


def test_without_a_policy_people_are_asked(run_paying):
    run = run_paying({"amount": 1})

    (interrupt,) = open_interrupts(run)
    assert interrupt.ruling is None
    assert interrupt.view_version == 2


def test_an_allowed_call_resumes_the_run_without_people(world, run_paying):
    version = publish(world, SMALL)
    run = run_paying({"amount": 35})

    (interrupt,) = run.interrupts.all()
    decision = Decision.objects.get(interrupt=interrupt)
    assert interrupt.status == "resolved"
    assert json.loads(decision.payload) == {"approved": True}
    assert (decision.actor_kind, decision.actor_label) == ("system", "system:policy")
    assert (decision.entrance, decision.ruling.version) == ("policy", version)
    assert resumed_run(run).status == "succeeded"


def test_a_denied_call_is_answered_with_the_rule(world, run_paying):
    publish(world, SMALL, LARGE)
    run = run_paying({"amount": 2000})

    decision = Decision.objects.get(interrupt__run=run)
    assert json.loads(decision.payload) == {
        "approved": False,
        "reason": "Denied by policy: large.",
    }
    assert run.interrupts.get().tool_call.state == "not_run"


def test_a_call_that_no_rule_is_about_asks(world, run_paying):
    publish(world, SMALL, LARGE)
    run = run_paying({"amount": 500})

    (interrupt,) = open_interrupts(run)
    assert interrupt.ruling.effect == "ask"


@pytest.mark.parametrize("args", [{}, {"amount": None}, {"amount": "35"}, {"amount": True}])
def test_a_missing_or_mistyped_fact_asks(world, run_paying, args):
    publish(world, SMALL)

    assert len(open_interrupts(run_paying(args))) == 1


def test_one_resume_has_the_answers_of_people_and_policy(world, bob, run_paying):
    publish(world, SMALL, LARGE)
    run = run_paying({"amount": 1}, {"amount": 500}, {"amount": 2000})

    (interrupt,) = open_interrupts(run)
    assert not Run.objects.filter(resumes=run).exists()
    approve(interrupt, bob)

    resume = Run.objects.get(resumes=run)
    answers = [(entry["interruptId"], entry["payload"]) for entry in json.loads(resume.resume)]
    assert answers == [
        ("i0", {"approved": True}),
        ("i1", {"approved": True}),
        ("i2", {"approved": False, "reason": "Denied by policy: large."}),
    ]


def test_the_run_ends_with_an_interrupt_whoever_answers(world, run_paying):
    publish(world, SMALL)
    run = run_paying({"amount": 1})

    outcomes = [
        event["outcome"]["type"]
        for event in events(run.thread_id)
        if event["type"] == "RUN_FINISHED"
    ]
    assert outcomes == ["interrupt"]
    assert run.status == "interrupted"


def test_the_trail_tells_the_version_and_the_rules(world, run_paying):
    version = publish(world, SMALL)
    run = run_paying({"amount": 1})

    expected = {"effect": "allow", "version": version.digest, "rules": ["small"]}
    assert [entry["policy"] for entry in entries(run, "interrupt.opened")] == [expected]
    assert [entry["policy"] for entry in entries(run, "interrupt.resolved")] == [expected]
    actions = list(
        AuditEntry.objects.filter(thread=run.thread_id)
        .order_by("seq")
        .values_list("action", flat=True)
    )
    assert actions.index("run.interrupted") < actions.index("interrupt.resolved")
    assert actions.index("interrupt.resolved") < actions.index("resume.queued")


def test_webhooks_do_not_report_as_open_what_the_policy_answers(world, run_paying):
    from inbox.actions.webhooks.endpoints import add_webhook
    from inbox.rules.people.access import SEED

    add_webhook(
        team_id=world.team.pk,
        url="https://example.org/hook",
        event_types=["interrupt.opened", "interrupt.decided"],
        actor=SEED,
    )
    publish(world, SMALL)
    run_paying({"amount": 1}, {"amount": 500})

    types = sorted(Delivery.objects.values_list("type", flat=True))
    assert types == ["interrupt.decided", "interrupt.opened"]


def test_the_message_about_a_version_links_to_its_page(client, world, settings):
    from inbox.actions.webhooks.endpoints import add_webhook
    from inbox.rules.people.access import SEED

    url = "https://example.org/hook"
    add_webhook(team_id=world.team.pk, url=url, event_types=["policy.published"], actor=SEED)
    publish(world, SMALL)

    data = json.loads(Delivery.objects.get().body)["data"]
    client.force_login(world.bob)
    page = client.get(data["policy"]["url"].removeprefix(settings.PUBLIC_URL))
    assert page.status_code == 200
    assert "Version 1" in page.content.decode()


def test_the_ruling_is_part_of_the_view(world, run_paying):
    ask = rule("ask", "ask", tool_is("refund"))
    publish(world, ask)
    (first,) = open_interrupts(run_paying({"amount": 1}))

    assert first.digest_at_creation() == first.view_digest
    first.ruling.body = first.ruling.body.replace("ask", "ask2")
    assert first.digest_at_creation() != first.view_digest


def test_publishing_changes_nothing_that_is_open(world, run_paying):
    publish(world, LARGE)
    (interrupt,) = open_interrupts(run_paying({"amount": 1}))
    publish(world, SMALL)

    assert reread(interrupt).status == "open"
    assert reread(interrupt).ruling.version.number == 1


def test_the_earlier_expiry_counts_and_is_on_the_wire(world, run_paying):
    publish(world, rule("ask", "ask", tool_is("refund"), require={"expires_after": "PT4H"}))
    run = run_paying({"amount": 1})

    (interrupt,) = open_interrupts(run)
    seconds = (interrupt.expires_at - interrupt.created_at).total_seconds()
    assert 4 * 3600 - 1 < seconds <= 4 * 3600
    (finished,) = [e for e in events(run.thread_id) if e["type"] == "RUN_FINISHED"]
    (on_wire,) = finished["outcome"]["interrupts"]
    assert on_wire["expiresAt"] == json.loads(interrupt.body)["expiresAt"]
    assert on_wire["metadata"]["signoff"]["viewDigest"] == interrupt.shown_digest


@pytest.mark.parametrize(
    ("on_expiry", "status", "payload"),
    [
        ("cancel", "expired", None),
        (
            "deny",
            "resolved",
            {"approved": False, "reason": "Denied by policy: nobody decided in time."},
        ),
    ],
)
def test_a_rule_says_what_happens_at_expiry(world, run_paying, on_expiry, status, payload):
    require = {"expires_after": "PT4H", "on_expiry": on_expiry}
    publish(world, rule("ask", "ask", tool_is("refund"), require=require))
    run = run_paying({"amount": 1})
    (interrupt,) = open_interrupts(run)
    Interrupt.objects.filter(pk=interrupt.pk).update(expires_at=interrupt.created_at)

    expire_interrupts(thread_id=run.thread_id)

    decision = Decision.objects.get(interrupt=interrupt)
    assert reread(interrupt).status == status
    assert (decision.payload and json.loads(decision.payload)) == payload
    assert decision.actor_label == "system:expiry"
    assert Run.objects.filter(resumes=run).exists()


def test_a_rule_answers_only_what_the_agent_accepts(world, run_paying):
    publish(world, SMALL)
    only_no = {
        "type": "object",
        "properties": {"approved": {"const": False}},
        "required": ["approved"],
    }
    (interrupt,) = open_interrupts(run_paying({"amount": 1}, schema=only_no))

    assert json.loads(interrupt.ruling.body)["reasons"] == ["no_answer"]
    assert "does not accept the answer" in reasons_of(interrupt)[0]


def test_edited_arguments_are_ruled_on_again(world, bob, run_paying):
    publish(world, rule("ask", "ask", tool_is("refund")), LARGE)
    (interrupt,) = open_interrupts(run_paying({"amount": 40}))

    with pytest.raises(errors.DeniedByPolicy, match="large"):
        answer(interrupt, bob, {"approved": True, "editedArgs": {"amount": 4000}})
    answer(interrupt, bob, {"approved": True, "editedArgs": {"amount": 400}})
    assert reread(interrupt).status == "resolved"


def test_requesters_cannot_approve_but_can_deny(world, bob, run_paying):
    publish(world, rule("four-eyes", "ask", tool_is("refund"), require={"self_approval": False}))
    (interrupt,) = open_interrupts(run_paying({"amount": 40}, actor=bob))

    with pytest.raises(errors.SelfApproval):
        approve(interrupt, bob)
    answer(interrupt, bob, {"approved": False, "reason": "a mistake"})
    assert reread(interrupt).status == "resolved"


def test_a_rule_can_require_a_person(world, run_paying):
    from inbox.queries.people.api_keys import actor_of_key

    publish(world, rule("people", "ask", tool_is("refund"), require={"keys": False}))
    (interrupt,) = open_interrupts(run_paying({"amount": 40}))

    with pytest.raises(errors.RequirementNotMet, match="people"):
        approve(interrupt, actor_of_key(world.key))


def test_a_rule_can_require_the_inbox(world, bob, run_paying):
    publish(world, rule("web", "ask", tool_is("refund"), require={"via": ["web"]}))
    (interrupt,) = open_interrupts(run_paying({"amount": 40}))

    with pytest.raises(errors.RequirementNotMet, match="web"):
        approve(interrupt, bob)


def test_an_unreadable_version_asks_for_everything(world, run_paying, monkeypatch):
    from inbox.queries.policies import policies

    publish(world, SMALL)
    policies.published_version.cache_clear()
    monkeypatch.setattr(policies, "parse_stored_policy", lambda body, **_: None)
    try:
        run = run_paying({"amount": 1})
    finally:
        policies.published_version.cache_clear()

    assert len(open_interrupts(run)) == 1
    assert entries(run, "policy.unreadable") == [{"version": 1}]


def test_fifty_resumes_without_a_person_end_in_a_question(world, as_agent):
    publish(world, rule("all", "allow", tool_is("refund")))

    run = start(world, "go", agent=as_agent(proposals([{}], is_endless=True)))
    resumes = 0
    while (following := resumed_run(run)) is not None:
        run, resumes = following, resumes + 1

    assert resumes == 50
    (interrupt,) = open_interrupts(run)
    assert json.loads(interrupt.ruling.body)["reasons"] == ["circuit_breaker"]


def test_the_policy_is_named_in_the_activity(world, run_paying):
    from inbox.web.runs.activity import activity_lines

    publish(world, SMALL)
    run = run_paying({"amount": 1})
    rows = AuditEntry.objects.filter(thread=run.thread_id).select_related("payload")

    sentences = [line.sentence for line in activity_lines(rows, agent="desk", me=None)]

    assert "<strong><bdi>The policy</bdi></strong> approved" in sentences


def test_reviewers_take_back_what_a_rule_approved(world, bob, run_paying):
    publish(world, SMALL, LARGE)
    run = run_paying({"amount": 1}, {"amount": 500}, {"amount": 2000})
    allowed, question, _ = run.interrupts.order_by("position")

    first = withdraw_decision(interrupt_id=allowed.pk, actor=bob)

    assert withdraw_decision(interrupt_id=allowed.pk, actor=bob) == first
    assert reread(allowed).status == "open"
    approve(question, bob)
    assert not Run.objects.filter(resumes=run).exists()
    answer(reread(allowed), bob, {"approved": False, "reason": "not today"})
    payloads = [entry["payload"] for entry in json.loads(Run.objects.get(resumes=run).resume)]
    assert payloads[0] == {"approved": False, "reason": "not today"}


def test_the_denial_of_a_rule_is_not_taken_back(world, bob, run_paying):
    publish(world, LARGE)
    run = run_paying({"amount": 500}, {"amount": 2000})
    denied = run.interrupts.get(position=1)

    with pytest.raises(errors.Forbidden):
        withdraw_decision(interrupt_id=denied.pk, actor=bob)
    assert reread(denied).status == "resolved"


def test_an_approval_by_rule_is_not_taken_back_after_the_resume(world, bob, run_paying):
    publish(world, SMALL)
    run = run_paying({"amount": 1})

    with pytest.raises(errors.AlreadyResumed):
        withdraw_decision(interrupt_id=run.interrupts.get().pk, actor=bob)
