"""Every change in the admin is an action's, with an entry that says who it was."""

import re

import pytest
from allauth.usersessions.models import UserSession
from django.test import Client

from inbox.actions.agents.remote_agents import set_remote_agent
from inbox.actions.directories.directories import add_directory
from inbox.actions.people.api_keys import make_key
from inbox.actions.webhooks.endpoints import add_webhook
from inbox.admin import site
from inbox.admin.pages import ChangedByActions
from inbox.models import (
    Agent,
    ApiKey,
    Directory,
    DirectoryGroup,
    Membership,
    Team,
    User,
    WebhookEndpoint,
)
from inbox.platform.clock import database_now
from inbox.platform.encryption import decrypt
from inbox.queries.directories.directories import directory_actor
from inbox.queries.people.api_keys import actor_of_key
from inbox.rules.people.access import SEED
from tests.support.steps import reread
from tests.support.web.admin_forms import (
    opened,
    path,
    press,
    press_surely,
)
from tests.support.web.pages import words

SUE = "sue"


def told_once(answer):
    (secret,) = re.findall(r"<code>([^<]+)</code>", answer.content.decode())
    return secret


@pytest.fixture
def hook(world):
    place = {"url": "https://hooks.example.com/secret-path", "event_types": ["run.finished"]}
    return add_webhook(team_id=world.team.pk, actor=SEED, **place)[0]


@pytest.fixture
def remote(world):
    place = {"url": "https://agents.example.com/", "headers": {"X-Key": "header-value"}}
    return set_remote_agent(team_id=world.team.pk, slug="far", actor=SEED, **place).agent


@pytest.fixture
def key(world):
    return make_key(team_id=world.team.pk, name="ci", scopes=["run"], actor=SEED)[0]


# -- teams ----------------------------------------------------------------------------------------


def test_a_team_is_made_with_its_maker_as_administrator(world, admin, new_entries):
    form = opened(admin, "/admin/inbox/team/add/").fill("slug", "new").fill("name", "New team")

    press(admin, "/admin/inbox/team/add/", form)

    assert Membership.objects.get(team__slug="new").user.username == SUE
    assert new_entries() == [("team.created", SUE), ("member.added", SUE)]


def test_a_team_that_cannot_be_is_refused_in_its_form(world, admin, new_entries):
    form = opened(admin, "/admin/inbox/team/add/").fill("slug", "-New").fill("name", "New team")

    refused = press(admin, "/admin/inbox/team/add/", form)

    assert "lowercase letters" in words(refused)
    assert 'value="New team"' in refused.content.decode()
    assert not Team.objects.filter(name="New team").exists()
    assert new_entries() == []


def test_a_team_gets_another_name_and_grace(world, admin, new_entries):
    address = path(world.team)
    form = opened(admin, address).fill("name", "Renamed").fill("grace_seconds", "30")

    press(admin, address, form)

    team = reread(world.team)
    assert (team.name, team.grace_seconds) == ("Renamed", 30)
    assert new_entries() == [("team.renamed", SUE), ("team.grace_set", SUE)]


def test_what_others_have_changed_meanwhile_stays(world, admin, new_entries):
    address = path(world.team)
    form = opened(admin, address).fill("grace_seconds", "30")
    Team.objects.filter(pk=world.team.pk).update(name="Theirs")

    press(admin, address, form)

    assert reread(world.team).name == "Theirs"
    assert new_entries() == [("team.grace_set", SUE)]


def test_saving_what_is_so_already_leaves_no_entry(world, admin, new_entries):
    saved = press(admin, path(world.team), opened(admin, path(world.team)))

    assert saved.status_code == 302
    assert new_entries() == []


