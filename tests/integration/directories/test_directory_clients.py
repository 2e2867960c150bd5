"""The requests of Okta and Microsoft Entra ID, in the shapes in which they send them."""

import pytest

from inbox.models import DirectoryUser
from inbox.rules.people.access import Role
from tests.support.http.scim_client import GROUP, PATCH, USER, references

ENTERPRISE = "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User"


def active(response):
    return DirectoryUser.objects.get(pk=response.json()["id"]).user.is_active


# -- Microsoft Entra ID ---------------------------------------------------------------------------


@pytest.fixture
def entra_user(scim):
    body = {
        "schemas": [USER, ENTERPRISE],
        "externalId": "wolf",
        "userName": "wolf@corp.example",
        "active": True,
        "displayName": "Bea Wolf",
        "emails": [{"primary": True, "type": "work", "value": "Wolf@corp.example"}],
        "meta": {"resourceType": "User"},
        "name": {"formatted": "Bea Wolf", "familyName": "Wolf", "givenName": "Bea"},
        "roles": [],
        "title": "Buyer",
        "phoneNumbers": [{"type": "work", "value": "555-0100"}],
        ENTERPRISE: {"department": "Purchasing", "employeeNumber": "17"},
    }
    return scim.call("POST", "Users", body)


def test_entra_creates_with_attributes_that_are_not_stored(entra_user):
    assert entra_user.status_code == 201
    assert ENTERPRISE not in entra_user.json()
    assert "title" not in entra_user.json()


def test_entra_tests_the_connection_with_a_user_who_is_not_there(scim):
    answer = scim.get('Users?filter=userName+eq+"6c3bd3e4-0000-4a6f-9d4e-1d2e8f9f0f3d"')

    assert answer.json()["totalResults"] == 0


@pytest.mark.parametrize("false", ["False", "false", False])
def test_entra_deactivates_with_a_text(scim, entra_user, false):
    answer = scim.patch(
        f"Users/{entra_user.json()['id']}",
        {"op": "Replace", "path": "active", "value": false},
    )

    assert answer.status_code == 200
    assert not active(entra_user)


def test_entra_replaces_by_paths_with_filters_and_extensions(scim, entra_user):
    answer = scim.patch(
        f"Users/{entra_user.json()['id']}",
        {"op": "Replace", "path": 'emails[type eq "work"].value', "value": "bw@corp.example"},
        {"op": "Add", "path": 'emails[type eq "home"].value', "value": "bea@home.example"},
        {"op": "Add", "path": "name.familyName", "value": "Wolff"},
        {"op": "Add", "path": f"{ENTERPRISE}:department", "value": "Sales"},
        {"op": "Replace", "path": 'addresses[type eq "work"].country', "value": "DE"},
        {"op": "Add", "path": "title", "value": "Head"},
    )

    body = answer.json()
    assert answer.status_code == 200, body
    assert [email["value"] for email in body["emails"]] == ["bw@corp.example", "bea@home.example"]
    assert body["name"]["familyName"] == "Wolff"


def test_entra_replaces_without_a_path(scim, entra_user):
    value = {"displayName": "B. Wolf", "name.givenName": "Beatrice", "active": "False"}

    answer = scim.patch(f"Users/{entra_user.json()['id']}", {"op": "Replace", "value": value})

    assert answer.json()["name"]["givenName"] == "Beatrice"
    assert not active(entra_user)


def test_entra_adds_and_removes_members_by_value(world, scim, entra_user, give):
    person = entra_user.json()["id"]
    body = {"schemas": [GROUP], "externalId": "8aa1a0c0", "displayName": "Approvers", "members": []}
    group = scim.call("POST", "Groups", body).json()["id"]
    give(group, Role.REVIEWER)
    answer = scim.get('Groups?excludedAttributes=members&filter=displayName+eq+"Approvers"')
    assert [row["id"] for row in answer.json()["Resources"]] == [group]

    add = {"op": "Add", "path": "members", "value": [{"$ref": None, "value": person}]}
    assert scim.patch(f"Groups/{group}", add).status_code == 204
    user = DirectoryUser.objects.get(pk=person).user
    assert user.memberships.get().role == "reviewer"

    remove = {"op": "Remove", "path": "members", "value": [{"$ref": None, "value": person}]}
    assert scim.patch(f"Groups/{group}", remove).status_code == 204
    assert not user.memberships.exists()


# -- Okta -----------------------------------------------------------------------------------------


@pytest.fixture
def okta_user(scim):
    body = {
        "schemas": [USER],
        "userName": "wolf@corp.example",
        "name": {"givenName": "Bea", "familyName": "Wolf"},
        "emails": [{"primary": True, "value": "wolf@corp.example", "type": "work"}],
        "displayName": "Bea Wolf",
        "locale": "en-US",
        "externalId": "00ujl29u0le5T6Aj10h7",
        "groups": [],
        "password": "1mz050nq",
        "active": True,
    }
    return scim.call("POST", "Users", body)


def test_okta_looks_for_a_user_and_creates_it(scim, okta_user):
    path = 'Users?filter=userName+eq+"wolf@corp.example"&startIndex=1&count=100'

    assert okta_user.status_code == 201
    assert scim.get(path).json()["Resources"] == [okta_user.json()]


def test_okta_replaces_the_whole_user(scim, okta_user):
    body = {**okta_user.json(), "displayName": "Bea Wolff", "groups": [], "locale": "en-US"}

    answer = scim.call("PUT", f"Users/{okta_user.json()['id']}", body)

    assert answer.status_code == 200
    assert answer.json()["displayName"] == "Bea Wolff"


def test_okta_deactivates_without_a_path(scim, okta_user):
    body = {"schemas": [PATCH], "Operations": [{"op": "replace", "value": {"active": False}}]}

    answer = scim.call(
        "PATCH",
        f"Users/{okta_user.json()['id']}",
        body,
        content_type="application/scim+json; charset=utf-8",
    )

    assert answer.status_code == 200
    assert not active(okta_user)


def test_okta_pushes_a_group_and_changes_it(world, scim, okta_user, give):
    person = okta_user.json()["id"]
    members = [{"value": person, "display": "wolf@corp.example"}]
    body = {"schemas": [GROUP], "displayName": "Approvers", "members": members}
    group = scim.call("POST", "Groups", body).json()["id"]
    give(group, Role.VIEWER)
    user = DirectoryUser.objects.get(pk=person).user

    renamed = scim.patch(
        f"Groups/{group}",
        {"op": "replace", "value": {"id": group, "displayName": "Readers"}},
    )
    assert renamed.status_code == 204
    assert scim.get(f"Groups/{group}").json()["displayName"] == "Readers"

    removed = scim.patch(
        f"Groups/{group}", {"op": "remove", "path": f'members[value eq "{person}"]'}
    )
    assert removed.status_code == 204
    assert not user.memberships.exists()

    replaced = scim.patch(
        f"Groups/{group}", {"op": "replace", "path": "members", "value": references([person])}
    )
    assert replaced.status_code == 204
    assert user.memberships.get().role == "viewer"
