"""Publishing the policy of the installation while teams are made."""

from dataclasses import replace
from functools import partial

import pytest

from inbox.actions.people import members
from inbox.actions.people.members import make_team
from inbox.actions.policies import installation
from inbox.actions.policies.installation import publish_installation_policy
from inbox.models import Team, User
from inbox.queries.people.api_keys import actor_of_user
from tests.support.policies.published import rule
from tests.support.races.concurrently import (
    LONG_WAIT_SECONDS,
    Meeting,
    at_once,
    failures,
    rounds,
)

pytestmark = pytest.mark.services


@pytest.fixture
def root(committed_world):
    user = User.objects.create_superuser("root", password="root-password")
    return replace(actor_of_user(user), runs_installation=True)


def publish(root, number=0):
    body = {"rules": [rule(f"stop-{number}", "deny")]}
    return publish_installation_policy(body=body, actor=root)


def test_a_team_made_during_a_publication_has_the_version_in_force(root):
    for number in range(rounds(short=15, long=200)):
        make = [
            partial(make_team, slug=f"t{number}-{team}", name="Team", actor=root)
            for team in range(4)
        ]

        outcomes = at_once([partial(publish, root, number), *make])

        assert failures(outcomes) == []
        assert Team.objects.exclude(installation_version=outcomes[0]).count() == 0


@pytest.mark.parametrize("is_locked", [True, False])
def test_only_the_lock_of_the_first_team_keeps_a_new_team_up_to_date(root, monkeypatch, is_locked):
    """The new team has read the version in force, and the next is published before its commit."""
    read = Meeting(2, wait_seconds=LONG_WAIT_SECONDS)
    published = Meeting(2, wait_seconds=1 if is_locked else LONG_WAIT_SECONDS)
    original = installation.version_for_new_team

    def read_then_wait():
        version = original()
        read.wait()
        published.wait()
        return version

    def wait_then_publish():
        read.wait()
        version = publish(root)
        published.wait()
        return version

    monkeypatch.setattr(members, "version_for_new_team", read_then_wait)
    if not is_locked:
        monkeypatch.setattr(installation, "lock_first_team", lambda: None)

    version, team = at_once([wait_then_publish, partial(make_team, slug="n", name="N", actor=root)])

    assert published.met is not is_locked
    team.refresh_from_db()
    assert (team.installation_version == version) is is_locked