def test_a_member_gets_another_role_and_is_removed(world, admin, new_entries):
    row = Membership.objects.get(user=world.bob)
    press(admin, path(row), opened(admin, path(row)).choose("role", "viewer"))
    assert reread(row).role == "viewer"

    press_surely(admin, path(row), "_remove")

    assert not Membership.objects.filter(pk=row.pk).exists()
    assert new_entries() == [("member.role_changed", SUE), ("member.removed", SUE)]


def test_the_last_administrator_of_a_team_stays_one(world, admin, new_entries):
    row = Membership.objects.get(user=world.carol)

    refused = press(admin, path(row), opened(admin, path(row)).choose("role", "viewer"))

    assert "at least one admin" in words(refused)
    assert reread(row).role == "admin"
    assert new_entries() == []


# -- agents ---------------------------------------------------------------------------------------


def test_an_agent_elsewhere_is_added_with_headers_that_no_page_shows(world, admin, new_entries):
    form = opened(admin, "/admin/inbox/agent/add/").choose("team", str(world.team.pk))
    form.fill("slug", "far").fill("url", "https://agents.example.com/")
    form.fill("headers", "Authorization: Bearer header-value")

    press(admin, "/admin/inbox/agent/add/", form)

    agent = Agent.objects.get(slug="far")
    assert decrypt(agent.endpoint.headers) == {"Authorization": "Bearer header-value"}
    response = admin.get(path(agent))
    assert "Authorization" in words(response)
    assert "header-value" not in response.content.decode()
    assert new_entries() == [("agent.added", SUE)]


def test_an_agent_elsewhere_gets_another_description_and_keeps_its_headers(
    remote, admin, new_entries
):
    press(admin, path(remote), opened(admin, path(remote)).fill("description", "Far away"))

    remote = reread(remote)
    assert remote.description == "Far away"
    assert decrypt(remote.endpoint.headers) == {"X-Key": "header-value"}
    assert new_entries() == [("agent.changed", SUE)]


def test_kept_headers_do_not_go_to_another_host(remote, admin, new_entries):
    form = opened(admin, path(remote)).fill("url", "https://evil.example.com/")

    refused = press(admin, path(remote), form)

    assert "is not sent to the new address" in words(refused)
    assert reread(remote).endpoint.url == "https://agents.example.com/"
    assert new_entries() == []


def test_an_agent_of_the_installation_is_read_only(world, admin, new_entries):
    assert b'type="submit"' not in admin.get(path(world.agent)).content.partition(b"agent_form")[2]

    assert admin.post(path(world.agent), {"description": "Mine"}).status_code == 403

    assert new_entries() == []


# -- keys -----------------------------------------------------------------------------------------


def test_a_key_is_made_and_its_token_shown_once(world, admin, new_entries):
    form = opened(admin, "/admin/inbox/apikey/add/").choose("team", str(world.team.pk))
    form.fill("name", "robot").tick("scopes", "decide").fill("days", "7")

    token = told_once(press(admin, "/admin/inbox/apikey/add/", form))

    assert actor_of_key(token).scopes == {"decide"}
    assert token not in admin.get(path(ApiKey.objects.get(name="robot"))).content.decode()
    assert new_entries() == [("key.created", SUE)]


def test_a_key_gets_a_new_token_and_ends(key, admin, new_entries):
    token = told_once(press(admin, path(key), opened(admin, path(key)), "_rotate"))
    assert actor_of_key(token) is not None

    press_surely(admin, path(key), "_revoke")

    assert actor_of_key(token) is None
    assert new_entries() == [("key.rotated", SUE), ("key.revoked", SUE)]


def test_a_key_that_has_ended_is_read_only(key, admin, new_entries):
    press_surely(admin, path(key), "_revoke")

    assert admin.post(path(key), {"_rotate": "x", "overlap_hours": "1"}).status_code == 403

    assert new_entries() == [("key.revoked", SUE)]


# -- webhooks -------------------------------------------------------------------------------------


