"""REST: trying a policy on one request, or on a call."""

import pytest

from inbox.models import AuditEntry, Ruling
from tests.support.policies.published import administrator, publish, rule, tool_is, up_to
from tests.support.steps import open_interrupts, start

PATH = "/api/teams/tests/policy/test"
SMALL = rule("small", "allow", tool_is("refund"), up_to(50), name="Small refunds")


@pytest.fixture
def admin(client, world):
    client.force_login(type(world.bob).objects.get(pk=administrator(world).user_id))
    return client


def try_call(client, *rules, **body):
    policy = {"policy": {"rules": list(rules)}} if rules else {}
    return client.post(PATH, {**policy, **body}, "application/json")


def test_a_call_gets_its_ruling_with_an_explanation(admin):
    other = rule("other", "ask", tool_is("mail"))
    response = try_call(admin, SMALL, other, tool="refund", arguments={"amount": 40})

    trial = response.json()
    assert (trial["effect"], trial["rules"]) == ("allow", ["small"])
    assert "amount 40 ≤ 50" in trial["explanation"][0]
    assert [(row["rule"], row["truth"], row["applied"]) for row in trial["results"]] == [
        ("small", "yes", True),
        ("other", "no", False),
    ]


@pytest.mark.parametrize("arguments", [{}, {"amount": "40"}, {"amount": 51}, {"amount": None}])
def test_doubt_and_other_amounts_ask(admin, arguments):
    assert try_call(admin, SMALL, tool="refund", arguments=arguments).json()["effect"] == "ask"


def test_a_call_has_the_environment_of_its_agent(admin, world):
    type(world.agent).objects.filter(pk=world.agent.pk).update(environment="production")
    production = rule("a", "deny", {"path": "/environment", "op": "is", "value": "production"})

    for more, effect in (({}, "deny"), ({"environment": "test"}, "ask")):
        call = {"tool": "refund", "arguments": {}, "agent": "rehearsal", **more}
        assert try_call(admin, production, **call).json()["effect"] == effect


def test_the_time_of_a_call_is_compared_with_calendars(admin):
    day = {"zone": "UTC", "week": {"mon": [["09:00", "17:00"]]}}
    night = {"path": "/local_time", "op": "in_hours", "value": "day", "not": True}
    policy = {"rules": [rule("night", "deny", night)], "calendars": {"day": day}}

    for at, effect in (("2026-03-02T12:00:00Z", "ask"), ("2026-03-02T20:00:00Z", "deny")):
        body = {"policy": policy, "tool": "refund", "arguments": {}, "at": at}
        assert try_call(admin, **body).json()["effect"] == effect
    naive = try_call(admin, SMALL, tool="refund", at="2026-03-02T12:00:00")
    assert naive.status_code == 422


def test_a_request_is_tried_and_nothing_is_stored(admin, world):
    publish(world, rule("other", "ask", tool_is("other")))
    (interrupt,) = open_interrupts(start(world, "rehearse:tool_call"))
    count = Ruling.objects.count(), AuditEntry.objects.count()

    response = try_call(admin, rule("all", "deny"), request=str(interrupt.pk))
    assert response.json()["effect"] == "deny"
    assert count == (Ruling.objects.count(), AuditEntry.objects.count())


def test_requests_of_other_teams_are_not_found(client, admin, world):
    (interrupt,) = open_interrupts(start(world, "rehearse:tool_call"))
    client.force_login(world.carol)

    body = {"policy": {"rules": [SMALL]}, "request": str(interrupt.pk)}
    path = "/api/teams/others/policy/test"
    assert client.post(path, body, "application/json").status_code == 404


def test_reviewers_do_not_try_a_policy(client, world):
    client.force_login(world.bob)

    assert try_call(client, SMALL, tool="refund").status_code == 403
