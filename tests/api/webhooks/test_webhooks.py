"""REST: webhooks, added, watched and mended by administrators."""

import json

import pytest
from django.core.management import CommandError, call_command
from django.db import connection, transaction

from inbox import wakeups
from inbox.actions.decisions.expiry import expire_interrupts
from inbox.actions.notifications.messages import disable_channel
from inbox.actions.notifications.team_channels import ChatSettings, add_chat
from inbox.actions.policies.due_steps import do_due_steps
from inbox.actions.policies.grants import revoke_grant
from inbox.actions.webhooks.endpoints import add_webhook
from inbox.actions.webhooks.outbox import warn_of_expiry
from inbox.api.base.openapi import describe_api
from inbox.models import AuditEntry, Delivery, WebhookEndpoint
from inbox.rules.notifications.events import ChannelEnd
from inbox.rules.people.access import SEED
from inbox.rules.webhooks.delivery_rules import MAX_ENDPOINTS, EventType
from inbox.sending import webhook_sender
from tests.support.http.openapi_responses import problems_with
from tests.support.http.webhook_receiver import receiver
from tests.support.policies.published import approve_with_grant, publish, rule
from tests.support.requests.programs import Program, make_program
from tests.support.requests.programs import decide as answer_item
from tests.support.steps import (
    approve,
    open_interrupts,
    resumed_run,
    start,
)

__all__ = ["receiver"]

URL = "https://hooks.example.com/signoff"


@pytest.fixture
def admin(world, key_with):
    """A machine that may administer the team."""
    return key_with("read", "admin")


@pytest.fixture
def hook(admin, receiver):
    """An endpoint that is told of the ends of runs."""
    added = admin.post("/api/webhooks", {"url": receiver.url, "events": ["run.finished"]}).json()
    receiver.secret = added["secret"]
    return f"/api/webhooks/{added['id']}"


def test_every_message_is_one_that_the_schema_tells(world, bob, later):
    add_webhook(team_id=world.team.pk, url=URL, event_types=list(EventType), actor=SEED)
    answered = start(world, "rehearse:tool_call")
    approve(open_interrupts(answered)[0], bob)
    resumed_run(answered)
    interrupts = start(world, "rehearse:expires_soon")
    warn_of_expiry(thread_id=interrupts.thread_id)
    later(minutes=1)
    expire_interrupts(thread_id=interrupts.thread_id)
    steps = {"remind": ["PT5M"], "escalate": [{"after": "PT6M", "to": "role:admin"}]}
    publish(world, rule("slow", "ask", require=steps))
    slow = start(world, "rehearse:tool_call")
    later(minutes=10)
    do_due_steps(thread_id=slow.thread_id)
    two = {"slots": [{"role": "reviewer"}, {"role": "reviewer"}]}
    publish(world, rule("two", "ask", require=two))
    approve(open_interrupts(start(world, "rehearse:tool_call"))[0], bob)
    publish(world, rule("one", "ask"))
    (allowed,) = open_interrupts(start(world, "rehearse:effect:a"))
    revoke_grant(grant_id=approve_with_grant(allowed, bob), actor=bob)
    switch_off_a_chat(world)
    report_a_doubt(world, bob)

    messages = [json.loads(body) for body in Delivery.objects.values_list("body", flat=True)]

    assert {message["type"] for message in messages} == {kind.value for kind in EventType}
    for message in messages:
        request_body = describe_api()["webhooks"][message["type"]]["post"]["requestBody"]
        assert problems_with(request_body["content"]["application/json"]["schema"], message) == []


def switch_off_a_chat(world):
    values = ChatSettings("#ops", URL, ["opened"], "at_once", 5)
    team = world.team.pk
    chat = add_chat(team_id=team, kind="slack", values=values, language="en", actor=SEED)
    with transaction.atomic():
        disable_channel(chat, ChannelEnd.FAILING, chat.created_at, SEED)


def report_a_doubt(world, bob):
    program = Program(make_program(world))
    request = program.ask()
    answer_item(request, bob, {"approved": True})
    program.start(request)
    program.report(request, "unknown", executed_args={})


def deliver():
    for endpoint in WebhookEndpoint.objects.all():
        webhook_sender.deliver(endpoint.pk)


