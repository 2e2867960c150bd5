"""Administrators are told once of open requests that too few people may approve."""

import pytest
from django.core import mail

from inbox.actions.notifications.announcements import announce_undecidable
from inbox.actions.people.groups import add_to_group, create_group, remove_from_group
from inbox.actions.people.members import change_role
from inbox.models import Announcement, Channel
from inbox.rules.people.access import SEED, Role
from tests.support.notifications.subscribed import confirm_address, send_all
from tests.support.policies.published import administrator, publish, rule, tool_is
from tests.support.steps import approve, open_interrupts, start

SUBJECT = "Nobody can approve a request of Tests"


@pytest.fixture
def erin(world):
    actor = administrator(world)
    confirm_address(actor, "erin@example.com")
    return actor


@pytest.fixture
def waiting(world, erin):
    """A request that one of finance has to approve, where Bob is finance."""
    create_group(team_id=world.team.pk, name="finance", actor=SEED)
    add_to_group(team_id=world.team.pk, name="finance", user_id=world.bob.pk, actor=SEED)
    publish(
        world,
        rule("money", "ask", tool_is("send_email"), require={"slots": [{"group": "finance"}]}),
    )
    (interrupt,) = open_interrupts(start(world, "rehearse:tool_call"))
    send_all()
    mail.outbox.clear()
    Channel.objects.update(next_try_at=None)  # the next mail goes at once
    return interrupt


def leave_finance(world):
    remove_from_group(team_id=world.team.pk, name="finance", user_id=world.bob.pk, actor=SEED)


def lose_the_role(world):
    change_role(team_id=world.team.pk, user_id=world.bob.pk, role=Role.VIEWER, actor=SEED)


def deactivate(world):
    world.bob.is_active = False
    world.bob.save(update_fields=["is_active"])


def test_nobody_is_told_while_people_can_decide(waiting):
    assert announce_undecidable() == 0


@pytest.mark.parametrize("go", [leave_finance, lose_the_role, deactivate])
def test_administrators_are_told_when_the_last_person_is_gone(world, waiting, go, settings):
    settings.PUBLIC_URL = "https://signoff.example.com"
    go(world)

    assert announce_undecidable() == 1
    send_all()

    (message,) = mail.outbox
    assert (message.to, message.subject) == (["erin@example.com"], SUBJECT)
    assert f"https://signoff.example.com/interrupts/{waiting.pk}/" in message.body
    assert "Too few people of the team may approve it" in message.body


def test_a_request_is_told_once(world, waiting):
    leave_finance(world)

    assert [announce_undecidable(), announce_undecidable()] == [1, 0]
    assert Announcement.objects.filter(kind="undecidable").count() == 1


def test_a_request_that_no_one_could_ever_decide_is_told_too(world, erin):
    many = {"slots": [{"role": "reviewer"}] * 5}
    publish(world, rule("five", "ask", tool_is("send_email"), require=many))
    start(world, "rehearse:tool_call")

    assert announce_undecidable() == 1


def test_requests_that_any_reviewer_decides_and_closed_ones_are_left_out(world, waiting, bob):
    approve(waiting, bob)
    leave_finance(world)
    start(world, "rehearse:input")

    assert announce_undecidable() == 0
