"""Messages in chats that can edit them: they show what became of their requests."""

import json

import pytest

from inbox import sweeper
from inbox.actions.decisions.withdrawals import withdraw_decision
from inbox.actions.notifications.edits import claim_edit, record_edit
from inbox.actions.notifications.expansion import expand_announcements
from inbox.actions.notifications.messages import (
    LEASE,
    SendResult,
    claim_message,
    record_message,
)
from inbox.actions.notifications.team_channels import remove_chat, switch_chat
from inbox.models import Channel, Interrupt, Notification, Team
from inbox.queries.notifications.chat_messages import channels_with_due_edits
from inbox.rules.people.access import SEED
from tests.support.notifications.chat_server import run_chat_server
from tests.support.notifications.slack_server import add_slack_app, run_slack_server
from tests.support.notifications.subscribed import add_team_chat, send_all
from tests.support.steps import approve, call_off, deny, open_interrupts, reread, start


@pytest.fixture
def slack(settings):
    settings.PUBLIC_URL = "https://signoff.example.com"
    with run_slack_server(settings) as state:
        yield state


@pytest.fixture
def channel(world, slack):
    return add_slack_app(world.team.pk)


@pytest.fixture
def ask(world):
    def open_request():
        (interrupt,) = open_interrupts(start(world, "rehearse:tool_call"))
        Interrupt.objects.filter(pk=interrupt.pk).update(expires_at=None)
        return interrupt

    return open_request


def texts_of(message):
    return json.dumps(message, ensure_ascii=False)


def test_a_slack_app_posts_to_its_channel_with_its_token(channel, ask, slack):
    ask()

    send_all()

    ((method, body),) = slack.calls
    assert (method, body["channel"]) == ("chat.postMessage", "C0OPS")
    assert slack.tokens == {"Bearer xoxb-1111-2222-verysecrettoken"}
    assert Notification.objects.get().message_ref == "C0OPS:1790000000.000001"
    assert "verysecret" not in channel.address


@pytest.mark.parametrize(
    ("close", "state"),
    [
        (approve, "State: Bob approved, "),
        (deny, "State: Bob rejected, "),
        (call_off, "State: Bob cancelled, "),
    ],
)
def test_a_message_shows_the_decision(channel, ask, slack, bob, close, state):
    interrupt = ask()
    send_all()

    close(interrupt, bob)
    send_all()
    send_all()

    (edit,) = slack.edits()
    assert (edit["channel"], edit["ts"]) == ("C0OPS", "1790000000.000001")
    assert edit["text"] == "A request of rehearsal is closed"
    assert state in texts_of(edit)
    assert "Argument" not in texts_of(edit)


def test_a_message_shows_that_a_request_has_expired(channel, ask, slack, later):
    interrupt = ask()
    Interrupt.objects.update(expires_at=interrupt.created_at + LEASE, due_at=interrupt.created_at)
    send_all()

    later(minutes=5)
    sweeper.expire_overdue()
    send_all()

    assert "Expired unanswered" in texts_of(slack.edits()[0])


def test_one_edit_shows_all_requests_of_a_message(channel, ask, slack, bob):
    first, second, _ = ask(), ask(), ask()
    send_all()
    approve(first, bob)
    deny(second, bob)

    send_all()

    (edit,) = slack.edits()
    assert edit["text"] == "1 request waits for a decision"
    assert texts_of(edit).count("State: Bob approved") == 1
    assert texts_of(edit).count("State: Bob rejected") == 1


def test_a_request_that_is_opened_again_waits_again(channel, ask, slack, bob, world):
    Team.objects.update(grace_seconds=60)
    interrupt = ask()
    send_all()
    approve(interrupt, bob)
    send_all()

    withdraw_decision(interrupt_id=interrupt.pk, actor=bob)
    send_all()
    message = slack.messages["1790000000.000001"]
    assert message["text"] == "rehearsal waits for a decision"
    deny(interrupt, bob)
    send_all()

    assert "State: Bob rejected" in texts_of(slack.messages["1790000000.000001"])


def test_a_request_opened_again_during_an_edit_is_edited_again(channel, ask, slack, bob):
    Team.objects.update(grace_seconds=60)
    interrupt = ask()
    send_all()
    approve(interrupt, bob)
    edit = claim_edit(channel_id=channel.pk)
    withdraw_decision(interrupt_id=interrupt.pk, actor=bob)
    expand_announcements()

    assert record_edit(message=edit, result=SendResult())

    assert channels_with_due_edits() == [channel.pk]


