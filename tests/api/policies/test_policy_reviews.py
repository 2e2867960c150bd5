"""REST: warnings about a policy, and the differences between versions."""

import pytest

from tests.support.policies.published import administrator, publish, rule, tool_is, up_to

PATH = "/api/teams/tests/policy"


@pytest.fixture
def admin(client, world):
    client.force_login(type(world.bob).objects.get(pk=administrator(world).user_id))
    return client


def save(client, *rules):
    policy = {"policy": {"rules": list(rules)}}
    assert client.put(PATH, policy, "application/json").status_code == 200


def changes(client, query=""):
    return client.get(f"{PATH}/changes{query}").json()


def test_the_warnings_of_the_policy_and_the_draft_are_read(admin, world):
    assert admin.get(f"{PATH}/warnings").json() == {"version": None, "draft": None}
    publish(world, rule("small", "ask"))
    environment = {"path": "/environment", "op": "is", "value": "prod"}
    save(admin, rule("a", "ask", tool_is("refnud"), environment, name="Refunds"))

    warnings = admin.get(f"{PATH}/warnings").json()
    assert warnings["version"] == []
    assert [(row["rule"], row["code"], row["detail"]) for row in warnings["draft"]] == [
        ("a", "unknown_tool", "refnud"),
        ("a", "unknown_environment", "prod"),
    ]
    message = "Refunds names a tool that no agent of the team has called: refnud."
    assert warnings["draft"][0]["message"] == message


def test_a_new_tool_does_not_change_the_etag_of_the_policy(admin, world):
    publish(world, rule("a", "ask", tool_is("refnud")))

    assert set(admin.get(PATH).json()) == {"version", "draft", "unreadable"}


def test_the_draft_is_compared_with_the_policy_in_force(admin, world):
    publish(world, rule("small", "allow", up_to(1)), rule("gone", "ask"))
    save(admin, rule("small", "allow", up_to(2)), rule("new", "deny"))

    result = changes(admin)
    assert (result["before"], result["after"], result["calendars_changed"]) == (1, None, False)
    rules = {row["rule"]: row for row in result["rules"]}
    assert list(rules) == ["gone", "small", "new"]
    assert (rules["gone"]["after"], rules["gone"]["after_sentence"]) == (None, "")
    assert rules["new"]["before"] is None
    assert rules["new"]["after_sentence"] == "When any agent makes a request, deny."
    assert rules["small"]["before"]["when"][0]["value"] == 1


def test_two_versions_are_compared(admin, world):
    publish(world, rule("small", "allow", up_to(1)))
    publish(world, rule("small", "allow", up_to(2)))

    result = changes(admin, "?before=2&after=1")
    assert (result["before"], result["after"]) == (2, 1)
    assert result["rules"][0]["after"]["when"][0]["value"] == 1
    assert changes(admin, "?after=2")["rules"] == []


def test_a_version_that_does_not_exist_is_not_compared(admin, world):
    publish(world, rule("small", "ask"))

    assert admin.get(f"{PATH}/changes").status_code == 404
    assert admin.get(f"{PATH}/changes?after=7").status_code == 404
    for number in ("x", "0", "-1", "", "99999999999999"):
        assert admin.get(f"{PATH}/changes?after={number}").status_code == 400


def test_reviewers_compare_versions_and_read_no_warnings(client, world):
    publish(world, rule("small", "ask"))
    client.force_login(world.bob)

    assert client.get(f"{PATH}/changes?after=1").status_code == 200
    assert client.get(f"{PATH}/warnings").status_code == 403
    client.force_login(world.carol)
    assert client.get(f"{PATH}/changes?after=1").status_code == 404
