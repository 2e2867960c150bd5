"""Messages to the chats of a team: what they say, when, and what becomes of failures."""

import json
from datetime import timedelta

import pytest
from django.core import mail

from inbox import sweeper
from inbox.actions.decisions.claims_and_comments import claim_interrupt
from inbox.actions.notifications.expansion import expand_announcements
from inbox.actions.notifications.messages import SendResult, claim_message, record_message
from inbox.actions.notifications.team_channels import (
    ChatSettings,
    add_chat,
    change_chat,
    remove_chat,
    switch_chat,
    test_chat,
)
from inbox.actions.webhooks.endpoints import add_webhook
from inbox.models import AuditEntry, Channel, Delivery, Notification
from inbox.rules import errors
from inbox.rules.notifications.events import (
    MAX_CHANNELS,
    WEBHOOK_CHATS,
    ChannelEnd,
    ChannelKind,
    SendProblem,
)
from inbox.rules.people.access import SEED
from tests.support.notifications.chat_server import run_chat_server
from tests.support.notifications.subscribed import EVERY_EVENT, confirm_address, send_all
from tests.support.policies.published import administrator, publish, rule, tool_is
from tests.support.steps import approve, reread, start

send_test = test_chat
send_test.__test__ = False


@pytest.fixture
def server(settings):
    settings.PRIVATE_WEBHOOK_HOSTS = frozenset({"127.0.0.1"})
    settings.PUBLIC_URL = "https://signoff.example.com"
    with run_chat_server() as state:
        yield state


@pytest.fixture
def admin(world):
    return administrator(world)


@pytest.fixture
def add(world, admin, server):
    """Return a function that adds a chat to the team."""

    def add(kind="slack", **values):
        defaults = {
            "label": "#ops",
            "url": server.url,
            "events": EVERY_EVENT,
            "mode": "at_once",
            "minutes": 5,
        }
        return add_chat(
            team_id=world.team.pk,
            kind=kind,
            values=ChatSettings(**defaults | values),
            language="en",
            actor=admin,
        )

    return add


def states():
    return [(row.status, row.why) for row in Notification.objects.order_by("pk")]


@pytest.mark.parametrize("kind", WEBHOOK_CHATS)
def test_a_chat_gets_one_message_about_a_new_request(add, ask, server, kind):
    add(kind)
    interrupt = ask()

    send_all()
    send_all()

    (body,) = server.bodies
    text = json.dumps(body)
    assert "rehearsal waits for a decision" in text
    assert f"https://signoff.example.com/interrupts/{interrupt.pk}/" in text
    assert states() == [("sent", "")]
    assert "Argument" not in text


def test_many_requests_are_one_message_with_counts(add, ask, server):
    add()
    for _ in range(8):
        ask()

    send_all()

    (body,) = server.bodies
    assert body["text"] == "8 requests wait for a decision"
    assert "3 more of rehearsal, send_email" in json.dumps(body)
    assert json.dumps(body).count("https://signoff.example.com/interrupts/") == 5


def test_a_chat_is_told_later_unless_somebody_takes_the_request(add, ask, bob, server, later):
    add(mode="if_waiting", minutes=5)
    claimed, waiting, closed = ask(), ask(), ask()
    claim_interrupt(interrupt_id=claimed.pk, actor=bob)
    send_all()
    assert server.bodies == []
    approve(closed, bob)

    later(minutes=4, seconds=59)
    claim_interrupt(interrupt_id=claimed.pk, actor=bob)
    later(minutes=5)
    send_all()

    (body,) = server.bodies
    assert str(waiting.pk) in json.dumps(body)
    assert sorted(states()) == [("dropped", "claimed"), ("dropped", "closed"), ("sent", "")]


def test_other_teams_and_other_events_are_not_told(world, add, ask, server):
    add(events=("reminded",))
    ask()

    send_all()

    assert server.bodies == []


def test_a_chat_gets_reminders_of_policies(world, add, server, later):
    publish(world, rule("slow", "ask", tool_is("send_email"), require={"remind": ["PT10M"]}))
    add(events=("reminded",))
    start(world, "rehearse:tool_call")
    later(minutes=11)
    sweeper.sweep()
    send_all()

    assert [body["text"] for body in server.bodies] == ["Reminder: rehearsal waits for a decision"]


