"""REST: groups of a team."""

from inbox.models import GroupMember


def test_a_group_is_created_filled_listed_and_deleted(world, key_with):
    api = key_with("read", "admin")

    created = api.post("/api/teams/tests/groups", {"name": "finance"})
    added = api.put(f"/api/teams/tests/groups/finance/members/{world.bob.pk}", {})
    listed = api.get("/api/teams/tests/groups").json()["results"]

    assert (created.status_code, created.json()) == (201, {"name": "finance", "members": []})
    assert added.status_code == 204
    bob = {"id": world.bob.pk, "username": "bob", "name": "Bob"}
    assert listed == [{"name": "finance", "members": [bob]}]
    assert api.delete(f"/api/teams/tests/groups/finance/members/{world.bob.pk}").status_code == 204
    assert not GroupMember.objects.exists()
    assert api.delete("/api/teams/tests/groups/finance").status_code == 204
    assert api.get("/api/teams/tests/groups").json()["results"] == []


def test_groups_are_read_a_page_at_a_time(key_with):
    api = key_with("read", "admin")
    for name in ("leads", "finance"):
        api.post("/api/teams/tests/groups", {"name": name})

    first = api.get("/api/teams/tests/groups?limit=1").json()
    second = api.get(f"/api/teams/tests/groups?limit=1&after={first['next_after']}").json()

    assert [row["name"] for row in first["results"] + second["results"]] == ["finance", "leads"]


def test_a_group_that_exists_or_has_a_bad_name_is_refused(key_with):
    api = key_with("admin")
    api.post("/api/teams/tests/groups", {"name": "finance"})

    again = api.post("/api/teams/tests/groups", {"name": "finance"})
    bad = api.post("/api/teams/tests/groups", {"name": "Finance"})

    assert (again.status_code, again.json()["code"]) == (409, "ADDRESS_TAKEN")
    assert bad.status_code == 400


def test_members_of_groups_have_to_be_members_of_the_team(world, key_with):
    api = key_with("admin")
    api.post("/api/teams/tests/groups", {"name": "finance"})

    answer = api.put(f"/api/teams/tests/groups/finance/members/{world.carol.pk}", {})

    assert answer.status_code == 404
