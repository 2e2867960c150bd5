"""Groups of a directory, which give their members a role in a team."""

import pytest

from inbox.actions.directories.directories import add_directory
from inbox.actions.people.accounts import set_superuser
from inbox.actions.people.api_keys import make_key
from inbox.actions.people.members import add_membership
from inbox.models import AuditEntry, DirectoryGroup, DirectoryUser, Membership, Team
from inbox.queries.people.api_keys import actor_of_user
from inbox.rules.people.access import SEED, Permission, Role
from tests.support.audit.entries import audited, make_admin
from tests.support.http.rest_client import Caller
from tests.support.http.scim_client import GROUP, ScimClient, error_of, references


@pytest.fixture
def bea(scim):
    return scim.add_user("bea").json()["id"]


@pytest.fixture
def carl(scim):
    return scim.add_user("carl").json()["id"]


@pytest.fixture
def group(scim):
    """An empty group."""
    return scim.add_group("Approvers").json()["id"]


def add(scim, group, *people):
    return scim.patch(
        f"Groups/{group}", {"op": "add", "path": "members", "value": references(people)}
    )


def remove(scim, group, person):
    return scim.patch(f"Groups/{group}", {"op": "remove", "path": f'members[value eq "{person}"]'})


def roles_in(team, *people):
    rows = Membership.objects.filter(team=team)
    roles = dict(rows.values_list("user__directory_user", "role"))
    return [roles.get(DirectoryUser.objects.get(pk=person).pk) for person in people]


def test_a_group_gives_nothing_before_a_superuser_chooses(world, scim, group, bea):
    added = add(scim, group, bea)

    assert added.status_code == 204
    assert scim.get(f"Groups/{group}").json()["members"][0]["value"] == bea
    assert roles_in(world.team, bea) == [None]


def test_members_get_the_role_when_it_is_chosen_and_later(world, scim, group, give, bea, carl):
    add(scim, group, bea)
    give(group, Role.REVIEWER)
    add(scim, group, carl)

    assert roles_in(world.team, bea, carl) == ["reviewer", "reviewer"]
    entries = AuditEntry.objects.filter(team=world.team, action="member.added").order_by("pk")
    last = entries.last().content
    assert last["actor"] == "directory corp"
    assert last["detail"]["directory_group"] == "Approvers"


@pytest.mark.parametrize("how", ["member removed", "group removed", "replaced", "mapped away"])
def test_who_leaves_the_group_leaves_the_team(world, scim, group, give, bea, how):
    add(scim, group, bea)
    give(group, Role.ADMIN)
    make_admin(world)
    user = DirectoryUser.objects.get(pk=bea).user
    _, token = make_key(
        team_id=world.team.pk, name="k", scopes={Permission.READ}, actor=actor_of_user(user)
    )

    if how == "member removed":
        remove(scim, group, bea)
    elif how == "group removed":
        assert scim.call("DELETE", f"Groups/{group}").status_code == 204
    elif how == "replaced":
        body = {"schemas": [GROUP], "displayName": "Approvers", "members": []}
        assert scim.call("PUT", f"Groups/{group}", body).status_code == 200
    else:
        give(group, Role.VIEWER, Team.objects.get(slug="others"))

    assert roles_in(world.team, bea) == [None]
    assert Caller(token).get("/api/threads").status_code == 401


def test_the_strongest_role_of_several_groups_counts(world, scim, group, give, bea):
    readers = scim.add_group("Readers", bea).json()["id"]
    give(readers, Role.VIEWER)
    add(scim, group, bea)

    give(group, Role.REVIEWER)
    assert roles_in(world.team, bea) == ["reviewer"]

    remove(scim, group, bea)
    assert roles_in(world.team, bea) == ["viewer"]
    assert audited("member.role_changed")[-1][1]["before"] == "reviewer"


def test_the_last_administrator_is_not_removed_from_a_team(world, scim, group, give, bea, carl):
    add(scim, group, bea, carl)
    give(group, Role.ADMIN)
    remove(scim, group, carl)

    refused = remove(scim, group, bea)

    assert error_of(refused) == (409, None)
    assert roles_in(world.team, bea) == ["admin"]
    assert len(scim.get(f"Groups/{group}").json()["members"]) == 1


