"""Who runs the installation: where they may do what, and whom they let sign in."""

import pytest
from django.contrib.sessions.models import Session
from django.core.management import CommandError, call_command
from django.test import Client

from inbox.actions.people.accounts import set_active, set_superuser
from inbox.actions.people.members import change_team
from inbox.models import AuditEntry, Membership, User
from inbox.models.people.sessions import SessionStore
from inbox.queries.people.access import permissions_in
from inbox.queries.people.api_keys import actor_of_superuser
from inbox.rules.audit.audit_entry import SYSTEM_CHAIN
from inbox.rules.errors import Forbidden, LastAdmin, NotFound
from inbox.rules.people.access import SEED, Permission


@pytest.fixture
def sue(world):
    return User.objects.create_superuser("sue", password="sue-password")


@pytest.fixture
def running(sue):
    """Sue in the admin."""
    return actor_of_superuser(sue, SessionStore())


def test_a_superuser_is_a_stranger_to_teams_but_in_the_admin(world, sue, running):
    assert permissions_in(world.actor(sue), world.team.pk) == frozenset()
    assert permissions_in(running, world.team.pk) == frozenset(Permission)


def test_who_is_no_superuser_any_more_is_a_stranger_in_the_admin_too(world, sue, running):
    set_superuser(username="bob", is_superuser=True, actor=SEED)
    set_superuser(username="sue", is_superuser=False, actor=SEED)

    with pytest.raises(NotFound):
        change_team(team_id=world.team.pk, name="Mine", actor=running)


def test_only_superusers_switch_people_off(world, carol, bob):
    for actor in (carol, bob):
        with pytest.raises(Forbidden):
            set_active(user_id=world.alice.pk, is_active=False, actor=actor)


def test_deactivating_a_user_ends_sessions_and_is_audited_in_each_team(world, carol, running):
    Membership.objects.create(team_id=world.team.pk, user=world.carol, role="viewer")
    Client().post("/login/", {"username": "carol", "password": "carol-password"})
    assert Session.objects.count() == 1

    for _ in range(2):
        set_active(user_id=world.carol.pk, is_active=False, actor=running)

    assert Session.objects.count() == 0
    entries = AuditEntry.objects.filter(action="person.deactivated")
    assert {entry.team_id for entry in entries} == set(
        Membership.objects.filter(user=world.carol).values_list("team", flat=True)
    )
    assert [entry.content["detail"] for entry in entries] == [{"username": "carol"}] * 2


def test_what_happens_to_somebody_without_a_team_is_in_the_chain_of_none(running):
    User.objects.create_user("new")

    set_superuser(username="new", is_superuser=True, actor=running)

    entry = AuditEntry.objects.get(action="superuser.added")
    assert (entry.chain, entry.actor_id) == (SYSTEM_CHAIN, running.ident)


def test_the_last_superuser_stays(sue, running):
    with pytest.raises(LastAdmin):
        set_active(user_id=sue.pk, is_active=False, actor=running)
    with pytest.raises(LastAdmin):
        set_superuser(username="sue", is_superuser=False, actor=SEED)


def test_a_command_makes_superusers(world):
    call_command("set_superuser", "bob")
    assert User.objects.get(username="bob").is_superuser

    with pytest.raises(CommandError, match="at least one superuser"):
        call_command("set_superuser", "bob", "--remove")
    with pytest.raises(CommandError):
        call_command("set_superuser", "nobody")
