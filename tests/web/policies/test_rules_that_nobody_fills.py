"""Warnings about rules that nobody can fulfil, and the requests that a rule would have met."""

import pytest

from inbox.actions.people.groups import create_group
from inbox.actions.policies.versions import save_draft
from inbox.models import Membership
from inbox.rules.people.access import SEED
from tests.support.policies.published import administrator, publish, rule, tool_is
from tests.support.steps import start
from tests.support.web.pages import words

PATH = "/teams/tests/policy/"


@pytest.fixture
def admin(client, world):
    client.force_login(type(world.bob).objects.get(pk=administrator(world).user_id))
    return client


def slots(*slots):
    return rule("many", "ask", name="Many eyes", require={"slots": list(slots)})


def draft(world, *rules):
    save_draft(team_id=world.team.pk, body={"rules": list(rules)}, actor=SEED)


@pytest.mark.parametrize(
    ("required", "missing"),
    [
        ([{"group": "finance"}], "finance"),
        ([{"role": "admin"}, {"role": "admin"}], "admin"),
        ([{"role": "reviewer"}] * 9, "reviewer"),
    ],
)
def test_a_draft_that_nobody_can_fulfil_is_pointed_out(admin, world, required, missing):
    create_group(team_id=world.team.pk, name="finance", actor=SEED)
    draft(world, slots(*required))

    page = words(admin.get(PATH))

    assert "Nobody can fulfil Many eyes: too few people of the team are in" in page
    assert missing in page


def test_a_rule_that_people_can_fulfil_is_not_pointed_out(admin, world):
    draft(world, slots({"role": "admin"}, {"role": "reviewer"}))

    assert "Nobody can fulfil" not in words(admin.get(PATH))


def test_a_rule_in_force_is_pointed_out_once_its_people_have_left(admin, world):
    publish(world, slots({"role": "admin"}, {"role": "reviewer"}))
    Membership.objects.filter(team=world.team, role="reviewer").update(role="viewer")

    assert "Nobody can fulfil" in words(admin.get(PATH))


def test_the_form_says_which_requests_a_rule_would_have_met(admin, world):
    for scenario in ("tool_call", "input_required", "confirmation"):
        start(world, f"rehearse:{scenario}")
    is_agent = {"path": "/agent", "op": "is", "value": "rehearsal"}
    draft(world, rule("mails", "ask", tool_is("send_email")), rule("all", "ask", is_agent))

    mails = words(admin.get(f"{PATH}rules/mails/"))
    everything = words(admin.get(f"{PATH}rules/all/"))

    assert "It would have met" not in mails
    assert "Matching calls in the last 30 days: 1" in mails
    assert "It would have met 3 of the last 3 requests; questions among them: 2." in everything
