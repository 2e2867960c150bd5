"""Teams: who makes them, who belongs to them in which role, and who cannot leave."""

import pytest
from django.test import Client

from inbox.actions.people.api_keys import make_key
from inbox.actions.people.members import (
    change_role,
    change_team,
    make_team,
    remove_member,
)
from inbox.models import Membership, Team
from inbox.queries.people.api_keys import actor_of_key, actor_of_user
from inbox.queries.people.live_access import LiveAccess, live_access_of
from inbox.queries.people.members import members_of, team_access, teams_with_access
from inbox.rules.errors import (
    AddressTaken,
    Forbidden,
    InvalidValue,
    LastAdmin,
    MoreThanOwn,
    NotFound,
)
from inbox.rules.people.access import SEED, Permission, Role
from tests.support.audit.entries import audited, make_admin


@pytest.fixture
def ana(world):
    return make_admin(world)


def role_of(world, user):
    return Membership.objects.get(team=world.team, user=user).role


def set_role(world, user, role, actor):
    return change_role(team_id=world.team.pk, user_id=user.pk, role=role, actor=actor)


def remove(world, user_id, actor):
    remove_member(team_id=world.team.pk, user_id=user_id, actor=actor)


# -- teams ----------------------------------------------------------------------------------------


def test_a_superuser_makes_a_team_and_administers_it(world, ana):
    type(world.alice).objects.filter(pk=ana.user_id).update(is_superuser=True)

    team = make_team(slug="ops", name="Operations", actor=ana)

    assert team_access(ana, "ops").role is Role.ADMIN
    assert Team.objects.get(slug="ops") == team
    assert [action for action, _ in audited("")][-2:] == ["team.created", "member.added"]


@pytest.mark.parametrize("who", ["ana", "alice", "carol", "robot"])
def test_nobody_else_makes_teams(world, ana, request, who):
    with pytest.raises(Forbidden):
        make_team(slug="ops", name="Operations", actor=request.getfixturevalue(who))


def test_an_address_belongs_to_one_team(world):
    with pytest.raises(AddressTaken):
        make_team(slug="tests", name="Tests", actor=SEED)


@pytest.mark.parametrize(
    ("slug", "name", "field"),
    [("", "Ops", "slug"), ("Ops", "Ops", "slug"), ("ö", "Ops", "slug"), ("ops", " ", "name")],
)
def test_what_is_no_team_is_said_by_field(db, slug, name, field):
    with pytest.raises(InvalidValue) as refused:
        make_team(slug=slug, name=name, actor=SEED)

    assert list(refused.value.detail["problems"]) == [field]


def test_a_team_is_renamed_by_its_administrators(world, ana, bob, carol):
    change_team(team_id=world.team.pk, name="Testers", actor=ana)
    change_team(team_id=world.team.pk, name="Testers", actor=ana)

    assert Team.objects.get(pk=world.team.pk).name == "Testers"
    assert len(audited("team.renamed")) == 1
    for who, refused in ((bob, Forbidden), (carol, NotFound)):
        with pytest.raises(refused):
            change_team(team_id=world.team.pk, name="Ours", actor=who)


# -- members --------------------------------------------------------------------------------------


def test_members_see_who_else_is_there_and_strangers_find_no_team(world, alice, carol):
    names = [row.user.username for row in members_of(alice, world.team.pk)]

    assert names == ["bob", "alice"]
    assert [access.team.slug for access in teams_with_access(alice)] == ["tests"]
    for look in (lambda: members_of(carol, world.team.pk), lambda: team_access(carol, "tests")):
        with pytest.raises(NotFound):
            look()


def test_an_administrator_gives_another_role(world, ana):
    set_role(world, world.alice, Role.REVIEWER, ana)
    set_role(world, world.alice, Role.REVIEWER, ana)

    assert role_of(world, world.alice) == "reviewer"
    assert [detail["role"] for _, detail in audited("member.role_changed")] == ["reviewer"]


def test_who_does_not_administer_changes_nobody(world, ana, bob, carol):
    for who, refused in ((bob, Forbidden), (carol, NotFound)):
        with pytest.raises(refused):
            set_role(world, world.alice, Role.ADMIN, who)
        with pytest.raises(refused):
            remove(world, world.alice.pk, who)


def test_a_stranger_is_no_member_to_be_changed(world, ana):
    with pytest.raises(NotFound):
        set_role(world, world.carol, Role.VIEWER, ana)
    with pytest.raises(NotFound):
        remove(world, world.carol.pk, ana)


def test_a_machine_gives_nobody_a_role_that_may_do_more_than_itself(world):
    _, token = make_key(
        team_id=world.team.pk, name="k", scopes={Permission.ADMIN, Permission.READ}, actor=SEED
    )
    machine = actor_of_key(token)

    with pytest.raises(MoreThanOwn):
        set_role(world, world.alice, Role.REVIEWER, machine)
    set_role(world, world.bob, Role.VIEWER, machine)


def test_the_last_administrator_is_neither_lowered_nor_removed(world, ana):
    user = world.bob
    for attempt in (
        lambda: change_role(
            team_id=world.team.pk, user_id=ana.user_id, role=Role.VIEWER, actor=ana
        ),
        lambda: remove(world, ana.user_id, ana),
    ):
        with pytest.raises(LastAdmin):
            attempt()

    set_role(world, user, Role.ADMIN, ana)
    remove(world, ana.user_id, ana)
    assert [action for action, _ in audited("member.left")] == ["member.left"]


def test_an_administrator_who_cannot_sign_in_counts_for_nobody(world, ana):
    set_role(world, world.bob, Role.ADMIN, ana)
    type(world.bob).objects.filter(pk=world.bob.pk).update(is_active=False)

    with pytest.raises(LastAdmin):
        remove(world, ana.user_id, ana)


def test_everybody_may_leave_and_is_a_stranger_then(world, bob):
    client = Client()
    client.force_login(world.bob)
    actor = actor_of_user(world.bob, client.session)
    assert live_access_of([actor])[0].reads == {str(world.team.pk)}

    remove(world, world.bob.pk, bob)

    assert live_access_of([actor]) == [LiveAccess()]
    with pytest.raises(NotFound):
        team_access(bob, "tests")
