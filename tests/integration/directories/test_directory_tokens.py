"""Tokens of directories: who makes them, where they work, and when they end."""

from datetime import timedelta

import pytest
from django.core.management import CommandError, call_command

from inbox.actions.directories.directories import (
    add_directory,
    change_networks,
    replace_token,
    revoke_directory,
)
from inbox.actions.people.api_key_usage import flush_usage
from inbox.models import Directory, DirectoryUser
from inbox.platform import clock
from inbox.queries.directories.directories import directory_actor
from inbox.rules.errors import AddressTaken, Forbidden, InvalidValue
from inbox.rules.people.access import SEED
from tests.support.audit.entries import audited, make_admin
from tests.support.http.rest_client import Caller
from tests.support.http.scim_client import ScimClient, error_of


def status(token, **more):
    return ScimClient(token, **more).get("Users").status_code


def test_of_a_token_the_digest_is_stored(directory):
    row, token = directory

    assert token.startswith("sd_")
    assert row.prefix == token[:9]
    assert token not in str(Directory.objects.values().get(pk=row.pk))


@pytest.mark.parametrize("token", ["", "sd_wrong", "so_wrong"])
def test_without_a_valid_token_nothing_is_told(world, token):
    refused = ScimClient(token).get("ServiceProviderConfig")

    assert error_of(refused) == (401, None)
    assert refused["WWW-Authenticate"] == "Bearer"


def test_an_api_key_is_no_token_of_a_directory(world, directory):
    assert status(world.key) == 401
    assert Caller(directory[1]).get("/api/threads").status_code == 401


def test_a_token_works_from_its_networks_only(world, directory):
    row, token = directory
    change_networks(directory_id=row.pk, networks=["192.0.2.0/24"], actor=SEED)

    assert status(token, address="192.0.2.7") == 200
    assert error_of(ScimClient(token).get("Users")) == (403, None)
    flush_usage()
    assert audited("directory.refused")[0][1]["address"] == "127.0.0.1"


def test_a_revoked_token_ends(directory):
    row, token = directory
    assert status(token) == 200

    revoke_directory(directory_id=row.pk, actor=SEED)

    assert status(token) == 401
    assert [action for action, _ in audited("directory.")] == [
        "directory.added",
        "directory.revoked",
    ]


def test_a_token_expires(world, monkeypatch):
    _, token = add_directory(name="short", days=1, actor=SEED)
    assert status(token) == 200

    Directory.objects.update(expires_at=clock.now() - timedelta(seconds=1))

    assert status(token) == 401


def test_a_new_token_ends_the_former_one(directory):
    row, token = directory

    newer = replace_token(directory_id=row.pk, actor=SEED)

    assert (status(token), status(newer)) == (401, 200)


def test_a_request_that_waited_for_the_lock_meets_the_revocation(directory):
    """The token is checked again under the lock of the directory."""
    from inbox.actions.directories.directory_people import add_person
    from inbox.rules.directories.directory_people import Person
    from inbox.rules.errors import Unauthenticated

    row, token = directory
    actor = directory_actor(f"Bearer {token}", "127.0.0.1")
    revoke_directory(directory_id=row.pk, actor=SEED)

    with pytest.raises(Unauthenticated):
        add_person(person=Person("bea"), actor=actor)

    assert not DirectoryUser.objects.exists()


def test_the_last_use_is_recorded(directory):
    row, token = directory
    status(token)

    flush_usage()

    row.refresh_from_db()
    assert row.last_used_at is not None


def test_only_superusers_and_commands_make_directories(world, directory):
    actor = directory_actor(f"Bearer {directory[1]}", "127.0.0.1")

    for refused in (world.actor(world.bob), make_admin(world), actor):
        with pytest.raises(Forbidden):
            add_directory(name="another", actor=refused)


def test_names_are_unique_and_values_are_checked(directory):
    with pytest.raises(AddressTaken):
        add_directory(name="corp", actor=SEED)
    for wrong in ({"name": ""}, {"name": "x", "days": 0}, {"name": "x", "networks": ["corp"]}):
        with pytest.raises(InvalidValue):
            add_directory(actor=SEED, **wrong)


def test_a_command_makes_a_directory(world, capsys):
    call_command("create_api_key", "--directory", "okta", "--network", "127.0.0.0/8")

    token = capsys.readouterr().out.strip()
    assert status(token) == 200
    assert not Directory.objects.get(name="okta").links_accounts


def test_a_key_still_needs_a_name_and_scopes(world):
    with pytest.raises(CommandError, match="--name and --scope"):
        call_command("create_api_key", "--team", "tests")


def test_calls_are_limited(settings, directory):
    settings.RATE_LIMIT = "3/year"
    statuses = [status(directory[1]) for _ in range(4)]

    assert statuses == [200, 200, 200, 429]
    assert "Retry-After" in ScimClient(directory[1]).get("Users").headers
