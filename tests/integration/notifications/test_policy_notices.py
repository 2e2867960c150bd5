"""Notices for administrators that nobody can switch off: overrides, policies, weaker settings."""

from dataclasses import replace

import pytest
from django.core import mail

from inbox.actions.decisions.decide import decide
from inbox.actions.decisions.withdrawals import withdraw_decision
from inbox.actions.notifications.expansion import expand_announcements
from inbox.actions.notifications.subscriptions import send_test, subscribe, unsubscribe
from inbox.actions.people.groups import add_to_group, create_group
from inbox.actions.people.members import change_role, change_team
from inbox.actions.policies.installation import publish_installation_policy
from inbox.models import Channel, Notification, Team, User
from inbox.platform.clock import database_now
from inbox.queries.people.api_keys import actor_of_user
from inbox.rules.decisions.gate import Entrance
from inbox.rules.errors import SecondAdministratorRequired
from inbox.rules.people.access import SEED, Role
from inbox.rules.runs.states import EntryStatus
from tests.support.notifications.subscribed import (
    EVERY_EVENT,
    confirm_address,
    send_all,
    subscribe_person,
)
from tests.support.policies.published import administrator, publish, rule, tool_is
from tests.support.steps import approve, open_interrupts, start

TWO = {"slots": [{"role": "reviewer"}, {"role": "reviewer"}]}


@pytest.fixture
def erin(world):
    actor = administrator(world)
    confirm_address(actor, "erin@example.com")
    return actor


@pytest.fixture
def override(world, bob):
    """Bob approves an e-mail despite the policy, for a reason."""
    team_id = world.team.pk
    create_group(team_id=team_id, name="leads", actor=SEED)
    add_to_group(team_id=team_id, name="leads", user_id=bob.user_id, actor=SEED)
    change_team(team_id=team_id, override_group="leads", actor=SEED)

    def approve(reason="The shop is down."):
        (interrupt,) = open_interrupts(start(world, "rehearse:tool_call"))
        decide(
            interrupt_id=interrupt.pk,
            status=EntryStatus.RESOLVED,
            payload={"approved": True},
            view_digest=interrupt.shown_digest,
            actor=replace(bob, signed_in_at=database_now()),
            entrance=Entrance.OVERRIDE_REST,
            override_reason=reason,
        )
        return interrupt

    return approve


def end_pauses():
    """Let the next mail go at once."""
    Channel.objects.update(next_try_at=None)


def test_administrators_are_told_of_an_override(world, erin, bob, override, settings):
    settings.PUBLIC_URL = "https://signoff.example.com"
    publish(world, rule("two", "ask", tool_is("send_email"), require=TWO))
    send_all()
    mail.outbox.clear()

    interrupt = override()
    end_pauses()
    send_all()

    (message,) = mail.outbox
    assert message.to == ["erin@example.com"]
    assert message.subject == "A request was approved despite the policy of Tests"
    assert f"https://signoff.example.com/interrupts/{interrupt.pk}/" in message.body
    assert f"Approved by: {bob.label}" in message.body
    assert "Reason: The shop is down." in message.body


def test_administrators_are_told_of_a_published_policy(world, erin, settings):
    settings.PUBLIC_URL = "https://signoff.example.com"
    version = publish(world, rule("two", "ask", tool_is("send_email"), require=TWO))

    send_all()

    (message,) = mail.outbox
    assert message.subject == "A policy of Tests was published"
    assert f"https://signoff.example.com/teams/tests/policy/{version.number}/" in message.body


def test_nobody_can_unsubscribe_from_the_notices(world, erin, settings):
    settings.PUBLIC_URL = "https://signoff.example.com"
    subscribe(events=EVERY_EVENT, mode="at_once", minutes=5, language="en", actor=erin)
    unsubscribe(actor=erin)
    publish(world, rule("two", "ask", tool_is("send_email"), require=TWO))

    send_all()

    (message,) = mail.outbox
    assert "List-Unsubscribe" not in message.extra_headers
    assert "/unsubscribe/" not in message.body
    assert "nobody can switch off" in message.body


def test_only_administrators_of_the_team_get_them(world, erin, bob, carol):
    for actor in (bob, carol):
        subscribe_person(actor)

    publish(world, rule("two", "ask", tool_is("send_email"), require=TWO))
    send_all()

    assert [message.to for message in mail.outbox] == [["erin@example.com"]]


def test_a_former_administrator_gets_none(world, erin):
    publish(world, rule("two", "ask", tool_is("send_email"), require=TWO))
    administrator(world, "frank")
    change_role(team_id=world.team.pk, user_id=erin.user_id, role=Role.VIEWER, actor=SEED)

    send_all()

    assert mail.outbox == []


def test_all_administrators_are_told_of_a_policy_of_the_installation(world, erin, carol):
    root = User.objects.create_superuser("root", password="root-password")
    for actor, address in ((carol, "carol@example.com"), (actor_of_user(root), "root@example.com")):
        confirm_address(actor, address)

    publish_installation_policy(
        body={"rules": [rule("stop", "deny", tool_is("drop_table"))]}, actor=actor_of_user(root)
    )
    send_all()

    assert sorted(message.to[0] for message in mail.outbox) == [
        "carol@example.com",
        "erin@example.com",
        "root@example.com",
    ]
    assert {message.subject for message in mail.outbox} == {
        "A policy of the installation was published"
    }


