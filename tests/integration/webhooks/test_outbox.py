"""What webhooks are told: with the fact or not at all, and no more than anybody needs."""

import json

import pytest
from django.db import IntegrityError, transaction

from inbox import sweeper
from inbox.actions.decisions import decide
from inbox.actions.decisions.withdrawals import withdraw_decision
from inbox.actions.files.uploads import upload_to_request
from inbox.actions.runs.cancel_run import cancel_run
from inbox.actions.runs.start_run import start_run
from inbox.actions.webhooks.endpoints import add_webhook, change_webhook, remove_webhook
from inbox.actions.webhooks.outbox import warn_of_expiry
from inbox.models import Delivery, WebhookEndpoint
from inbox.platform.files.received_files import received_bytes
from inbox.queries.people.teams import team_by_slug
from inbox.rules.people.access import SEED
from inbox.rules.webhooks.delivery_rules import EventType
from tests.support import steps
from tests.support.agents.lost_workers import kill_while_driving, queued_resume
from tests.support.files.asking import request_with_file
from tests.support.policies.published import publish, rule
from tests.support.steps import (
    approve,
    call_off,
    deny,
    open_interrupts,
    request,
    start,
)

EVERYTHING = [kind.value for kind in EventType]
INTERRUPT_EVENTS = ["run.interrupted", "interrupt.opened"]


def listen(world, *types):
    row, _ = add_webhook(
        team_id=world.team.pk,
        url="https://hooks.example.com/",
        event_types=types or EVERYTHING,
        actor=SEED,
    )
    return row


@pytest.fixture
def endpoint(world):
    return listen(world)


def event_types():
    return list(Delivery.objects.order_by("pk").values_list("type", flat=True))


def last():
    return json.loads(Delivery.objects.order_by("pk").last().body)


def bodies():
    return list(Delivery.objects.order_by("pk").values_list("body", flat=True))


# -- every way in which something happens ---------------------------------------------------------


def test_a_run_that_asks_and_goes_on_is_told_in_order(world, endpoint, bob):
    run = start(world, "rehearse:tool_call")
    assert event_types() == INTERRUPT_EVENTS
    (interrupt,) = open_interrupts(run)

    approve(interrupt, bob)
    steps.resumed_run(run)

    assert event_types() == [*INTERRUPT_EVENTS, "interrupt.decided", "run.finished"]


def test_the_shape_of_what_is_told(world, endpoint, bob, settings):
    settings.PUBLIC_URL = "https://signoff.example.com"
    run = start(world, "rehearse:tool_call", thread_id="t-1", run_id="r-1")
    (interrupt,) = open_interrupts(run)
    approve(interrupt, bob)

    thread = f"https://signoff.example.com/threads/{run.thread_id}/"
    message = last()
    decision = message["data"].pop("decision")
    assert message.pop("timestamp") == decision.pop("at")
    assert decision.pop("policy") is None
    assert decision.pop("override") is False
    assert decision == {"status": "resolved", "approved": True, "by": "Bob", "kind": "human"}
    assert message == {
        "type": "interrupt.decided",
        "data": {
            "interrupt": {
                "id": str(interrupt.pk),
                "interrupt_id": interrupt.interrupt_id,
                "status": "resolved",
                "reason": "tool_call",
                "tool": "send_email",
                "expires_at": interrupt.expires_at.isoformat(timespec="milliseconds").replace(
                    "+00:00", "Z"
                ),
                "url": f"https://signoff.example.com/interrupts/{interrupt.pk}/",
            },
            "run": {"id": str(run.pk), "run_id": "r-1"},
            "thread": {"id": str(run.thread_id), "thread_id": "t-1", "url": thread},
            "agent": "rehearsal",
            "team": "tests",
        },
    }


def test_nothing_that_was_asked_or_said_is_told(world, endpoint, bob):
    run = start(world, "rehearse:tool_call")
    (interrupt,) = open_interrupts(run)
    steps.answer(interrupt, bob, {"approved": False, "reason": "a secret of ours"})
    steps.resumed_run(run)

    bodies = "".join(Delivery.objects.values_list("body", flat=True))
    assert interrupt.title not in bodies
    for word in ("dana@example.com", "a secret of ours", "rehearse:tool_call"):
        assert word not in bodies
    decided = json.loads(Delivery.objects.get(type="interrupt.decided").body)
    assert decided["data"]["decision"]["approved"] is False