def test_a_webhook_is_added_seen_changed_and_removed(admin, world):
    added = admin.post(
        "/api/webhooks",
        {"url": URL, "events": ["run.finished", "interrupt.opened"], "description": "Chat."},
    )
    path = f"/api/webhooks/{added.json()['id']}"
    changed = admin.patch(path, {"events": ["run.finished"], "enabled": False})
    seen = admin.get(path).json()

    assert (added.status_code, changed.status_code) == (201, 200)
    assert added.json()["secret"].startswith("whsec_")
    assert "secret" not in json.dumps([seen, changed.json()]).replace("former_secret_until", "")
    assert (seen["team"], seen["url"], seen["description"]) == ("tests", URL, "Chat.")
    assert (seen["events"], seen["enabled"]) == (["run.finished"], False)
    assert seen["disabled_reason"] == "by_hand"
    assert admin.get("/api/webhooks").json()["results"][0]["id"] == seen["id"]

    assert admin.delete(path).status_code == 204
    assert admin.get(path).status_code == admin.delete(path).status_code == 404
    assert admin.get("/api/webhooks").json()["results"] == []
    assert _audited() == [
        *("webhook.added", "webhook.changed", "webhook.disabled", "webhook.removed"),
    ]


def _audited():
    entries = AuditEntry.objects.filter(action__startswith="webhook").order_by("pk")
    return list(entries.values_list("action", flat=True))


def test_what_is_so_already_is_not_written_down_again(admin, hook):
    admin.patch(hook, {"events": ["run.finished"], "enabled": True})

    assert _audited() == ["webhook.added"]


@pytest.mark.parametrize(
    ("wrong", "field", "status"),
    [
        ({"url": "http://hooks.example.com/"}, "url", 422),
        ({"url": "ftp://hooks.example.com/"}, "url", 400),
        ({"url": "https://"}, "url", 400),
        ({"url": "https://me:secret@hooks.example.com/"}, "url", 422),
        ({"url": "https://hooks.example.com:port/"}, "url", 422),
        ({"url": "https://hooks.example.com/ä"}, "url", 400),
        ({"url": f"https://hooks.example.com/{'x' * 2_000}"}, "url", 400),
        ({"events": []}, "events", 400),
        ({"events": ["run.began"]}, "events", 400),
        ({"events": ["run.finished", 7]}, "events", 400),
        ({"description": "x" * 201}, "description", 400),
    ],
)
def test_what_makes_no_sense_is_not_kept(admin, hook, wrong, field, status):
    right = {"url": URL, "events": ["run.finished"]}

    added = admin.post("/api/webhooks", {**right, **wrong})
    changed = admin.patch(hook, wrong)

    assert (added.status_code, changed.status_code) == (status, status)
    assert list(added.json()["problems"]) == list(changed.json()["problems"]) == [field]
    assert WebhookEndpoint.objects.count() == 1
    assert "secret@" not in added.content.decode()


def test_a_team_has_so_many_webhooks_and_no_more(admin, world):
    for _ in range(MAX_ENDPOINTS):
        add_webhook(team_id=world.team.pk, url=URL, event_types=["run.finished"], actor=SEED)

    refused = admin.post("/api/webhooks", {"url": URL, "events": ["run.finished"]})

    assert (refused.status_code, list(refused.json()["problems"])) == (422, ["team"])


def test_a_secret_is_told_once_and_kept_in_no_readable_form(admin, hook, receiver):
    rotated = admin.post(f"{hook}/rotate").json()["secret"]
    with connection.cursor() as cursor:
        cursor.execute("SELECT secret, former_secret FROM inbox_webhookendpoint")
        rows = str(cursor.fetchall())
    audited = "".join(AuditEntry.objects.values_list("payload__text", flat=True))

    for secret in (rotated, receiver.secret):
        assert (
            secret.removeprefix("whsec_") not in rows + audited + admin.get(hook).content.decode()
        )
    assert receiver.secret != rotated


def test_of_a_url_the_audit_trail_knows_the_host(admin, world):
    admin.post("/api/webhooks", {"url": f"{URL}/a-secret-path", "events": ["run.finished"]})

    detail = AuditEntry.objects.get(action="webhook.added").payload.text
    assert json.loads(detail)["detail"]["host"] == "hooks.example.com"
    assert "a-secret-path" not in detail


