"""A person who makes a key while a superuser deactivates them."""

from functools import partial

from inbox.actions.people import accounts, api_keys
from inbox.actions.people.accounts import set_active
from inbox.actions.people.api_keys import make_key
from inbox.models import User
from inbox.models.people.sessions import SessionStore
from inbox.queries.people.api_keys import actor_of_key, actor_of_superuser
from inbox.rules.errors import RequestRejected
from inbox.rules.people.access import Permission
from tests.support.audit.entries import make_admin
from tests.support.races.concurrently import LONG_WAIT_SECONDS, Meeting, at_once


def works(outcome):
    if isinstance(outcome, BaseException):
        assert isinstance(outcome, RequestRejected), repr(outcome)
        return False
    return actor_of_key(outcome[1]) is not None


def test_the_first_key_of_a_person_who_is_deactivated_meanwhile_ends(committed_world, monkeypatch):
    eve, team_id = make_admin(committed_world, "eve"), committed_world.team.pk
    sue = actor_of_superuser(User.objects.create_superuser("sue"), SessionStore())
    meeting = Meeting(2, wait_seconds=LONG_WAIT_SECONDS)
    # The maker has the team's lock, and Eve's row is locked.
    monkeypatch.setattr(api_keys, "check_key", meeting.before(api_keys.check_key))
    monkeypatch.setattr(accounts, "end_sessions", meeting.before(accounts.end_sessions))

    key, ended = at_once(
        [
            partial(make_key, team_id=team_id, name="ci", scopes={Permission.READ}, actor=eve),
            partial(set_active, user_id=eve.user_id, is_active=False, actor=sue),
        ]
    )

    assert ended is None
    assert meeting.met
    assert not works(key)