def test_what_is_called_off_was_neither_approved_nor_denied(world, endpoint, bob):
    (interrupt,) = open_interrupts(start(world, "rehearse:tool_call"))
    call_off(interrupt, bob)

    decision = last()["data"]["decision"]
    assert (decision["status"], decision["approved"]) == ("cancelled", None)


def test_a_decision_has_the_version_and_rules_of_its_policy(world, endpoint, bob):
    publish(world, rule("mails", "ask"))
    (interrupt,) = open_interrupts(start(world, "rehearse:tool_call"))
    call_off(interrupt, bob)

    assert last()["data"]["decision"]["policy"] == {
        "version": 1,
        "installation_version": None,
        "rules": ["mails"],
    }


def test_a_decision_without_a_policy_has_none(world, endpoint, bob):
    (interrupt,) = open_interrupts(start(world, "rehearse:tool_call"))
    call_off(interrupt, bob)

    assert last()["data"]["decision"]["policy"] is None


def test_a_run_that_is_cancelled_is_told_once(world, endpoint, alice):
    accepted = start_run(agent=world.agent, request=request("rehearse:echo"), actor=alice)
    cancel_run(run_id=accepted.run.pk, actor=alice)
    cancel_run(run_id=accepted.run.pk, actor=alice)

    assert event_types() == ["run.finished"]
    assert last()["data"]["run"]["status"] == "cancelled"


def test_a_run_that_fails_says_with_which_code(world, endpoint):
    start(world, "rehearse:error")

    run = last()["data"]["run"]
    assert (run["status"], run["error_code"]) == ("failed", "AGENT_ERROR")


def test_a_run_that_cannot_be_read_is_told(world, endpoint, alice):
    accepted = start_run(agent=world.agent, request=request("rehearse:echo"), actor=alice)
    type(accepted.run).objects.update(input="no JSON")
    steps.drive(accepted)

    assert event_types() == ["run.finished"]


def test_a_doubt_about_a_lost_worker_is_told(world, endpoint, bob, monkeypatch, later):
    killed = kill_while_driving(
        queued_resume(world, "effect:doubt", bob), monkeypatch=monkeypatch, at="settle_tool_calls"
    )
    Delivery.objects.all().delete()
    later(seconds=60)
    sweeper.sweep()

    assert steps.reread(killed).status == "interrupted"
    assert event_types() == INTERRUPT_EVENTS
    assert last()["data"]["interrupt"]["reason"] == "signoff:outcome_unknown"


def test_an_answer_taken_back_is_told_as_a_question_that_is_open_again(world, endpoint, bob):
    first, *_ = open_interrupts(start(world, "rehearse:parallel3"))
    deny(first, bob)
    withdraw_decision(interrupt_id=first.pk, actor=bob)

    assert event_types()[-2:] == ["interrupt.decided", "interrupt.opened"]
    data = last()["data"]
    assert (data["reopened"], data["interrupt"]["status"]) == (True, "open")
    opened = Delivery.objects.filter(type="interrupt.opened").first()
    assert json.loads(opened.body)["data"]["reopened"] is False


def test_what_nobody_answers_is_told_before_and_when_it_expires(world, endpoint, later, settings):
    run = start(world, "rehearse:tool_call")
    (interrupt,) = open_interrupts(run)
    left = (interrupt.expires_at - interrupt.created_at).total_seconds()
    notice = settings.EXPIRY_NOTICE.total_seconds()

    later(seconds=left - notice - 5)
    sweeper.handle_due_times()
    assert event_types() == INTERRUPT_EVENTS
    later(seconds=left - notice + 5)
    sweeper.handle_due_times()
    sweeper.handle_due_times()
    assert event_types() == [*INTERRUPT_EVENTS, "interrupt.expiring"]
    later(seconds=left + 5)
    sweeper.handle_due_times()

    assert event_types() == [*INTERRUPT_EVENTS, "interrupt.expiring", "interrupt.expired"]
    decision = last()["data"]["decision"]
    assert (decision["by"], decision["kind"]) == ("system:expiry", "system")


def test_nobody_is_warned_of_what_is_answered(world, endpoint, bob, later):
    (interrupt,) = open_interrupts(start(world, "rehearse:tool_call"))
    approve(interrupt, bob)
    later(seconds=(interrupt.expires_at - interrupt.created_at).total_seconds() - 5)
    sweeper.handle_due_times()

    assert "interrupt.expiring" not in event_types()


