"""REST: teams and who belongs to them."""

import pytest

from inbox.actions.people.api_keys import make_key
from inbox.models import AuditEntry, Membership, Team, User
from inbox.rules.people.access import Permission
from tests.support.audit.entries import make_admin


@pytest.fixture
def admin(key_with):
    """A machine that may do everything in the team."""
    return key_with("read", "run", "decide", "admin")


def test_a_key_sees_its_team_and_who_is_in_it(admin, world):
    (team,) = admin.get("/api/teams").json()["results"]
    people = admin.get("/api/teams/tests/members").json()["results"]

    assert team == admin.get("/api/teams/tests").json()
    assert (team["slug"], team["role"], team["grace_seconds"]) == ("tests", None, 0)
    assert team["permissions"] == ["admin", "decide", "read", "run"]
    assert [(member["username"], member["role"]) for member in people] == [
        ("alice", "viewer"),
        ("bob", "reviewer"),
    ]


def test_members_are_read_a_page_at_a_time(admin, world):
    path = "/api/teams/tests/members?limit=1"
    first = admin.get(path).json()
    second = admin.get(f"{path}&after={first['next_after']}").json()

    names = [member["username"] for member in first["results"] + second["results"]]
    assert (names, second["next_after"]) == (["alice", "bob"], None)


def test_teams_are_read_a_page_at_a_time(client, world):
    client.force_login(world.bob)
    for slug in ("zoo", "ops"):
        Membership.objects.create(
            team=Team.objects.create(slug=slug, name=slug), user=world.bob, role="viewer"
        )
    seen, after = [], ""
    while after is not None:
        page = client.get(f"/api/teams?limit=1&after={after}").json()
        seen += [team["slug"] for team in page["results"]]
        after = page["next_after"]

    assert seen == ["ops", "tests", "zoo"]


def test_a_team_is_changed(admin, world):
    changed = admin.patch("/api/teams/tests", {"name": "Testers", "grace_seconds": 30})

    team = Team.objects.get(slug="tests")
    assert changed.status_code == 204
    assert (team.name, team.grace_seconds) == ("Testers", 30)


def test_a_team_gets_other_reasons_to_reject_and_a_record(admin, world):
    before = admin.get("/api/teams/tests").json()["reject_reasons"]

    admin.patch("/api/teams/tests", {"reject_reasons": ["Too expensive"]})

    assert "Wrong amount" in before
    assert admin.get("/api/teams/tests").json()["reject_reasons"] == ["Too expensive"]
    entry = AuditEntry.objects.filter(action="team.setting_changed").get()
    assert entry.content["detail"]["value"] == ["Too expensive"]


@pytest.mark.parametrize(
    ("wrong", "status"),
    [
        ({"name": ""}, 400),
        ({"name": " "}, 400),
        ({"name": "x" * 81}, 400),
        ({"name": "a\nb"}, 422),
        ({"grace_seconds": 3_601}, 400),
        ({"file_days": 0}, 400),
        ({"file_days": 36_501}, 400),
        ({"thread_days": -1}, 400),
        ({"thread_days": 36_501}, 400),
        ({"reject_reasons": ["Not now"] * 9}, 400),
        ({"reject_reasons": ["x" * 61]}, 400),
        ({"reject_reasons": ["a\u202eb"]}, 422),
        ({"reject_reasons": ["Not now", "Not now"]}, 422),
        ({}, 204),
    ],
)
def test_what_makes_no_team_is_refused(admin, wrong, status):
    assert admin.patch("/api/teams/tests", wrong).status_code == status


@pytest.mark.parametrize(
    ("wrong", "status"),
    [
        ({"slug": "Ops"}, 400),
        ({"slug": "ops\n"}, 400),
        ({"slug": "o" * 51}, 400),
        ({"slug": "tests"}, 409),
        ({"name": "a\nb"}, 422),
        ({"name": " Operations "}, 201),
    ],
)
def test_a_superuser_makes_a_team_that_can_be_one(client, world, wrong, status):
    client.force_login(User.objects.create_superuser("root", password="root-password"))

    body = {"slug": "ops", "name": "Operations", **wrong}
    response = client.post("/api/teams", body, content_type="application/json")

    assert response.status_code == status
    assert Team.objects.filter(name="Operations").exists() == (status == 201)


