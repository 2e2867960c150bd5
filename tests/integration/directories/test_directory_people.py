"""People of a directory: created, changed, deactivated and removed everywhere."""

import pytest
from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from django.test import Client

from inbox.actions.people.accounts import set_active, set_superuser
from inbox.actions.people.api_keys import make_key
from inbox.actions.people.invitations import invite
from inbox.actions.people.members import add_membership
from inbox.actions.webhooks.endpoints import add_webhook
from inbox.models import AuditEntry, DirectoryUser, Membership, Team, User
from inbox.queries.people.api_keys import actor_of_user
from inbox.rules.people.access import SEED, Permission, Role
from inbox.rules.webhooks.delivery_rules import DisabledReason
from tests.support.audit.entries import audited
from tests.support.http.rest_client import Caller
from tests.support.http.scim_client import USER, error_of
from tests.support.steps import reread
from tests.support.web.fresh_sign_in import sign_in


def account(response):
    return DirectoryUser.objects.get(pk=response.json()["id"]).user


@pytest.fixture
def bea(scim):
    """A person of the directory: the response that created her."""
    return scim.add_user("bea")


@pytest.fixture
def member(world, bea):
    """Bea as an administrator of the team, with a key and a webhook."""
    user = account(bea)
    add_membership(world.team.pk, user, Role.ADMIN, SEED)
    actor = actor_of_user(user)
    _, token = make_key(team_id=world.team.pk, name="ci", scopes={Permission.READ}, actor=actor)
    webhook, _ = add_webhook(
        team_id=world.team.pk,
        url="https://hooks.example.com/x",
        event_types=["run.finished"],
        actor=actor,
    )
    return user, token, webhook


# -- creating -------------------------------------------------------------------------------------


def test_an_address_that_is_not_ascii_does_not_keep_a_person_out(scim):
    foreign = {"value": "jürgen@corp.example", "primary": True}
    plain = {"value": "juergen@corp.example"}

    alone = scim.add_user("jurgen", emails=[foreign])
    both = scim.add_user("jurgen2", emails=[foreign, plain])

    assert (alone.status_code, both.status_code) == (201, 201)
    assert alone.json()["emails"][0]["value"] == "jürgen@corp.example"
    assert not EmailAddress.objects.filter(user=account(alone)).exists()
    assert EmailAddress.objects.get(user=account(both)).email == "juergen@corp.example"


def test_an_address_that_becomes_foreign_is_removed(scim, bea):
    path = f"Users/{bea.json()['id']}"
    value = [{"value": "béa@corp.example", "primary": True}]

    changed = scim.patch(path, {"op": "replace", "path": "emails", "value": value})

    assert changed.status_code == 200
    assert not EmailAddress.objects.filter(user=account(bea)).exists()


def test_a_domain_that_is_not_ascii_is_an_address(scim):
    emails = [{"value": "anna@exämple.com", "primary": True}]

    assert EmailAddress.objects.get(user=account(scim.add_user("anna", emails=emails)))


def test_a_new_person_has_an_account_without_password_and_teams(bea):
    user = account(bea)

    assert bea.status_code == 201
    assert bea.json()["meta"]["location"].endswith(f"/scim/v2/Users/{bea.json()['id']}")
    assert (user.username, user.get_full_name()) == ("bea@corp.example", "Bea")
    assert not user.has_usable_password()
    assert not user.memberships.exists()
    address = EmailAddress.objects.get(user=user)
    assert (address.email, address.verified, address.primary) == ("bea@corp.example", True, True)


def test_the_trail_names_the_directory(bea):
    entry = AuditEntry.objects.get(action="person.added")

    assert entry.content["actor"] == "directory corp"
    assert entry.content["detail"]["username"] == "bea@corp.example"


@pytest.mark.parametrize("name", ["bea", "Bea", "BEA"])
def test_a_user_name_is_unique_without_capitals(scim, bea, name):
    again = scim.add_user(name, emails=[])

    assert error_of(again) == (409, "uniqueness")


def test_an_account_that_is_there_is_not_taken_over(world, scim):
    EmailAddress.objects.create(user=world.bob, email="bob@corp.example", verified=True)

    by_name = scim.add_user("x", userName="BOB", emails=[])
    by_address = scim.add_user("bob")

    assert error_of(by_name) == (409, "uniqueness")
    assert error_of(by_address) == (409, "uniqueness")
    assert scim.get("Users").json()["totalResults"] == 0


def test_a_directory_that_links_takes_over_by_confirmed_address(world, linking):
    EmailAddress.objects.create(user=world.bob, email="bob@corp.example", verified=True)

    linked = linking.add_user("bob", userName="Robert@corp.example", displayName="Robert")

    assert linked.status_code == 201
    assert account(linked) == world.bob
    assert reread(world.bob).username == "bob"
    assert reread(world.bob).get_full_name() == "Robert"
    assert world.bob.memberships.filter(team=world.team).exists()
    assert audited("person.linked")[0][1]["username"] == "bob"