def test_a_webhook_is_added_and_its_secret_shown_once(world, admin, new_entries):
    form = opened(admin, "/admin/inbox/webhookendpoint/add/").choose("team", str(world.team.pk))
    form.fill("url", "https://hooks.example.com/").tick("event_types", "run.finished")

    secret = told_once(press(admin, "/admin/inbox/webhookendpoint/add/", form))

    row = WebhookEndpoint.objects.get()
    assert decrypt(row.secret) == secret
    assert secret not in admin.get(path(row)).content.decode()
    assert new_entries() == [("webhook.added", SUE)]


def test_a_webhook_is_switched_off_rotated_and_removed(hook, admin, new_entries):
    press(admin, path(hook), opened(admin, path(hook)).tick("enabled", "on", on=False))
    assert reread(hook).disabled_at is not None
    secret = told_once(press(admin, path(hook), opened(admin, path(hook)), "_rotate"))
    assert decrypt(reread(hook).secret) == secret

    press_surely(admin, path(hook), "_remove")

    assert reread(hook).secret == ""
    assert admin.post(path(hook), {"enabled": "on"}).status_code == 403
    assert new_entries() == [
        ("webhook.disabled", SUE),
        ("webhook.rotated", SUE),
        ("webhook.removed", SUE),
    ]


def test_a_webhook_that_cannot_be_is_refused_in_its_form(hook, admin, new_entries):
    refused = press(
        admin, path(hook), opened(admin, path(hook)).fill("url", "http://clear.example")
    )

    assert refused.status_code == 200
    assert "errornote" in refused.content.decode()
    assert reread(hook).url == hook.url
    assert new_entries() == []


# -- people ---------------------------------------------------------------------------------------


def test_who_is_switched_off_is_signed_out_and_can_come_back(world, admin, new_entries):
    bob = Client()
    bob.post("/login/", {"username": "bob", "password": "bob-password"})
    before = new_entries()
    press(admin, path(world.bob), opened(admin, path(world.bob)).tick("is_active", "on", on=False))
    assert bob.get("/").status_code == 302

    press(admin, path(world.bob), opened(admin, path(world.bob)).tick("is_active", "on"))

    assert bob.get("/").status_code == 302  # the session has ended for good
    bob.post("/login/", {"username": "bob", "password": "bob-password"})
    assert bob.get("/").status_code == 200
    expected = [("person.deactivated", SUE), ("person.activated", SUE)]
    assert new_entries()[len(before) :][:2] == expected


def test_the_last_superuser_stays(sue, admin, new_entries):
    refused = press(admin, path(sue), opened(admin, path(sue)).tick("is_active", "on", on=False))

    assert "at least one superuser" in words(refused)
    assert User.objects.get(pk=sue.pk).is_active
    assert new_entries() == []


# -- directories ----------------------------------------------------------------------------------


def test_a_directory_is_made_changed_and_revoked(world, admin, new_entries):
    address = "/admin/inbox/directory/add/"
    form = opened(admin, address).fill("name", "corp").fill("network_lines", "192.0.2.0/24")

    page = press(admin, address, form)
    token = told_once(page)

    assert "/scim/v2" in words(page)
    row = Directory.objects.get(name="corp")
    assert directory_actor(f"Bearer {token}", "192.0.2.7").directory_id == row.pk
    assert row.expires_at is not None
    press(admin, path(row), opened(admin, path(row)).fill("network_lines", ""))
    newer = told_once(press_surely(admin, path(row), "_replace"))
    assert directory_actor(f"Bearer {newer}", "127.0.0.1").directory_id == row.pk
    press_surely(admin, path(row), "_revoke")
    assert reread(row).revoked_at is not None
    assert [action for action, who in new_entries() if who == SUE] == [
        "directory.added",
        "directory.networks_changed",
        "directory.token_replaced",
        "directory.revoked",
    ]