def test_a_member_gets_another_role_and_is_removed(admin, world):
    path = f"/api/teams/tests/members/{world.alice.pk}"
    changed = admin.patch(path, {"role": "reviewer"})
    removed = admin.delete(path)

    assert (changed.status_code, changed.json()["role"]) == (200, "reviewer")
    assert (removed.status_code, admin.delete(path).status_code) == (204, 404)
    assert not Membership.objects.filter(user=world.alice).exists()
    assert admin.patch(path, {"role": "king"}).status_code == 400


@pytest.mark.parametrize("number", [0, 10**9, 10**40])
def test_a_number_that_nobody_has_is_not_found(admin, number):
    assert admin.delete(f"/api/teams/tests/members/{number}").status_code == 404


def test_the_last_administrator_stays(admin, world):
    Membership.objects.filter(user=world.bob).update(role="admin")

    refused = admin.delete(f"/api/teams/tests/members/{world.bob.pk}")

    assert (refused.status_code, refused.json()["code"]) == (409, "LAST_ADMIN")


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("execute_within_hours", 48),
        ("requires_view_digest", True),
        ("inbox_only", True),
        ("messages_show_arguments", True),
        ("stores_exceptions", True),
        ("file_days", 30),
        ("thread_days", 365),
        ("names_deciders", True),
        ("headings", {"pay": "Pay {amount} EUR"}),
    ],
)
def test_each_setting_of_consent_is_changed_and_in_the_trail(admin, world, setting, value):
    changed = admin.patch("/api/teams/tests", {setting: value})

    assert changed.status_code == 204
    assert admin.get("/api/teams").json()["results"][0][setting] == value
    entry = AuditEntry.objects.get(action="team.setting_changed")
    assert entry.content["detail"]["setting"] == setting


@pytest.mark.parametrize(
    ("headings", "status"),
    [
        ({"pay": "Pay {amount"}, 422),
        ({"pay": 5}, 400),
        ({"pay": ""}, 400),
        ("Pay", 400),
        ([1], 400),
    ],
)
def test_headings_that_cannot_be_used_are_refused(admin, world, headings, status):
    refused = admin.patch("/api/teams/tests", {"headings": headings})

    assert refused.status_code == status
    assert admin.get("/api/teams/tests").json()["headings"] == {}


def test_what_a_leaver_owns_is_listed_and_gets_another_owner(admin, world):
    eve = make_admin(world, "eve")
    make_admin(world)
    key, _ = make_key(team_id=world.team.pk, name="ci", scopes={Permission.READ}, actor=eve)
    path = f"/api/teams/tests/members/{eve.user_id}"
    (row,) = admin.get(f"{path}/credentials").json()["results"]
    assert (row["id"], row["kind"], row["name"]) == (str(key.pk), "key", "ci")

    refused = admin.put(f"{path}/credentials/{key.pk}/owner", {"user": world.carol.pk})
    changed = admin.put(f"{path}/credentials/{key.pk}/owner", {"user": world.bob.pk})
    removed = admin.delete(path)

    assert [answer.status_code for answer in (refused, changed, removed)] == [422, 204, 204]
    stored = admin.get(f"/api/keys/{key.pk}").json()
    assert (stored["owner_id"], stored["revoked_at"]) == (world.bob.pk, None)


def test_sessions_of_members_are_listed_and_ended(admin, world, client):
    client.post("/login/", {"username": "bob", "password": "bob-password"})
    (row,) = admin.get("/api/teams/tests/sessions").json()["results"]
    assert (row["username"], row["user_id"]) == ("bob", world.bob.pk)

    path = f"/api/teams/tests/sessions/{row['id']}"
    answers = [admin.delete(path), admin.delete(path), admin.delete(f"{path}{'9' * 20}")]

    assert [answer.status_code for answer in answers] == [204, 404, 404]
    assert client.get("/api/threads").status_code == 401