@pytest.mark.parametrize("why", ["unconfirmed", "superuser", "inactive", "of another directory"])
def test_a_directory_does_not_link_every_account(world, scim, linking, why):
    is_verified = why != "unconfirmed"
    if why == "of another directory":
        scim.add_user("bob", userName="robert")
    else:
        EmailAddress.objects.create(user=world.bob, email="bob@corp.example", verified=is_verified)
    if why == "superuser":
        set_superuser(username="bob", is_superuser=True, actor=SEED)
    if why == "inactive":
        set_active(user_id=world.bob.pk, is_active=False, actor=SEED)

    refused = linking.add_user("x", userName="bob", emails=[{"value": "bob@corp.example"}])

    assert error_of(refused) == (409, "uniqueness")


@pytest.mark.parametrize(
    "user_name", ["system", "directory corp", "b\u200bea", "b\u0435a", "a" * 151]
)
def test_user_names_follow_the_rules_of_names(scim, user_name):
    refused = scim.add_user("x", userName=user_name)

    assert error_of(refused) == (400, "invalidValue")
    assert not DirectoryUser.objects.exists()


def test_the_user_name_of_a_linked_person_is_bounded(world, linking):
    EmailAddress.objects.create(user=world.bob, email="bob@corp.example", verified=True)
    refused = linking.add_user("bob", userName="b" * 151)
    linked = linking.add_user("bob")

    rename = {"op": "replace", "path": "userName", "value": "b" * 151}
    renamed = linking.patch(f"Users/{linked.json()['id']}", rename)

    assert error_of(refused) == error_of(renamed) == (400, "invalidValue")


@pytest.mark.parametrize("name", ["key ci", "B\u0435a", "a\u202eb", "x" * 200])
def test_a_name_that_is_not_allowed_is_stored_but_not_shown(scim, name):
    created = scim.add_user("bea", displayName=name)

    assert created.json()["displayName"] == name
    assert account(created).display_name == "bea@corp.example"


@pytest.mark.parametrize(
    "attributes",
    [
        {"emails": [{"value": "no address"}]},
        {"externalId": "x" * 256},
        {"displayName": "x" * 9_000},
        {"userName": 5},
        {"active": "perhaps"},
    ],
)
def test_values_that_cannot_be_are_refused(scim, attributes):
    refused = scim.add_user("bea", **attributes)

    assert error_of(refused) == (400, "invalidValue")
    assert not User.objects.filter(username="bea@corp.example").exists()


def test_a_password_and_unknown_attributes_are_ignored(scim):
    created = scim.add_user("bea", password="t1meMa$heen", nickName="B", locale="de-DE")

    assert created.status_code == 201
    assert not account(created).has_usable_password()
    assert not {"password", "nickName", "locale"} & set(created.json())


# -- changing -------------------------------------------------------------------------------------


def test_name_and_address_follow_the_directory(scim, bea):
    changed = scim.patch(
        f"Users/{bea.json()['id']}",
        {"op": "replace", "path": "displayName", "value": "Beatrice Wolf"},
        {"op": "replace", "path": "emails", "value": [{"value": "Wolf@corp.example"}]},
        {"op": "replace", "path": "userName", "value": "wolf@corp.example"},
    )

    assert changed.status_code == 200
    user = account(bea)
    assert (user.username, user.get_full_name()) == ("wolf@corp.example", "Beatrice Wolf")
    addresses = EmailAddress.objects.filter(user=user)
    assert list(addresses.values_list("email", flat=True)) == ["wolf@corp.example"]
    assert audited("person.renamed") == [
        ("person.renamed", {"before": "Bea", "name": "Beatrice Wolf"})
    ]


def test_an_address_of_somebody_else_is_refused(world, scim, bea):
    EmailAddress.objects.create(user=world.bob, email="bob@corp.example", verified=True)

    refused = scim.patch(
        f"Users/{bea.json()['id']}",
        {"op": "replace", "path": "emails", "value": [{"value": "bob@corp.example"}]},
    )

    assert error_of(refused) == (409, "uniqueness")
    assert EmailAddress.objects.get(user=account(bea)).email == "bea@corp.example"


def test_the_same_again_changes_nothing(scim, bea):
    path, body = f"Users/{bea.json()['id']}", {**bea.json()}
    entries = AuditEntry.objects.count()

    again = scim.call("PUT", path, body)

    assert (again.status_code, again.json()) == (200, bea.json())
    assert AuditEntry.objects.count() == entries


def test_a_name_like_that_of_a_teammate_is_not_shown(world, scim, member, bea):
    scim.patch(
        f"Users/{bea.json()['id']}", {"op": "replace", "path": "displayName", "value": "B0B"}
    )

    assert reread(member[0]).display_name == "bea@corp.example"


# -- deactivating and removing --------------------------------------------------------------------