@pytest.mark.parametrize(("status", "wait"), [(429, 40), (500, 5), (503, 5)])
def test_a_chat_that_cannot_take_a_message_now_gets_it_later(add, ask, server, later, status, wait):
    channel = add()
    ask()
    server.status, server.headers = status, {"Retry-After": "40"} if status == 429 else {}
    send_all()
    assert states() == [("pending", "")]
    assert reread(channel).answer.startswith(str(status))

    later(seconds=wait - 1)
    send_all()
    assert len(server.bodies) == 1
    server.status = 200
    later(seconds=wait + 1)
    send_all()

    assert states() == [("sent", "")]
    assert reread(channel).answer == ""


def test_a_chat_that_is_gone_is_switched_off_after_a_day(
    world, admin, add, ask, server, later, settings
):
    confirm_address(admin)
    add_webhook(
        team_id=world.team.pk,
        url="https://hooks.example.com/",
        event_types=["channel.disabled"],
        actor=SEED,
    )
    channel = add()
    server.status, server.answer = 404, b"no_service"
    for hours in (0, 13, 25):
        later(hours=hours)
        ask()
        send_all()

    row = reread(channel)
    assert (row.disabled_reason, row.answer) == (ChannelEnd.REFUSED, "404 no_service")
    send_all()
    (notice,) = mail.outbox
    assert notice.subject == "A chat of Tests was switched off"
    assert "Chat: #ops" in notice.body
    assert "https://signoff.example.com/teams/tests/channels/" in notice.body
    assert "very-secret" not in notice.body
    delivery = Delivery.objects.get()
    assert json.loads(delivery.body)["data"]["channel"]["reason"] == "refused"
    entry = AuditEntry.objects.get(action="channel.disabled")
    assert "system:notifications" in json.dumps(entry.content)
    ask()
    send_all()
    assert len(server.bodies) == 3

    switch_chat(channel_id=channel.pk, is_on=True, actor=admin)
    server.status = 200
    ask()
    send_all()
    assert len(server.bodies) == 4


def test_a_chat_that_fails_for_a_day_is_switched_off(add, ask, server, later):
    channel = add()
    server.status = 500
    ask()
    send_all()
    for hours in range(3, 24, 3):
        later(hours=hours)
        send_all()
    later(hours=25)
    send_all()
    assert reread(channel).disabled_at is None  # nine failures

    later(hours=26)
    send_all()

    assert reread(channel).disabled_reason == ChannelEnd.FAILING
    assert states() == [("dropped", "disabled")]


def test_a_redirect_is_not_followed(add, ask, server):
    add()
    server.status, server.headers = 307, {"Location": "http://169.254.169.254/latest"}
    ask()

    send_all()

    assert len(server.bodies) == 1
    assert states() == [("failed", "refused")]


def test_an_address_inside_our_network_is_never_called(add, ask, server, settings):
    channel = add()
    settings.PRIVATE_WEBHOOK_HOSTS = frozenset()
    ask()

    send_all()

    assert server.bodies == []
    assert states() == [("failed", "refused")]
    assert reread(channel).answer == "The address is not allowed."


def test_a_test_message_says_what_the_server_answered(add, admin, server):
    channel = add()
    server.status, server.answer = 400, b"invalid_blocks"

    send_test(channel_id=channel.pk, actor=admin)
    send_all()

    assert server.bodies[0]["text"] == "Test of notifications by Signoff"
    assert reread(channel).answer == "400 invalid_blocks"


def test_the_url_is_a_secret_that_removing_the_chat_deletes(add, ask, admin, server):
    channel = add()
    assert "very-secret" not in channel.address
    ask()
    remove_chat(channel_id=channel.pk, actor=admin)

    send_all()

    assert server.bodies == []
    assert reread(channel).address == ""
    entries = AuditEntry.objects.filter(action__startswith="channel.")
    assert [entry.action for entry in entries.order_by("pk")] == [
        "channel.added",
        "channel.removed",
    ]
    assert not any("very-secret" in json.dumps(entry.content) for entry in entries)
    with pytest.raises(errors.NotFound):
        send_test(channel_id=channel.pk, actor=admin)