def test_a_new_administrator_replaces_the_last_one_in_one_request(
    world, scim, group, give, bea, carl
):
    add(scim, group, bea)
    give(group, Role.ADMIN)
    body = {"schemas": [GROUP], "displayName": "Approvers", "members": references([carl])}

    replaced = scim.call("PUT", f"Groups/{group}", body)

    assert replaced.status_code == 200
    assert roles_in(world.team, bea, carl) == [None, "admin"]


def test_a_removed_last_administrator_leaves_the_team(world, scim, group, give, bea):
    add(scim, group, bea)
    give(group, Role.ADMIN)

    assert scim.call("DELETE", f"Users/{bea}").status_code == 204

    assert not Membership.objects.filter(team=world.team, role="admin").exists()


def test_a_member_of_before_gets_the_role_of_the_group(world, scim, group, give, bea):
    add_membership(world.team.pk, DirectoryUser.objects.get(pk=bea).user, Role.REVIEWER, SEED)
    give(group, Role.VIEWER)

    add(scim, group, bea)

    assert roles_in(world.team, bea) == ["viewer"]


def test_groups_do_not_change_the_teams_of_superusers(world, scim, group, give, bea):
    give(group, Role.REVIEWER)
    set_superuser(username="bea@corp.example", is_superuser=True, actor=SEED)

    assert add(scim, group, bea).status_code == 204

    assert roles_in(world.team, bea) == [None]


@pytest.mark.parametrize("member", ["nobody", "01a2135c-8ba4-7e69-87a1-ae48770483c0", "group"])
def test_members_must_be_people_of_the_directory(scim, group, member):
    refused = add(scim, group, group if member == "group" else member)

    assert error_of(refused) == (400, "invalidValue")


@pytest.mark.parametrize("spell", [str.upper, "{{{}}}".format, "urn:uuid:{}".format])
def test_an_id_in_another_spelling_is_no_member(scim, group, bea, spell):
    add(scim, group, bea)

    added = add(scim, group, spell(bea))
    body = {"schemas": [GROUP], "displayName": "Approvers", "members": references([spell(bea)])}
    replaced = scim.call("PUT", f"Groups/{group}", body)

    assert error_of(added) == error_of(replaced) == (400, "invalidValue")
    assert [member["value"] for member in scim.get(f"Groups/{group}").json()["members"]] == [bea]


def test_people_of_another_directory_are_no_members(world, scim, group, linking):
    stranger = linking.add_user("bea").json()["id"]

    assert error_of(add(scim, group, stranger)) == (400, "invalidValue")
    assert error_of(linking.call("DELETE", f"Groups/{group}")) == (404, None)


def test_the_same_member_again_changes_nothing(world, scim, group, give, bea):
    give(group, Role.VIEWER)
    add(scim, group, bea)
    entries = AuditEntry.objects.count()

    assert add(scim, group, bea).status_code == 204

    assert AuditEntry.objects.count() == entries
    assert len(scim.get(f"Groups/{group}").json()["members"]) == 1


def test_a_group_beyond_the_bound_is_refused(scim, group):
    people = [f"01a2135c-8ba4-7e69-87a1-{number:012d}" for number in range(5_001)]

    assert error_of(add(scim, group, *people)) == (400, "invalidValue")


def test_people_of_a_revoked_directory_stay_and_can_be_linked(world, directory, scim, give, bea):
    from inbox.actions.directories.directories import revoke_directory

    group = scim.add_group("Readers", bea).json()["id"]
    give(group, Role.VIEWER)
    user = DirectoryUser.objects.get(pk=bea).user

    revoke_directory(directory_id=directory[0].pk, actor=SEED)

    assert not DirectoryGroup.objects.exists()
    assert Membership.objects.filter(user=user, team=world.team).exists()
    _, token = add_directory(name="next", links_accounts=True, actor=SEED)
    linked = ScimClient(token).add_user("bea")
    assert DirectoryUser.objects.get(pk=linked.json()["id"]).user == user
