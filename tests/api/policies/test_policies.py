"""REST: the policy of a team."""

import pytest

from inbox.models import ApiKey, AuditEntry, PolicyDraft
from tests.support.policies.published import administrator, rule, tool_is, up_to
from tests.support.policies.published import publish as publish_policy
from tests.support.steps import open_interrupts, start

PATH = "/api/teams/tests/policy"
POLICY = {"rules": [rule("small", "allow", tool_is("refund"), up_to(50))]}


@pytest.fixture
def admin(client, world):
    client.force_login(type(world.bob).objects.get(pk=administrator(world).user_id))
    return client


def save(client, policy=POLICY, **headers):
    return client.put(PATH, {"policy": policy}, "application/json", headers=headers)


def publish(client, **body):
    return client.post(f"{PATH}/publish", body, "application/json")


def test_a_team_begins_without_a_policy(admin):
    assert admin.get(PATH).json() == {"version": None, "draft": None, "unreadable": False}


def test_a_draft_is_published_as_a_version(admin):
    assert save(admin).json()["policy"] == POLICY
    response = publish(admin, comment="First")

    version = response.json()
    assert (response.status_code, version["number"], version["comment"]) == (201, 1, "First")
    state = admin.get(PATH).json()
    assert (state["version"], state["draft"]) == (version, None)
    assert admin.get(f"{PATH}/versions").json()["results"] == [version]
    assert admin.get(f"{PATH}/1").json() == version


def test_versions_are_listed_latest_first(admin):
    for amount in (1, 2, 3):
        save(admin, {"rules": [rule("small", "allow", up_to(amount))]})
        publish(admin)

    first = admin.get(f"{PATH}/versions?limit=2").json()
    second = admin.get(f"{PATH}/versions?limit=2&after={first['next_after']}").json()
    numbers = [version["number"] for version in first["results"] + second["results"]]
    assert (numbers, second["next_after"]) == ([3, 2, 1], None)


def test_an_invalid_policy_names_every_problem(admin):
    response = save(admin, {"rules": [{"id": "a", "effect": "perhaps"}, {"id": "b"}]})

    assert response.status_code == 422
    pointers = {problem["pointer"] for problem in response.json()["problems"]}
    assert pointers == {"/rules/0/effect", "/rules/1/effect"}


def test_a_draft_that_somebody_changed_is_not_overwritten(admin):
    etag = admin.get(PATH).headers["ETag"]
    save(admin)

    changed = {"rules": [rule("other", "deny")]}
    assert save(admin, changed, **{"If-Match": etag}).status_code == 412
    assert admin.get(PATH).json()["draft"]["policy"] == POLICY


def test_a_discarded_draft_is_gone(admin):
    save(admin)

    assert admin.delete(PATH).status_code == 204
    assert admin.get(PATH).json()["draft"] is None
    assert publish(admin).status_code == 404


def test_the_same_policy_is_not_published_twice(admin):
    save(admin)
    publish(admin)
    save(admin)

    assert publish(admin).status_code == 422


def test_a_policy_that_lets_links_decide_is_published(admin):
    save(admin, {"rules": [rule("mailed", "ask", require={"via": ["web", "link"]})]})

    assert publish(admin).status_code == 201


@pytest.mark.parametrize("body", ["{", "[" * 100_000])
def test_a_draft_that_cannot_be_read_is_not_published(admin, body):
    save(admin)
    PolicyDraft.objects.update(body=body)

    response = publish(admin)
    assert (response.status_code, response.json()["code"]) == (422, "INVALID_VALUE")
    assert "cannot be read" in response.json()["detail"]
    assert admin.get(PATH).json()["draft"]["policy"] == {}


def test_reviewers_read_the_policy_and_do_not_change_it(client, world):
    client.force_login(world.bob)

    assert client.get(PATH).status_code == 200
    assert save(client).status_code == 403
    assert publish(client).status_code == 403
    assert client.delete(PATH).status_code == 403


def test_other_teams_see_nothing_of_it(client, world):
    client.force_login(world.carol)

    assert client.get(PATH).status_code == 404
    assert save(client).status_code == 404


def test_another_administrator_publishes_where_the_team_wants_it(client, world):
    erin, frank = administrator(world), administrator(world, "frank")
    users = type(world.bob).objects
    client.force_login(users.get(pk=erin.user_id))
    client.patch("/api/teams/tests", {"two_administrators": True}, "application/json")
    save(client)

    response = publish(client)
    assert response.json()["code"] == "SECOND_ADMINISTRATOR_REQUIRED"
    client.force_login(users.get(pk=frank.user_id))
    assert publish(client).status_code == 201


def test_a_key_does_not_hide_the_author_of_a_draft(client, world, key_with):
    erin = administrator(world)
    client.force_login(type(world.bob).objects.get(pk=erin.user_id))
    client.patch("/api/teams/tests", {"two_administrators": True}, "application/json")
    key = key_with("read", "admin")
    ApiKey.objects.update(made_by_user=erin.user_id)
    key.put(PATH, {"policy": POLICY})

    assert publish(client).json()["code"] == "SECOND_ADMINISTRATOR_REQUIRED"
    refusal = key.post(f"{PATH}/publish", {}).json()
    assert refusal["code"] == "SECOND_ADMINISTRATOR_REQUIRED"


def test_a_request_has_the_ruling_with_its_reasons(admin, world):
    publish_policy(world, rule("mails", "ask", name="E-mails"))
    (interrupt,) = open_interrupts(start(world, "rehearse:tool_call"))

    ruling = admin.get(f"/api/interrupts/{interrupt.pk}").json()["policy"]
    assert (ruling["version"], ruling["effect"], ruling["rules"]) == (1, "ask", ["mails"])
    assert ruling["reasons"][0].startswith("E-mails (version 1) asked")


def test_rules_see_the_environment_of_an_agent(admin, world):
    production = {"path": "/environment", "op": "is", "value": "production"}
    publish_policy(world, rule("all", "allow", production))
    path = "/api/agents/rehearsal"

    response = admin.patch(path, {"environment": "production"}, "application/json")
    assert response.json()["environment"] == "production"
    assert start(world, "rehearse:tool_call").interrupts.get().status == "resolved"
    admin.patch(path, {"environment": ""}, "application/json")
    assert start(world, "rehearse:tool_call").interrupts.get().status == "open"
    assert admin.patch(path, {"environment": "a\tb"}, "application/json").status_code == 422


def test_each_change_is_in_the_audit_trail(admin, world):
    save(admin)
    save(admin)
    admin.delete(PATH)
    save(admin)
    publish(admin)

    actions = AuditEntry.objects.filter(team=world.team, action__startswith="policy.")
    assert list(actions.order_by("pk").values_list("action", flat=True)) == [
        "policy.drafted",
        "policy.discarded",
        "policy.drafted",
        "policy.published",
    ]


def test_a_request_has_the_reminders_to_come(admin, world):
    publish_policy(world, rule("slow", "ask", require={"remind": ["PT10M", "PT20M"]}))
    (interrupt,) = open_interrupts(start(world, "rehearse:tool_call"))

    steps = admin.get(f"/api/interrupts/{interrupt.pk}").json()["policy"]["steps"]

    assert [(step["kind"], step["to"]) for step in steps] == [("remind", [])] * 2