def test_a_change_keeps_the_url_unless_another_is_entered(add, admin, server, ask):
    channel = add()
    change_chat(channel_id=channel.pk, label="#alerts", events=["opened"], actor=admin)
    ask()

    send_all()

    assert len(server.bodies) == 1
    assert reread(channel).label == "#alerts"
    for url in ("", server.url):
        change_chat(channel_id=channel.pk, label="#alerts", url=url, actor=admin)
    (entry,) = AuditEntry.objects.filter(action="channel.changed")
    assert entry.content["detail"]["changed"] == ["label", "events"]


@pytest.mark.parametrize(
    ("values", "field"),
    [
        ({"label": ""}, "label"),
        ({"label": "x" * 81}, "label"),
        ({"url": "http://hooks.example.com/"}, "url"),
        ({"url": "https://user:password@hooks.example.com/"}, "url"),
        ({"url": ""}, "url"),
        ({"events": ()}, "events"),
        ({"events": ("overridden",)}, "events"),
        ({"mode": "never"}, "mode"),
        ({"mode": "digest"}, "mode"),
        ({"minutes": 0}, "minutes"),
        ({"kind": "email"}, "kind"),
        ({"kind": "irc"}, "kind"),
    ],
)
def test_wrong_settings_are_refused(add, values, field):
    with pytest.raises(errors.InvalidValue) as refused:
        add(**values)

    assert list(refused.value.detail["problems"]) == [field]
    assert not Channel.objects.exists()


def test_only_administrators_have_chats_to_change(add, bob, alice, carol):
    channel = add()
    for actor, refusal in ((bob, errors.Forbidden), (alice, errors.Forbidden)):
        with pytest.raises(refusal):
            switch_chat(channel_id=channel.pk, is_on=False, actor=actor)
    with pytest.raises(errors.NotFound):
        remove_chat(channel_id=channel.pk, actor=carol)


def test_a_team_has_a_limited_number_of_chats(add):
    for _ in range(MAX_CHANNELS):
        add()

    with pytest.raises(errors.InvalidValue, match="at most 20"):
        add()


def test_a_lost_key_is_an_error_of_the_channel(add, ask, server):
    channel = add(ChannelKind.SLACK)
    Channel.objects.filter(pk=channel.pk).update(address="broken")
    ask()

    send_all()

    assert states() == [("failed", "broken")]


def test_a_chat_is_not_limited_by_the_hour(add, ask, server, later):
    add()
    for number in range(15):
        later(seconds=21 * number)
        ask()
        send_all()

    assert len(server.bodies) == 15


def test_a_new_url_begins_anew_and_is_in_the_trail_without_itself(add, ask, admin, server):
    channel = add()
    server.status = 404
    ask()
    send_all()
    assert reread(channel).refusals == 1

    change_chat(channel_id=channel.pk, url=f"{server.url}/other", actor=admin)

    row = reread(channel)
    assert (row.refusals, row.refused_since, row.answer) == (0, None, "")
    (entry,) = AuditEntry.objects.filter(action="channel.changed")
    assert entry.content["detail"]["changed"] == ["url"]
    assert "very-secret" not in json.dumps(entry.content)


def test_an_answer_that_repeats_the_url_is_stored_without_it(add, ask, server):
    channel = add()
    server.status = 404
    server.answer = b"Cannot POST /services/T0/B0/very-secret (very-secret)"
    ask()

    send_all()

    dots = "\N{HORIZONTAL ELLIPSIS}"
    assert reread(channel).answer == f"404 Cannot POST {dots} ({dots})"


def test_a_failure_after_the_removal_changes_nothing(add, ask, admin, server):
    channel = add()
    ask()
    expand_announcements()
    message = claim_message(channel_id=channel.pk)
    Channel.objects.update(failures=99, failing_since=channel.created_at - timedelta(days=2))
    remove_chat(channel_id=channel.pk, actor=admin)

    assert record_message(message=message, result=SendResult(SendProblem.TEMPORARY))

    assert reread(channel).disabled_at is None
    assert not AuditEntry.objects.filter(action="channel.disabled").exists()


def test_what_was_expanded_as_a_chat_was_switched_off_is_not_sent(add, ask, admin, server):
    channel = add()
    ask()
    expand_announcements()
    Channel.objects.update(disabled_at=channel.created_at)

    switch_chat(channel_id=channel.pk, is_on=True, actor=admin)
    send_all()

    assert server.bodies == []
    assert states() == [("dropped", "disabled")]
