"""A directory of the installation, and its client."""

import pytest

from inbox.actions.directories.directories import add_directory
from inbox.actions.directories.directory_groups import map_group
from inbox.rules.people.access import SEED
from tests.support.http.scim_client import ScimClient


@pytest.fixture
def directory(world):
    """The directory with its token."""
    return add_directory(name="corp", actor=SEED)


@pytest.fixture
def scim(directory):
    return ScimClient(directory[1])


@pytest.fixture
def linking(world):
    """The client of a directory that takes over accounts."""
    return ScimClient(add_directory(name="linking", links_accounts=True, actor=SEED)[1])


@pytest.fixture
def give(world):
    """Let a group give a role in the team."""

    def choose(group_id, role, team=None):
        map_group(group_id=group_id, team_id=(team or world.team).pk, role=role, actor=SEED)

    return choose
