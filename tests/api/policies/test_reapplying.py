"""Applying the policy in force to open requests, over REST, on the page and by the command."""

import io
from uuid import uuid4

import pytest
from django.core.management import call_command

from inbox.actions.policies import reapply
from inbox.models import Interrupt, Ruling
from inbox.queries.policies import reapplication
from tests.support.policies.published import administrator, publish, rule, tool_is, up_to
from tests.support.policies.refunds import proposals
from tests.support.steps import open_interrupts, reread, start

PATH = "/api/teams/tests/policy/reapply"
PAGE = "/teams/tests/policy/reapply/"
SMALL = rule("small", "allow", tool_is("refund"), up_to(50))


@pytest.fixture
def admin(client, world):
    client.force_login(type(world.bob).objects.get(pk=administrator(world).user_id))
    return client


@pytest.fixture
def interrupts(world, as_agent):
    calls = [{"amount": 40}, {"amount": 60}]
    run = start(world, "go", agent=as_agent(proposals(calls)))
    publish(world, SMALL)
    return open_interrupts(run)


def test_the_preview_names_what_would_change(admin, interrupts):
    response = admin.get(PATH)

    small, _ = interrupts
    assert response.json() == {
        "requests": 2,
        "changes": [
            {"request": str(small.pk), "tool": "refund", "effect": "allow", "rules": ["small"]}
        ],
        "complete": True,
    }
    assert not Ruling.objects.exists()


def test_applying_over_rest_decides_what_the_policy_answers(admin, interrupts):
    response = admin.post(PATH, {}, content_type="application/json")

    assert response.json() == {"changed": 0, "decided": 1, "next_after": None}
    assert [reread(row).status for row in interrupts] == ["resolved", "open"]


def test_a_team_without_open_requests_has_nothing_to_apply(admin, world):
    publish(world, SMALL)

    assert admin.post(PATH, {}, content_type="application/json").json()["decided"] == 0
    assert "No open request would change" in admin.get(PAGE).content.decode()


@pytest.mark.parametrize("after", ["x", 1, None, "\0"])
def test_a_cursor_that_is_no_id_is_refused(admin, interrupts, after):
    response = admin.post(PATH, {"after": after}, content_type="application/json")

    assert response.status_code == 400


def test_the_page_lists_the_changes_and_applies_them(admin, interrupts):
    page = admin.get(PAGE).content.decode()
    assert "1 open request would change" in page
    assert str(interrupts[0].pk) in page

    page = admin.post(f"{PAGE}run").content.decode()

    assert "1 request was decided by the policy" in page
    assert reread(interrupts[0]).status == "resolved"


def test_the_page_goes_on_where_it_stopped(admin, world, as_agent, monkeypatch):
    monkeypatch.setattr(reapply, "MAX_THREADS", 1)
    for _ in range(2):
        start(world, "go", agent=as_agent(proposals([{"amount": 40}])))
    publish(world, SMALL)

    response = admin.post(f"{PAGE}run")
    assert "Continue" in response.content.decode()
    after = response.context["result"].next_after
    last = admin.post(f"{PAGE}run", {"after": str(after)}).content.decode()

    assert "Continue" not in last
    assert Ruling.objects.filter(effect="allow").count() == 2


def test_a_cursor_of_the_page_that_is_no_id_is_not_found(admin, interrupts):
    assert admin.post(f"{PAGE}run", {"after": "x"}).status_code == 404
    assert admin.post(f"{PAGE}run", {"after": str(uuid4())}).status_code == 200


def test_the_command_applies_the_policy_to_all_threads(world, interrupts):
    administrator(world)
    output = io.StringIO()

    call_command("policy", "reapply", "--team", "tests", "--user", "erin", stdout=output)

    assert output.getvalue() == "1 requests decided, 0 with a new ruling.\n"


def test_the_page_offers_to_apply_where_not_all_requests_were_checked(
    admin, interrupts, monkeypatch
):
    monkeypatch.setattr(reapplication, "MAX_REQUESTS", 1)
    small, _ = interrupts
    Interrupt.objects.filter(pk=small.pk).update(position=9)

    page = admin.get(PAGE).content.decode()

    assert "None of the first 1 open requests would change." in page
    assert "Apply</span>" in page
    assert 'data-url="/teams/"' in page