@pytest.mark.parametrize("how", ["deactivated", "removed"])
def test_a_person_loses_sessions_keys_and_webhooks(scim, member, bea, how):
    user, token, webhook = member
    browser = Client()
    sign_in(browser, user)
    assert Caller(token).get("/api/threads").status_code == 200
    assert browser.get("/account/").status_code == 200

    if how == "deactivated":
        scim.deactivate(bea.json()["id"])
    else:
        scim.call("DELETE", f"Users/{bea.json()['id']}")

    assert Caller(token).get("/api/threads").status_code == 401
    assert browser.get("/account/").status_code == 302
    assert reread(webhook).disabled_reason == DisabledReason.OWNER_LEFT
    assert not reread(user).is_active
    entry = AuditEntry.objects.get(action="person.deactivated")
    assert entry.content["actor"] == "directory corp"


def test_a_deactivated_person_comes_back_without_what_ended(scim, member, bea):
    path = f"Users/{bea.json()['id']}"
    scim.deactivate(bea.json()["id"])

    back = scim.patch(path, {"op": "replace", "path": "active", "value": True})

    assert back.json()["active"] is True
    assert reread(member[0]).is_active
    assert Membership.objects.filter(user=member[0]).exists()
    assert Caller(member[1]).get("/api/threads").status_code == 401


def test_whom_a_superuser_deactivated_stays_so_while_nothing_changes(scim, bea):
    user = account(bea)
    set_active(user_id=user.pk, is_active=False, actor=SEED)

    scim.call("PUT", f"Users/{bea.json()['id']}", {**bea.json(), "displayName": "Beatrice"})

    assert not reread(user).is_active


def test_a_replacement_that_leaves_out_active_keeps_it(scim, bea):
    scim.deactivate(bea.json()["id"])
    body = {"schemas": [USER], "userName": "bea@corp.example"}

    replaced = scim.call("PUT", f"Users/{bea.json()['id']}", body)

    assert replaced.json()["active"] is False
    assert not account(bea).is_active


def test_a_removed_person_leaves_all_teams_and_cannot_sign_in(scim, world, member, bea):
    user = member[0]
    Authenticator.objects.create(user=user, type=Authenticator.Type.TOTP, data={})
    path = f"Users/{bea.json()['id']}"

    removed = scim.call("DELETE", path)

    assert removed.status_code == 204
    assert error_of(scim.get(path)) == (404, None)
    assert error_of(scim.call("DELETE", path)) == (404, None)
    assert not Membership.objects.filter(user=user).exists()
    assert not Authenticator.objects.filter(user=user).exists()
    assert not EmailAddress.objects.filter(user=user).exists()
    removals = AuditEntry.objects.filter(team=world.team, action="member.removed")
    assert removals.get().content["actor"] == "directory corp"


def test_somebody_else_with_the_name_gets_another_account(scim, bea):
    former = account(bea)
    scim.call("DELETE", f"Users/{bea.json()['id']}")

    again = scim.add_user("bea")

    assert again.status_code == 201
    assert account(again) != former
    assert reread(former).username.startswith("bea@corp.example.removed-")


@pytest.mark.parametrize("how", ["deactivated", "removed"])
def test_invitations_by_a_person_and_to_them_end(world, scim, member, bea, how):
    by_bea, to_bea, to_another = (
        invite(team_id=team.pk, email=email, role=Role.VIEWER, actor=actor, site="http://x")[0]
        for team, email, actor in (
            (world.team, "nora@example.com", actor_of_user(member[0])),
            (Team.objects.get(slug="others"), "bea@corp.example", SEED),
            (world.team, "carl@corp.example", SEED),
        )
    )

    if how == "deactivated":
        scim.deactivate(bea.json()["id"])
    else:
        scim.call("DELETE", f"Users/{bea.json()['id']}")

    assert reread(by_bea).withdrawn_at is not None
    assert reread(to_bea).withdrawn_at is not None
    assert reread(to_another).withdrawn_at is None


def test_a_name_that_is_taken_keeps_nobody_from_being_removed(scim, bea):
    """Somebody has chosen the name that an account gets when it is removed."""
    scim.add_user("x", userName=f"bea@corp.example.removed{account(bea).pk}", emails=[])

    assert scim.call("DELETE", f"Users/{bea.json()['id']}").status_code == 204


@pytest.mark.parametrize("how", ["PUT", "PATCH", "DELETE"])
def test_superusers_are_not_changed(scim, bea, how):
    path = f"Users/{bea.json()['id']}"
    set_superuser(username="bea@corp.example", is_superuser=True, actor=SEED)

    if how == "PATCH":
        refused = scim.deactivate(bea.json()["id"])
    else:
        refused = scim.call(how, path, {**bea.json(), "displayName": "Root"})

    assert error_of(refused) == (403, None)
    assert account(bea).is_active


def test_a_directory_sees_its_own_people_only(scim, linking, bea):
    path = f"Users/{bea.json()['id']}"

    assert linking.get("Users").json()["totalResults"] == 0
    assert error_of(linking.get(path)) == (404, None)
    assert error_of(linking.deactivate(bea.json()["id"])) == (404, None)
    assert error_of(linking.call("DELETE", path)) == (404, None)
    assert account(bea).is_active