def test_a_warning_that_is_asked_for_again_or_too_late_is_not_given(world, endpoint, later):
    run = start(world, "rehearse:tool_call")
    (interrupt,) = open_interrupts(run)
    left = (interrupt.expires_at - interrupt.created_at).total_seconds()
    later(seconds=left - 5)
    assert [warn_of_expiry(thread_id=run.thread_id) for _ in range(2)] == [1, 0]

    Delivery.objects.filter(type="interrupt.expiring").delete()
    later(seconds=left + 5)
    assert warn_of_expiry(thread_id=run.thread_id) == 0


def test_a_warning_is_stored_once_per_endpoint(world, endpoint, later):
    (interrupt,) = open_interrupts(start(world, "rehearse:tool_call"))
    later(seconds=(interrupt.expires_at - interrupt.created_at).total_seconds() - 5)
    sweeper.handle_due_times()
    row = Delivery.objects.get(type="interrupt.expiring")

    again = Delivery(
        endpoint=endpoint,
        interrupt=interrupt,
        type=row.type,
        body=row.body,
        next_try_at=row.next_try_at,
        created_at=row.created_at,
    )
    with pytest.raises(IntegrityError), transaction.atomic():
        again.save()


# -- with the fact or not at all ------------------------------------------------------------------


def test_no_message_is_left_of_a_decision_that_was_not_stored(world, endpoint, bob, monkeypatch):
    (interrupt,) = open_interrupts(start(world, "rehearse:tool_call"))

    def fail(**_kwargs):
        raise RuntimeError

    monkeypatch.setattr(decide, "queue_resume_if_complete", fail)
    with pytest.raises(RuntimeError):
        approve(interrupt, bob)

    assert steps.reread(interrupt).status == "open"
    assert event_types() == INTERRUPT_EVENTS


def test_a_decision_that_is_replayed_is_told_once(world, endpoint, bob):
    (interrupt,) = open_interrupts(start(world, "rehearse:tool_call"))
    approve(interrupt, bob)
    approve(interrupt, bob)

    assert event_types().count("interrupt.decided") == 1


# -- who is told what -----------------------------------------------------------------------------


def test_an_endpoint_is_told_what_it_asked_for(world, bob):
    listen(world, "run.finished")
    run = start(world, "rehearse:tool_call")
    approve(open_interrupts(run)[0], bob)
    steps.resumed_run(run)

    assert event_types() == ["run.finished"]


def test_another_team_is_told_nothing(world):
    others = team_by_slug("others")
    add_webhook(
        team_id=others.pk,
        url="https://hooks.example.com/",
        event_types=EVERYTHING,
        actor=SEED,
    )
    start(world, "rehearse:tool_call")

    assert event_types() == []


def test_disabled_webhook_catches_up_and_removed_webhook_gets_nothing(world):
    off, removed = listen(world), listen(world)
    change_webhook(endpoint_id=off.pk, enabled=False, actor=SEED)
    remove_webhook(endpoint_id=removed.pk, actor=SEED)

    start(world, "rehearse:echo")

    assert list(Delivery.objects.values_list("endpoint", flat=True)) == [off.pk]
    assert WebhookEndpoint.objects.get(pk=removed.pk).secret == ""


def test_every_endpoint_gets_a_message_of_its_own(world):
    listen(world)
    listen(world)
    start(world, "rehearse:echo")

    first, second = Delivery.objects.all()
    assert first.message_id != second.message_id
    assert first.body == second.body


# -- files ----------------------------------------------------------------------------------------


def test_webhooks_name_requests_and_neither_their_files_nor_links(world, endpoint, as_agent, bob):
    interrupt = request_with_file(world, as_agent, b"name,amount\nKim,47.5\n" * 50)
    file = upload_to_request(
        interrupt_id=interrupt.pk,
        file=received_bytes(b"the answer's bytes", "answer.txt"),
        actor=bob,
    )
    steps.answer(interrupt, bob, {"file": file.reference.address("https://signoff.example")})

    payloads = " ".join(bodies())
    assert event_types() == [*INTERRUPT_EVENTS, "interrupt.decided"]
    assert str(interrupt.pk) in payloads
    for secret in ("Kim", "photo.png", "answer", "signature=", "/files/", file.sha256):
        assert secret not in payloads
