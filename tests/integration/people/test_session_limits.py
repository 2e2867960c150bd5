"""Limits of sessions: of the installation, and the strictest of a person's teams."""

from dataclasses import replace
from datetime import timedelta

import pytest
from allauth.usersessions.models import UserSession
from django.conf import settings
from django.contrib.sessions.models import Session
from django.test import Client
from django.utils import timezone

from inbox.actions.people.member_sessions import end_any_session, end_members_session
from inbox.actions.people.members import add_membership, change_team
from inbox.models import User
from inbox.models.people.sessions import stored_key
from inbox.queries.people.api_keys import actor_of_user
from inbox.queries.people.live_access import live_access_of
from inbox.queries.people.member_sessions import member_sessions
from inbox.rules.errors import Forbidden, InvalidValue, NotFound
from inbox.rules.people.access import SEED, Role
from inbox.rules.people.session_limits import SessionLimits
from tests.support.audit.entries import audited, make_admin

PASSWORD = {"username": "bob", "password": "bob-password"}
UNLIMITED = SessionLimits(timedelta(hours=12), timedelta(days=14))


@pytest.fixture
def browser(world):
    client = Client()
    assert client.post("/login/", PASSWORD).status_code == 302
    return client


def entrances(browser, user):
    """Return, for a page, the REST API and an open socket, if the session still enters."""
    key = stored_key(browser.cookies[settings.SESSION_COOKIE_NAME].value)
    (access,) = live_access_of([replace(actor_of_user(user), session_key=key)])
    return (
        browser.get("/account/").status_code == 200,
        browser.get("/api/threads").status_code == 200,
        access is not None,
    )


def age(*, began=timedelta(0), used=timedelta(0)):
    now = timezone.now()
    UserSession.objects.update(created_at=now - began, last_seen_at=now - used)


def limit(team, **limits):
    change_team(team_id=team.pk, actor=SEED, **limits)


def seconds_left():
    return (Session.objects.get().expire_date - timezone.now()).total_seconds()


@pytest.mark.parametrize(
    ("limits", "began", "used"),
    [
        ({"session_idle_minutes": 30}, 60, 31),
        ({"session_hours": 1}, 61, 0),
        ({"session_idle_minutes": 30, "session_hours": 24}, 60, 31),
    ],
)
def test_a_limit_of_a_team_ends_open_sessions_at_once(world, browser, limits, began, used):
    assert entrances(browser, world.bob) == (True, True, True)
    age(began=timedelta(minutes=began), used=timedelta(minutes=used))

    limit(world.team, **limits)

    assert entrances(browser, world.bob) == (False, False, False)


def test_sessions_within_the_limits_go_on(world, browser):
    age(began=timedelta(minutes=50), used=timedelta(minutes=20))

    limit(world.team, session_idle_minutes=30, session_hours=1)

    assert entrances(browser, world.bob) == (True, True, True)


def test_use_extends_a_session_by_the_limit_of_the_team(world, browser):
    limit(world.team, session_idle_minutes=30)
    again = Client()
    again.cookies = browser.cookies

    again.get("/account/")

    assert 1_740 < seconds_left() <= 1_800


def test_storing_a_session_does_not_extend_it_beyond_its_limits(world, browser):
    limit(world.team, session_hours=1)
    age(began=timedelta(minutes=50))

    session = browser.session
    session["x"] = 1
    session.save()

    assert seconds_left() <= 600


def test_the_strictest_limit_of_several_teams_counts(world, browser):
    limit(world.team, session_idle_minutes=60)
    others = world.carol.memberships.get().team
    limit(others, session_idle_minutes=20)
    assert seconds_left() > 1_800

    add_membership(others.pk, world.bob, Role.VIEWER, SEED)

    assert seconds_left() <= 1_200


@pytest.mark.parametrize(
    ("idle_minutes", "hours", "limits"),
    [
        (None, None, UNLIMITED),
        (30, None, replace(UNLIMITED, idle=timedelta(minutes=30))),
        (None, 1, replace(UNLIMITED, total=timedelta(hours=1))),
        (10_000, 2_000, UNLIMITED),
    ],
)
def test_teams_shorten_limits_and_never_extend_them(idle_minutes, hours, limits):
    assert UNLIMITED.shortened(idle_minutes=idle_minutes, hours=hours) == limits


@pytest.mark.parametrize(
    "limits",
    [
        {"session_idle_minutes": 4},
        {"session_idle_minutes": 10_081},
        {"session_hours": 0},
        {"session_hours": 2_161},
    ],
)
def test_limits_have_bounds(world, limits):
    with pytest.raises(InvalidValue):
        limit(world.team, **limits)


# -- sessions of members --------------------------------------------------------------------------


def test_an_administrator_lists_and_ends_sessions_of_members(world, browser):
    ana = make_admin(world)
    (row,) = member_sessions(ana, world.team.pk, limit=10)
    assert (row.user, row.address, row.is_this) == (world.bob, "127.0.0.1", False)

    end_members_session(team_id=world.team.pk, session_id=row.id, actor=ana)

    assert entrances(browser, world.bob) == (False, False, False)
    assert member_sessions(ana, world.team.pk, limit=10) == []
    assert audited("session.ended")[-1][1] == {
        "username": "bob",
        "address": "127.0.0.1",
        "count": 1,
    }


def test_sessions_of_strangers_are_neither_listed_nor_ended(world, browser, bob, carol):
    (session,) = UserSession.objects.all()

    assert member_sessions(carol, carol_team(world).pk, limit=10) == []
    with pytest.raises(NotFound):
        end_members_session(team_id=carol_team(world).pk, session_id=session.pk, actor=carol)
    with pytest.raises(NotFound):
        member_sessions(carol, world.team.pk, limit=10)
    with pytest.raises(Forbidden):
        member_sessions(bob, world.team.pk, limit=10)
    with pytest.raises(Forbidden):
        end_members_session(team_id=world.team.pk, session_id=session.pk, actor=bob)
    with pytest.raises(Forbidden):
        end_any_session(session_id=session.pk, actor=make_admin(world))
    assert entrances(browser, world.bob) == (True, True, True)


def carol_team(world):
    return User.objects.get(pk=world.carol.pk).memberships.get().team