def test_a_hostile_reason_stays_on_its_line(world, erin, override):
    publish(world, rule("two", "ask", tool_is("send_email"), require=TWO))
    send_all()
    mail.outbox.clear()
    override("a\n\nSubject: b\u202e <script>alert(1)</script>")
    end_pauses()

    send_all()

    (message,) = mail.outbox
    assert "Reason: a Subject: b" in message.body
    assert "\u202e" not in message.body
    assert "<script>" not in message.alternatives[0][0]


def test_an_override_that_was_taken_back_names_its_own_author(
    world, erin, bob, dora, override, later
):
    change_team(team_id=world.team.pk, grace_seconds=300, actor=SEED)
    interrupt = override()
    withdraw_decision(interrupt_id=interrupt.pk, actor=bob)
    later(seconds=1)
    approve(interrupt, dora)

    send_all()

    (message,) = mail.outbox
    assert f"Approved by: {bob.label}" in message.body
    assert "Reason: The shop is down." in message.body
    assert "Since then: The approval was taken back." in message.body


def test_notices_do_not_wait_for_an_address_that_was_switched_off(world, erin):
    publish(world, rule("one", "ask", tool_is("send_email")))
    send_all()
    Channel.objects.update(disabled_at=database_now())
    publish(world, rule("two", "ask", tool_is("send_email"), require=TWO))

    send_all()

    last = Notification.objects.latest("pk")
    assert (last.status, last.why) == ("dropped", "disabled")
    send_test(language="en", actor=erin)
    assert Channel.objects.get().disabled_at is None
    send_all()
    assert mail.outbox[-1].subject == "Test of notifications by Signoff"


def test_many_notices_take_no_query_for_each_administrator(
    world, erin, django_assert_max_num_queries
):
    publish(world, rule("one", "ask", tool_is("send_email")))
    with django_assert_max_num_queries(14):
        expand_announcements()
    publish(world, rule("two", "ask", tool_is("send_email"), require=TWO))
    for number in range(20):
        confirm_address(administrator(world, f"admin{number}"))

    with django_assert_max_num_queries(14):
        expand_announcements()

    assert Notification.objects.filter(announcement__kind="policy_published").count() == 22


@pytest.fixture
def frank(world):
    actor = replace(administrator(world, "frank"), signed_in_at=database_now())
    confirm_address(actor, "frank@example.com")
    return actor


def test_a_proposal_and_the_weaker_setting_are_told(world, erin, frank, settings):
    settings.PUBLIC_URL = "https://signoff.example.com"
    Team.objects.filter(pk=world.team.pk).update(two_administrators=True, self_approval=False)
    for _ in range(2):
        with pytest.raises(SecondAdministratorRequired):
            change_team(team_id=world.team.pk, self_approval=True, actor=erin)

    send_all()

    assert sorted(message.to[0] for message in mail.outbox) == [
        "erin@example.com",
        "frank@example.com",
    ]
    message = mail.outbox[0]
    assert message.subject == "A weaker setting of Tests is proposed"
    assert "Requesters may approve the tool calls of their own runs" in message.body
    assert "Before: No" in message.body
    assert "New value: Yes" in message.body
    assert f"Proposed by: {erin.label}" in message.body
    assert "https://signoff.example.com/teams/tests/" in message.body

    mail.outbox.clear()
    end_pauses()
    change_team(team_id=world.team.pk, self_approval=True, actor=frank)
    send_all()

    assert {message.subject for message in mail.outbox} == {"A setting of Tests was weakened"}
    assert f"Changed by: {frank.label}" in mail.outbox[0].body


@pytest.mark.parametrize(
    ("setting", "strict", "weak", "line"),
    [
        ("self_approval", False, None, "New value: Until two people can decide"),
        ("two_administrators", True, False, "New value: No"),
        ("inbox_only", True, False, "Before: Yes"),
        ("requires_view_digest", True, False, "Before: Yes"),
        ("override_group", "", "friends", "Before: Nobody"),
        ("required_sign_in", "provider", "any", "Before: At an identity provider"),
    ],
)
def test_each_weaker_setting_is_told_where_one_suffices(world, erin, setting, strict, weak, line):
    Team.objects.filter(pk=world.team.pk).update(**{setting: strict})

    change_team(team_id=world.team.pk, actor=SEED, **{setting: weak, "grace_seconds": 7})
    send_all()

    (message,) = mail.outbox
    assert message.subject == "A setting of Tests was weakened"
    assert line in message.body


def test_a_stricter_setting_is_not_told(world, erin):
    change_team(team_id=world.team.pk, inbox_only=True, self_approval=False, actor=SEED)

    send_all()

    assert mail.outbox == []


def test_several_weaker_settings_are_one_mail(world, erin):
    Team.objects.filter(pk=world.team.pk).update(inbox_only=True, self_approval=False)

    change_team(team_id=world.team.pk, inbox_only=False, self_approval=True, actor=SEED)
    send_all()

    (message,) = mail.outbox
    assert message.subject == "2 notices for administrators"
