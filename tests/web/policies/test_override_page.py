"""Overriding the policy on the page of a request."""

import pytest
from django.test import Client

from inbox.actions.people.groups import add_to_group, create_group
from inbox.rules.people.access import SEED
from tests.support.policies.published import publish, rule
from tests.support.steps import open_interrupts, reread, start
from tests.support.web.pages import Reader, words

TWO = {"slots": [{"role": "reviewer"}, {"role": "reviewer"}]}
REASON = "The shop is down."


@pytest.fixture
def interrupt(world):
    publish(world, rule("two", "ask", require=TWO))
    return open_interrupts(start(world, "rehearse:tool_call"))[0]


@pytest.fixture
def leader(world, reads_ana):
    """Bob, who has just signed in, and whose group an administrator has chosen."""
    create_group(team_id=world.team.pk, name="leads", actor=SEED)
    add_to_group(team_id=world.team.pk, name="leads", user_id=world.bob.pk, actor=SEED)
    settings = {"name": "Tests", "grace_seconds": "0", "override_group": "leads"}
    assert reads_ana.client.post("/teams/tests/save", settings).status_code == 303
    client = Client()
    client.post("/login/", {"username": "bob", "password": "bob-password"})
    return Reader(client)


def test_the_page_shows_for_good_that_the_policy_was_overridden(interrupt, leader, reads_alice):
    answer = leader.send(interrupt, "override", override_reason=REASON)

    assert answer.status_code == 303
    assert reread(interrupt).status == "resolved"
    page = words(reads_alice.get(f"/interrupts/{interrupt.pk}/"))
    assert f"Approved despite the policy. {REASON}" in page
    assert "Bob overrode the policy" in page


def test_without_a_reason_the_form_is_shown_again(interrupt, leader):
    answer = leader.send(interrupt, "override", override_reason=" ")

    assert answer.status_code == 422
    assert "Give a reason of at most 500 characters." in words(answer)
    assert '<details class="settings" id="override" open>' in answer.content.decode()


def test_an_old_sign_in_is_confirmed_first(interrupt, leader):
    session = leader.client.session
    session["account_authentication_methods"] = []
    session.save()

    answer = leader.send(interrupt, "override", override_reason=REASON)

    assert answer.status_code == 422
    assert "Confirm it is you" in words(answer)
    assert REASON in answer.content.decode()


def test_others_are_not_offered_an_override(interrupt, leader, reads_ana):
    assert "Override the policy" in words(leader.get(f"/interrupts/{interrupt.pk}/"))
    assert "Override the policy" not in words(reads_ana.get(f"/interrupts/{interrupt.pk}/"))
    answer = reads_ana.send(interrupt, "override", override_reason=REASON)
    assert answer.status_code in (403, 422)
    assert reread(interrupt).status == "open"