def test_a_decision_before_the_message_is_recorded_is_shown(channel, ask, bob):
    interrupt = ask()
    expand_announcements()
    message = claim_message(channel_id=channel.pk)
    approve(interrupt, bob)

    record_message(message=message, result=SendResult(message_ref="C0OPS:1.1"))

    assert channels_with_due_edits() == [channel.pk]


def test_a_lost_worker_leaves_the_edit_to_another(channel, ask, slack, bob, later):
    interrupt = ask()
    send_all()
    approve(interrupt, bob)
    lost = claim_edit(channel_id=channel.pk)
    send_all()
    assert slack.edits() == []

    later(seconds=91)
    send_all()

    assert len(slack.edits()) == 1
    assert not record_edit(message=lost, result=SendResult())


def test_an_edit_waits_for_no_pause_between_messages(channel, ask, slack, bob):
    interrupt = ask()
    send_all()
    assert reread(channel).next_try_at is not None
    approve(interrupt, bob)

    send_all()

    assert len(slack.edits()) == 1


def test_an_edit_that_slack_cannot_take_now_comes_later(channel, ask, slack, bob, later):
    interrupt = ask()
    send_all()
    approve(interrupt, bob)
    slack.error, slack.headers = "ratelimited", {"Retry-After": "30"}
    send_all()
    later(seconds=29)
    send_all()
    assert len(slack.edits()) == 1

    slack.error = ""
    later(seconds=31)
    send_all()

    assert len(slack.edits()) == 2
    assert reread(channel).failures == 0


def test_an_edit_that_slack_refuses_is_given_up(channel, ask, slack, bob):
    interrupt = ask()
    send_all()
    slack.messages.clear()
    approve(interrupt, bob)

    send_all()
    send_all()

    assert len(slack.edits()) == 1
    assert reread(channel).refusals == 0
    assert channels_with_due_edits() == []


def test_a_chat_that_is_off_or_removed_gets_no_edits(channel, ask, slack, bob):
    interrupt = ask()
    send_all()
    approve(interrupt, bob)
    switch_chat(channel_id=channel.pk, is_on=False, actor=SEED)
    send_all()
    remove_chat(channel_id=channel.pk, actor=SEED)
    send_all()

    assert slack.edits() == []


@pytest.mark.parametrize(
    ("error", "status"),
    [
        *((name, "failed") for name in ("invalid_auth", "channel_not_found", "not_in_channel")),
        *((name, "pending") for name in ("ratelimited", "internal_error", "429")),
    ],
)
def test_errors_of_slack_are_refusals_or_temporary(channel, ask, slack, error, status):
    ask()
    slack.error = error

    send_all()

    assert Notification.objects.get().status == status
    assert reread(channel).answer == error


def test_a_discord_message_is_edited_in_its_thread(world, ask, bob, settings):
    settings.PRIVATE_WEBHOOK_HOSTS = frozenset({"127.0.0.1"})
    with run_chat_server() as discord:
        discord.answer = json.dumps({"content": "x" * 2_000, "id": "123456789"}).encode()
        add_team_chat(world, f"{discord.url}?thread_id=77", kind="discord")
        interrupt = ask()
        send_all()
        approve(interrupt, bob)
        send_all()
        send_all()

    path = "/services/T0/B0/very-secret"
    assert discord.calls == [
        ("POST", f"{path}?thread_id=77&wait=true"),
        ("PATCH", f"{path}/messages/123456789?thread_id=77"),
    ]
    assert discord.bodies[1]["content"] == "A request of rehearsal is closed"
    assert "Bob approved" in texts_of(discord.bodies[1])


@pytest.mark.parametrize("answer", [b"", b"[]", b'{"id": 5}', b'{"id": "../x"}', b'{"id": "1/2"}'])
def test_a_discord_message_without_an_id_is_not_edited(world, ask, bob, settings, answer):
    settings.PRIVATE_WEBHOOK_HOSTS = frozenset({"127.0.0.1"})
    with run_chat_server() as discord:
        discord.answer = answer
        add_team_chat(world, discord.url, kind="discord")
        interrupt = ask()
        send_all()
        approve(interrupt, bob)
        send_all()

    assert [method for method, _ in discord.calls] == ["POST"]


def test_slack_webhooks_are_not_edited(world, ask, bob, settings):
    settings.PRIVATE_WEBHOOK_HOSTS = frozenset({"127.0.0.1"})
    with run_chat_server() as chat:
        add_team_chat(world, chat.url)
        interrupt = ask()
        send_all()
        approve(interrupt, bob)
        send_all()

    assert len(chat.bodies) == 1
    assert Channel.objects.get().failures == 0
