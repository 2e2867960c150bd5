"""Directories that create, change and remove people at the same moment."""

from functools import partial

import pytest
from django.db import IntegrityError

from inbox.actions.conflicts import retry_on_conflict
from inbox.actions.directories import directories, directory_people
from inbox.actions.directories.directories import add_directory, revoke_directory
from inbox.actions.directories.directory_groups import add_group, change_group, map_group
from inbox.actions.directories.directory_people import add_person, change_person, remove_person
from inbox.actions.people.api_keys import make_key
from inbox.models import DirectoryUser, Membership, User
from inbox.queries.directories.directories import directory_actor
from inbox.queries.people.api_keys import actor_of_key, actor_of_user
from inbox.rules.directories.directory_people import PeopleGroup, Person
from inbox.rules.errors import RequestRejected, Unauthenticated, UsernameTaken
from inbox.rules.people.access import SEED, Permission, Role
from tests.support.audit.entries import make_admin
from tests.support.races.concurrently import (
    LONG_WAIT_SECONDS,
    Meeting,
    at_once,
    failures,
    rounds,
)


def directory(name):
    row, token = add_directory(name=name, actor=SEED)
    return row, directory_actor(f"Bearer {token}", "127.0.0.1")


def person(name="bea"):
    emails = [{"value": "bea@corp.example"}]
    return Person(name, profile={"emails": emails})


@pytest.mark.parametrize("number", range(rounds(short=5, long=50)))
@pytest.mark.parametrize("names", [("bea", "bea"), ("bea", "Bea"), ("bea", "wolf")])
def test_of_two_directories_that_create_a_person_one_does(committed_world, number, names):
    actors = [directory(name)[1] for name in ("corp", "other")]

    outcomes = at_once(
        [
            partial(add_person, person=person(name), actor=actor)
            for name, actor in zip(names, actors, strict=True)
        ]
    )

    assert [type(failure) for failure in failures(outcomes)] == [UsernameTaken]
    assert DirectoryUser.objects.count() == 1
    assert User.objects.filter(username__iexact="bea").count() <= 1


def test_without_the_second_try_a_conflict_is_no_answer(committed_world, monkeypatch):
    """The test above needs the second try: both directories see that the name is free."""
    actors = [directory(name)[1] for name in ("corp", "other")]
    meeting = Meeting(2, wait_seconds=LONG_WAIT_SECONDS)
    make_together = meeting.before(directory_people._make_account)
    monkeypatch.setattr(directory_people, "_make_account", make_together)
    once = add_person.__wrapped__
    assert retry_on_conflict(once).__wrapped__ is once

    outcomes = at_once([partial(once, person=person(), actor=actor) for actor in actors])

    assert meeting.met
    assert [type(failure) for failure in failures(outcomes)] == [IntegrityError]


@pytest.mark.parametrize("number", range(rounds(short=5, long=50)))
def test_the_same_request_twice_at_once_creates_one_person(committed_world, number):
    _, actor = directory("corp")

    outcomes = at_once([partial(add_person, person=person(), actor=actor)] * 2)

    assert [type(failure) for failure in failures(outcomes)] == [UsernameTaken]
    assert DirectoryUser.objects.count() == 1


@pytest.mark.parametrize("number", range(rounds(short=5, long=50)))
def test_a_key_made_while_its_person_is_removed_ends(committed_world, number):
    _, actor = directory("corp")
    row = add_person(person=person(), actor=actor)
    team = committed_world.team.pk
    group = add_group(group=PeopleGroup("Admins", members=frozenset([str(row.pk)])), actor=actor)
    map_group(group_id=group.pk, team_id=team, role=Role.ADMIN, actor=SEED)
    bea = actor_of_user(row.user)

    key, removed = at_once(
        [
            partial(make_key, team_id=team, name="k", scopes={Permission.READ}, actor=bea),
            partial(remove_person, person_id=str(row.pk), check=lambda _row: None, actor=actor),
        ]
    )

    assert removed is None
    if isinstance(key, BaseException):
        assert isinstance(key, RequestRejected), repr(key)
    else:
        assert actor_of_key(key[1]) is None
    assert not Membership.objects.filter(user=row.user).exists()


@pytest.mark.parametrize("number", range(rounds(short=5, long=50)))
def test_members_added_at_the_same_moment_are_all_there(committed_world, number):
    _, actor = directory("corp")
    people = [str(add_person(person=Person(f"p{count}"), actor=actor).pk) for count in range(3)]
    group = add_group(group=PeopleGroup("Staff"), actor=actor)
    map_group(group_id=group.pk, team_id=committed_world.team.pk, role=Role.VIEWER, actor=SEED)

    def add(member):
        def change(row):
            members = {str(pk) for pk in row.members.values_list("person", flat=True)}
            return PeopleGroup(row.display_name, members=frozenset([*members, member]))

        change_group(group_id=str(group.pk), change=change, actor=actor)

    outcomes = at_once([partial(add, member) for member in people])

    assert failures(outcomes) == []
    assert group.members.count() == 3
    assert (
        Membership.objects.filter(
            team=committed_world.team, user__username__in=["p0", "p1", "p2"]
        ).count()
        == 3
    )


def test_a_request_that_waits_for_a_revocation_is_refused(committed_world, monkeypatch):
    make_admin(committed_world)
    row, actor = directory("corp")
    person_row = add_person(person=person(), actor=actor)
    meeting = Meeting(2, wait_seconds=LONG_WAIT_SECONDS)
    meet_then_lock = meeting.before(directories.lock_directory)
    monkeypatch.setattr(directories, "lock_directory", meet_then_lock)

    _, changed = at_once(
        [
            partial(revoke_directory, directory_id=row.pk, actor=SEED),
            partial(
                change_person,
                person_id=str(person_row.pk),
                change=lambda _row: Person("bea", is_active=False),
                actor=actor,
            ),
        ]
    )

    assert meeting.met
    user = User.objects.get(pk=person_row.user_id)
    # Whoever came first: a change after the revocation is none.
    assert (isinstance(changed, Unauthenticated)) is user.is_active
