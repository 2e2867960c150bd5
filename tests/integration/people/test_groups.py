"""Groups of a team: administrators change them, and leaving the team leaves them."""

import json

import pytest

from inbox.actions.people.groups import (
    add_to_group,
    create_group,
    delete_group,
    remove_from_group,
)
from inbox.actions.people.members import remove_member
from inbox.models import Group, GroupMember
from inbox.queries.people.groups import group_names_of, groups_page
from inbox.rules.errors import AddressTaken, Forbidden, InvalidValue, NotFound
from tests.support.audit.entries import audited, make_admin
from tests.support.policies.published import publish, rule, tool_is
from tests.support.steps import start


@pytest.fixture
def ana(world):
    return make_admin(world)


@pytest.fixture
def finance(world, ana):
    return create_group(team_id=world.team.pk, name="finance", actor=ana)


def add(world, user, actor, name="finance"):
    add_to_group(team_id=world.team.pk, name=name, user_id=user.pk, actor=actor)


def changes():
    return [
        (detail["group"], detail["change"], detail.get("username"))
        for _, detail in audited("group.changed")
    ]


def test_changes_of_a_group_are_audited(world, ana, finance):
    add(world, world.bob, ana)
    remove_from_group(team_id=world.team.pk, name="finance", user_id=world.bob.pk, actor=ana)
    delete_group(team_id=world.team.pk, name="finance", actor=ana)

    assert changes() == [
        ("finance", "created", None),
        ("finance", "added", "bob"),
        ("finance", "removed", "bob"),
        ("finance", "deleted", None),
    ]
    assert not Group.objects.exists()


def test_the_same_change_again_is_not_audited(world, ana, finance):
    for _ in range(2):
        add(world, world.bob, ana)
    for _ in range(2):
        remove_from_group(team_id=world.team.pk, name="finance", user_id=world.bob.pk, actor=ana)

    assert [change for _, change, _ in changes()] == ["created", "added", "removed"]


@pytest.mark.parametrize("who", ["alice", "bob", "robot"])
def test_only_administrators_change_groups(world, finance, request, who):
    actor = request.getfixturevalue(who)

    with pytest.raises(Forbidden):
        create_group(team_id=world.team.pk, name="leads", actor=actor)
    with pytest.raises(Forbidden):
        add(world, world.bob, actor)
    with pytest.raises(Forbidden):
        remove_from_group(team_id=world.team.pk, name="finance", user_id=world.bob.pk, actor=actor)
    with pytest.raises(Forbidden):
        delete_group(team_id=world.team.pk, name="finance", actor=actor)


def test_a_stranger_finds_no_groups(world, finance, carol):
    with pytest.raises(NotFound):
        groups_page(carol, world.team.pk)
    with pytest.raises(NotFound):
        add(world, world.carol, carol)


def test_only_members_of_the_team_join_a_group(world, ana, finance):
    with pytest.raises(NotFound):
        add(world, world.carol, ana)


@pytest.mark.parametrize("name", ["", "Finance", "-a", "a b", "a\n", "é", "a" * 65])
def test_a_name_that_rules_cannot_write_is_refused(world, ana, name):
    with pytest.raises(InvalidValue):
        create_group(team_id=world.team.pk, name=name, actor=ana)


def test_a_team_has_one_group_of_a_name(world, ana, finance):
    with pytest.raises(AddressTaken):
        create_group(team_id=world.team.pk, name="finance", actor=ana)


def test_leaving_the_team_leaves_its_groups(world, ana, bob, finance):
    add(world, world.bob, ana)

    remove_member(team_id=world.team.pk, user_id=world.bob.pk, actor=bob)

    assert group_names_of(world.team.pk, world.bob.pk) == ()
    assert not GroupMember.objects.exists()


def test_the_groups_of_the_requester_are_facts(world, ana, finance):
    add(world, world.alice, ana)
    in_finance = {"path": "/requester/groups", "op": "is", "value": "finance", "each": "any"}
    publish(world, rule("finance", "deny", tool_is("send_email"), in_finance))

    run = start(world, "rehearse:tool_call")

    body = json.loads(run.interrupts.get().ruling.body)
    assert (body["effect"], body["facts"]["requester"]["groups"]) == ("deny", ["finance"])
