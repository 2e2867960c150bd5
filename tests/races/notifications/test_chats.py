"""Presses of buttons in a chat at the same moment, and workers that edit one message."""

import time
from functools import partial

import pytest
from django.test import Client

from inbox.actions.notifications import edits
from inbox.actions.notifications.chat_accounts import (
    approve_by_chat,
    issue_link_code,
    link_chat_account,
    unlink_chat_account,
)
from inbox.actions.notifications.edits import claim_edit
from inbox.models import AuditEntry, ChatIdentity, ChatLinkCode, Decision, Notification, Run
from inbox.rules.errors import AlreadyDecided, InvalidValue, Unauthenticated
from tests.support.notifications.slack_server import (
    BOB_IN_SLACK,
    WORKSPACE,
    add_slack_app,
    form_of,
    press,
    run_slack_server,
    signed,
)
from tests.support.notifications.subscribed import send_all
from tests.support.policies.published import publish, rule, tool_is
from tests.support.races.concurrently import Meeting, at_once, failures, rounds
from tests.support.steps import approve, open_interrupts, start

pytestmark = pytest.mark.services


@pytest.fixture
def slack(settings):
    settings.PUBLIC_URL = "https://signoff.example.com"
    with run_slack_server(settings) as state:
        yield state


@pytest.fixture
def channel(committed_world, slack):
    via = {"via": ["web", "rest", "chat"]}
    publish(committed_world, rule("mail", "ask", tool_is("send_email"), require=via))
    return add_slack_app(committed_world.team.pk)


@pytest.fixture
def ask(committed_world):
    def open_request():
        (interrupt,) = open_interrupts(start(committed_world, "rehearse:tool_call"))
        return interrupt

    return open_request


def connect(world, actor, external_id=BOB_IN_SLACK):
    code = issue_code(world, external_id)
    return link_chat_account(code=code, account=external_id, actor=actor)


def issue_code(world, external_id):
    account = {"workspace": WORKSPACE, "external_id": external_id, "name": ""}
    return issue_link_code(team_id=world.team.pk, **account)


def pressed(world, interrupt, by=BOB_IN_SLACK):
    return partial(
        approve_by_chat,
        team_id=world.team.pk,
        workspace=WORKSPACE,
        external_id=by,
        interrupt_id=interrupt.pk,
        view_digest=interrupt.shown_digest,
    )


def test_presses_of_one_person_decide_once(committed_world, channel, ask, race_bob):
    connect(committed_world, race_bob)
    for _ in range(rounds(short=10, long=200)):
        interrupt = ask()

        outcomes = at_once([pressed(committed_world, interrupt)] * 4)

        assert failures(outcomes) == []
        assert len({decision.pk for decision in outcomes}) == 1
        assert Run.objects.filter(resumes=interrupt.run_id).count() == 1


def test_presses_of_two_people_have_one_winner(committed_world, channel, ask, race_bob, erin):
    connect(committed_world, race_bob)
    connect(committed_world, erin, "U0ERIN")
    for _ in range(rounds(short=10, long=200)):
        interrupt = ask()
        presses = [pressed(committed_world, interrupt, by) for by in (BOB_IN_SLACK, "U0ERIN")]

        (late,) = failures(at_once(presses))

        assert isinstance(late, AlreadyDecided)
        assert Decision.objects.filter(interrupt=interrupt).count() == 1


def test_a_press_and_an_answer_have_one_winner(committed_world, channel, ask, race_bob, erin):
    connect(committed_world, race_bob)
    for _ in range(rounds(short=10, long=200)):
        interrupt = ask()

        outcomes = at_once([pressed(committed_world, interrupt), partial(approve, interrupt, erin)])

        (late,) = failures(outcomes)
        assert isinstance(late, AlreadyDecided)
        assert Run.objects.filter(resumes=interrupt.run_id).count() == 1


def test_a_press_during_a_disconnection_decides_before_or_not_at_all(
    committed_world, channel, ask, race_bob
):
    for _ in range(rounds(short=10, long=200)):
        identity = connect(committed_world, race_bob)
        interrupt = ask()
        unlink = partial(unlink_chat_account, identity_id=identity.pk, actor=race_bob)

        outcomes = at_once([pressed(committed_world, interrupt), unlink])

        late = failures(outcomes)
        decided = Decision.objects.filter(interrupt=interrupt).exists()
        assert decided is not bool(late)
        assert all(isinstance(error, Unauthenticated) or "CHAT" in error.code for error in late)


def test_a_code_connects_one_person(committed_world, race_bob, erin):
    for number in range(rounds(short=10, long=200)):
        code = issue_code(committed_world, account := f"U0{number:04}")
        link = partial(link_chat_account, code=code, account=account)
        calls = [partial(link, actor=actor) for actor in (race_bob, erin)]

        (late,) = failures(at_once(calls))

        assert isinstance(late, InvalidValue)
    assert ChatIdentity.objects.count() == AuditEntry.objects.filter(action="chat.linked").count()


def test_presses_of_a_stranger_leave_one_code(committed_world):
    issue = partial(issue_code, committed_world, "U0NEW")
    for _ in range(rounds(short=10, long=200)):
        codes = at_once([issue] * 4)

        assert failures(codes) == []
        assert ChatLinkCode.objects.count() == 1


def test_two_workers_claim_one_edit(committed_world, channel, ask, race_bob, slack):
    for _ in range(rounds(short=5, long=100)):
        interrupt = ask()
        Notification.objects.update(displayed_state="")
        type(channel).objects.update(lease_until=None, next_try_at=None)
        send_all()
        approve(interrupt, race_bob)

        outcomes = at_once([partial(claim_edit, channel_id=channel.pk)] * 4)

        assert failures(outcomes) == []
        assert len([edit for edit in outcomes if edit]) == 1


def test_without_the_lock_two_workers_claim_the_same_edit(
    committed_world, channel, ask, race_bob, slack, without_the_lock, monkeypatch
):
    interrupt = ask()
    send_all()
    approve(interrupt, race_bob)
    monkeypatch.setattr(edits, "_rows_of", Meeting(2).before(edits._rows_of))

    outcomes = at_once([partial(claim_edit, channel_id=channel.pk)] * 2)

    assert len([edit for edit in outcomes if edit]) == 2


def test_requests_of_slack_at_once_are_all_answered(committed_world, channel, ask, race_bob, slack):
    connect(committed_world, race_bob)
    interrupts = [ask() for _ in range(rounds(short=10, long=100))]
    seconds = []

    def send(interrupt):
        value = f"{interrupt.pk} {interrupt.shown_digest}"
        body = form_of(press({"value": value}, response_url=slack.answer_url))
        began = time.monotonic()
        answer = Client().post(
            f"/hooks/slack/{channel.pk}",
            body,
            "application/x-www-form-urlencoded",
            headers=signed(body),
        )
        seconds.append(time.monotonic() - began)
        return answer.status_code

    outcomes = at_once([partial(send, interrupt) for interrupt in interrupts])

    assert set(outcomes) == {200}
    assert Decision.objects.count() == len(interrupts)
    print(f"presses: slowest of {len(seconds)} at once {max(seconds):.3f} s")