def test_a_test_shows_what_the_receiver_answers(admin, hook, receiver):
    receiver.status, receiver.answer = 418, b"short and stout"
    sent = admin.post(f"{hook}/test")
    deliver()

    (seen,) = admin.get(f"{hook}/deliveries").json()["results"]
    assert (sent.status_code, sent.json()["id"]) == (202, seen["id"])
    assert (seen["type"], seen["status"]) == ("webhook.test", "pending")
    (attempt,) = seen["attempts"]
    assert (attempt["status_code"], attempt["answer"]) == (418, "short and stout")
    assert attempt["problem"] == "status"
    assert attempt["message"] == "The receiver answered with status 418."
    assert receiver.received[0].is_signed


def test_a_message_that_was_delivered_is_sent_again_under_the_same_id(admin, hook, receiver, world):
    start(world, "rehearse:echo")
    deliver()
    (seen,) = admin.get(f"{hook}/deliveries?status=delivered").json()["results"]

    again = admin.post(f"/api/deliveries/{seen['id']}/send-again")
    deliver()

    assert (again.status_code, again.json()["status"]) == (202, "pending")
    first, second = receiver.received
    assert first.id == second.id == seen["webhook_id"]
    assert Delivery.objects.get().status == "delivered"
    assert "delivery.sent_again" in AuditEntry.objects.values_list("action", flat=True)


def test_one_that_is_sent_again_keeps_nothing_waiting(admin, hook, receiver, world):
    run = start(world, "rehearse:echo", thread_id="t")
    deliver()
    receiver.status = 500
    admin.post(f"/api/deliveries/{Delivery.objects.get().message_id}/send-again")
    deliver()
    receiver.status = 204

    start(world, "rehearse:echo", thread_id="t")
    deliver()

    assert [delivery.was_taken for delivery in receiver.received] == [True, False, True]
    assert run.thread_id == Delivery.objects.last().thread_id


def test_what_was_given_up_is_replayed_in_order(admin, hook, receiver, world):
    for _ in range(3):
        start(world, "rehearse:echo", thread_id="t")
    Delivery.objects.update(status="failed")

    assert admin.get(hook).json()["failed"] == 3
    assert admin.post(f"{hook}/replay").json() == {"count": 3}
    assert admin.post(f"{hook}/replay").json() == {"count": 0}
    deliver()

    ids = [
        f"msg_{message_id.hex}"
        for message_id in Delivery.objects.values_list("message_id", flat=True)
    ]
    assert [delivery.id for delivery in receiver.received] == ids


@pytest.mark.parametrize("what", ["test", "replay", "send-again"])
def test_nothing_is_sent_to_one_that_is_switched_off(admin, hook, world, what):
    start(world, "rehearse:echo")
    admin.patch(hook, {"enabled": False})
    message = Delivery.objects.get().message_id
    path = f"/api/deliveries/{message}/send-again" if what == "send-again" else f"{hook}/{what}"

    refused = admin.post(path)

    assert (refused.status_code, refused.json()["code"]) == (409, "WEBHOOK_DISABLED")


def test_deliveries_come_in_pages_the_latest_first(admin, hook, world):
    for _ in range(3):
        start(world, "rehearse:echo")
    ids = [str(message_id) for message_id in Delivery.objects.values_list("message_id", flat=True)]

    first = admin.get(f"{hook}/deliveries?limit=2").json()
    second = admin.get(f"{hook}/deliveries?limit=2&after={first['next_after']}").json()

    assert [delivery["id"] for delivery in first["results"]] == [ids[2], ids[1]]
    assert [delivery["id"] for delivery in second["results"]] == [ids[0]]
    assert second["next_after"] is None
    for query in ("status=lost", "after=yesterday"):
        assert admin.get(f"{hook}/deliveries?{query}").status_code == 400


def test_a_message_to_be_sent_rings_when_its_fact_is_committed(
    admin, hook, world, monkeypatch, django_capture_on_commit_callbacks
):
    rung = []
    monkeypatch.setattr(wakeups, "wake_webhook_workers", rung.append)
    with django_capture_on_commit_callbacks(execute=True):
        start(world, "rehearse:echo")

    assert rung == [WebhookEndpoint.objects.get().pk]


def test_the_command_prints_the_secret_and_nothing_else(world, capsys):
    call_command("add_webhook", URL, "--team", "tests", "--event", "run.finished")

    assert capsys.readouterr().out.startswith("whsec_")
    assert WebhookEndpoint.objects.get().event_types == ["run.finished"]
    with pytest.raises(CommandError, match="https"):
        call_command("add_webhook", "http://hooks.example.com/", "--team", "tests")