def test_a_directory_that_cannot_be_is_refused_in_its_form(admin, new_entries):
    address = "/admin/inbox/directory/add/"
    form = opened(admin, address).fill("name", "corp").fill("network_lines", "corp.example")

    refused = press(admin, address, form)

    assert "Enter networks such as" in words(refused)
    assert new_entries() == []


def test_a_superuser_chooses_what_a_group_gives(world, admin, new_entries):
    row, _ = add_directory(name="corp", actor=SEED)
    group = DirectoryGroup.objects.create(
        directory=row, display_name="Staff", created_at=database_now(), changed_at=database_now()
    )
    before = new_entries()

    form = opened(admin, path(group)).choose("team", str(world.team.pk))
    refused = press(admin, path(group), form)
    assert "Choose a team and a role" in words(refused)
    form = opened(admin, path(group)).choose("team", str(world.team.pk)).choose("role", "viewer")
    press(admin, path(group), form)

    assert (reread(group).team, reread(group).role) == (world.team, "viewer")
    assert new_entries()[len(before) :] == [("directory.group_mapped", SUE)]


# -- and no way around them -----------------------------------------------------------------------


@pytest.mark.parametrize("page", site._registry.values(), ids=lambda page: page.opts.model_name)
def test_nothing_changes_a_row_around_the_actions(page, rf):
    request = rf.get("/")

    assert page.actions is None
    assert page.list_editable == ()
    assert list(page.inlines) == []
    assert not page.has_delete_permission(request)
    names = {url.name.rpartition("_")[2] for url in page.get_urls()}
    if isinstance(page, ChangedByActions):
        assert names <= {"changelist", "add", "change"}
    else:
        assert names == {"changelist", "change"}
        assert not page.has_add_permission(request)
        assert not page.has_change_permission(request)


def test_saving_calls_no_save_of_the_row(world, admin, monkeypatch):
    def saves(row, *_arguments, **columns):
        # Actions say which columns, and say how they insert.
        assert columns.get("update_fields") or columns.get("force_insert"), type(row)
        return original(row, *_arguments, **columns)

    original = Team.save
    monkeypatch.setattr(Team, "save", saves)

    press(admin, path(world.team), opened(admin, path(world.team)).fill("name", "Renamed"))

    assert reread(world.team).name == "Renamed"


# -- what nothing brings back ---------------------------------------------------------------------


@pytest.mark.parametrize("what", ["member", "key", "hook"])
def test_what_ends_something_asks_before(what, world, admin, key, hook, new_entries):
    row = {"member": Membership.objects.get(user=world.bob), "key": key, "hook": hook}[what]
    button = "_revoke" if what == "key" else "_remove"
    name = {"member": "bob, Tests", "key": key.name, "hook": "hooks.example.com"}[what]

    response = press(admin, path(row), opened(admin, path(row)), button)

    assert "This cannot be undone." in words(response)
    assert name in words(response)
    assert new_entries() == []


def test_what_was_typed_beside_is_still_there_when_it_is_sure(world, admin, new_entries):
    row = Membership.objects.get(user=world.bob)
    form = opened(admin, path(row)).choose("role", "viewer")

    text = press(admin, path(row), form, "_remove").content.decode()

    assert '<input type="hidden" name="role" value="viewer">' in text
    assert '<input type="hidden" name="_remove" value="x">' in text


def test_who_is_not_let_in_is_not_asked_either(world, client, key):
    client.force_login(world.bob)

    assert client.post(path(key), {"_revoke": "x"}).status_code == 404


# -- sessions -------------------------------------------------------------------------------------


def test_a_session_of_anybody_is_ended(world, admin, new_entries):
    bobs = Client()
    bobs.post("/login/", {"username": "bob", "password": "bob-password"})
    session = UserSession.objects.get(user=world.bob)
    new_entries_before = len(new_entries())

    press_surely(admin, path(session), "_end")

    assert bobs.get("/account/").status_code == 302
    assert new_entries()[new_entries_before:] == [("session.ended", SUE)]
