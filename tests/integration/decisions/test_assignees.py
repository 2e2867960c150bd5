"""Assigning a request, and mentions in comments."""

import pytest

from inbox.actions.decisions.assignees import assign_interrupt, unassign_interrupt
from inbox.actions.decisions.claims_and_comments import add_comment
from inbox.actions.notifications.expansion import expand_announcements
from inbox.actions.people.members import change_role, remove_member
from inbox.models import Announcement, Assignee, Notification
from inbox.queries.decisions.assignees import possible_assignees
from inbox.rules import errors
from inbox.rules.people.access import SEED, Role
from tests.support.notifications.subscribed import subscribe_person
from tests.support.steps import approve, audit_actions, open_interrupts, start


@pytest.fixture
def interrupt(world):
    return open_interrupts(start(world, "rehearse:tool_call"))[0]


def test_assigning_is_told_recorded_and_leaves_others_free(interrupt, bob, dora):
    assign(interrupt, dora.user_id, bob)

    assert Assignee.objects.get().user_id == dora.user_id
    assert "interrupt.assigned" in audit_actions(interrupt.thread)
    assert announced("assigned") == [dora.user_id]
    approve(interrupt, bob)


def test_assigning_to_the_same_person_again_changes_nothing(interrupt, bob, dora):
    assign(interrupt, dora.user_id, bob)

    assign(interrupt, dora.user_id, bob)

    assert audit_actions(interrupt.thread).count("interrupt.assigned") == 1
    assert announced("assigned") == [dora.user_id]


def test_assigning_to_oneself_tells_nobody(interrupt, bob):
    assign(interrupt, bob.user_id, bob)

    assert announced("assigned") == []


def test_only_a_member_who_may_decide_can_be_assigned(interrupt, world, bob):
    for user_id in (world.alice.pk, world.carol.pk, 0, 10**30):
        with pytest.raises(errors.InvalidValue):
            assign(interrupt, user_id, bob)

    assert not Assignee.objects.exists()


def test_only_those_who_may_decide_can_assign(interrupt, bob, vera, carol):
    with pytest.raises(errors.Forbidden):
        assign(interrupt, bob.user_id, vera)
    with pytest.raises(errors.NotFound):
        assign(interrupt, bob.user_id, carol)


def test_closed_request_cannot_be_assigned(interrupt, bob, dora):
    approve(interrupt, bob)

    with pytest.raises(errors.AlreadyDecided):
        assign(interrupt, dora.user_id, bob)


def test_assigning_to_nobody_is_recorded_once(interrupt, bob, dora):
    assign(interrupt, dora.user_id, bob)

    for _ in range(2):
        unassign_interrupt(interrupt_id=interrupt.pk, actor=bob)

    assert not Assignee.objects.exists()
    assert audit_actions(interrupt.thread).count("interrupt.unassigned") == 1


@pytest.mark.parametrize("loses", ["membership", "role"])
def test_person_who_may_no_longer_decide_is_no_longer_assigned(interrupt, world, bob, dora, loses):
    assign(interrupt, dora.user_id, bob)

    if loses == "membership":
        remove_member(team_id=world.team.pk, user_id=dora.user_id, actor=SEED)
    else:
        change_role(team_id=world.team.pk, user_id=dora.user_id, role=Role.VIEWER, actor=SEED)

    assert not Assignee.objects.exists()


def test_people_to_assign_are_those_who_may_decide(interrupt, world, dora, vera):
    names = [user.get_username() for user in possible_assignees(interrupt, interrupt.created_at)]

    assert names == ["bob", "dora"]


def test_assignee_is_notified_on_their_own_channels_only(interrupt, bob, dora):
    for actor in (bob, dora):
        subscribe_person(actor, events=("assigned",))

    assign(interrupt, dora.user_id, bob)
    expand_announcements()

    rows = Notification.objects.filter(announcement__kind="assigned")
    assert [row.channel.user_id for row in rows] == [dora.user_id]


def test_comment_mentions_members_of_the_team_only(interrupt, world, bob, dora, vera):
    comment(interrupt, bob, "Ask @dora, @vera. Not @carol, nor me@dora or @nobody, @bob neither.")

    assert sorted(announced("mentioned")) == sorted([dora.user_id, vera.user_id])


def test_a_person_is_told_once_of_a_comment(interrupt, bob, dora):
    comment(interrupt, bob, "@dora @dora @dora.")

    assert announced("mentioned") == [dora.user_id]


def assign(interrupt, user_id, actor):
    return assign_interrupt(interrupt_id=interrupt.pk, user_id=user_id, actor=actor)


def comment(interrupt, actor, text):
    add_comment(interrupt_id=interrupt.pk, actor=actor, text=text)


def announced(kind):
    rows = Announcement.objects.filter(kind=kind).order_by("pk")
    return list(rows.values_list("person", flat=True))
