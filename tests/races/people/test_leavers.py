"""An administrator who takes a new token while somebody removes them."""

from functools import partial

import pytest

from inbox.actions.people import api_keys, members
from inbox.actions.people.api_keys import make_key, rotate_key
from inbox.actions.people.members import remove_member
from inbox.queries.people.access import require
from inbox.queries.people.api_keys import actor_of_key
from inbox.rules.errors import NotFound
from inbox.rules.people.access import SEED, Permission
from tests.support.audit.entries import make_admin
from tests.support.races.concurrently import LONG_WAIT_SECONDS, Meeting, at_once


@pytest.fixture
def race(committed_world, monkeypatch):
    """Eve rotates a key of the team, and Ana removes Eve, as close together as possible."""
    ana, eve = make_admin(committed_world), make_admin(committed_world, "eve")
    team_id = committed_world.team.pk
    key, _ = make_key(team_id=team_id, name="ci", scopes={Permission.READ}, actor=SEED)
    meeting = Meeting(2)
    monkeypatch.setattr(api_keys, "check_overlap", meeting.before(api_keys.check_overlap))
    monkeypatch.setattr(members, "end_credentials", meeting.before(members.end_credentials))

    def run():
        return at_once(
            [
                partial(rotate_key, key_id=key.pk, actor=eve),
                partial(remove_member, team_id=team_id, user_id=eve.user_id, actor=ana),
            ]
        )[0]

    return run, meeting


def test_a_token_that_a_leaver_takes_meanwhile_does_not_work(race):
    run, meeting = race

    rotated = run()

    is_refused = isinstance(rotated, NotFound)
    assert is_refused or actor_of_key(rotated[1]) is None
    assert not meeting.met


def test_without_the_lock_of_the_team_both_go_on_at_once(race, monkeypatch, without_the_trail):
    run, meeting = race
    meeting.wait_seconds = LONG_WAIT_SECONDS
    monkeypatch.setattr(
        api_keys,
        "lock_permitted_team",
        lambda team_id, actor, permission, **_: require(actor, team_id, permission),
    )

    run()

    assert meeting.met  # then it is chance whether the new token is among those that end
