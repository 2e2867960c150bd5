"""The form for one rule of a policy."""

import json
import re
from dataclasses import replace
from random import Random

import pytest

from inbox.actions.policies.versions import save_draft
from inbox.models import PolicyDraft, Team
from inbox.rules.people.access import SEED
from inbox.rules.policies.language.document import parse_policy
from inbox.rules.policies.language.policy import Op, Requirement
from inbox.web.policies.editing.rule_form import form_of, parse_value, rule_json, value_text
from inbox.web.policies.editing.rule_templates import TEMPLATES
from tests.support.policies.generator import document
from tests.support.policies.published import administrator, publish, rule, tool_is, up_to
from tests.support.steps import start

PATH = "/teams/tests/policy/"


@pytest.fixture
def admin(client, world):
    client.force_login(type(world.bob).objects.get(pk=administrator(world).user_id))
    return client


def draft():
    return json.loads(PolicyDraft.objects.get().body)


def seen():
    row = PolicyDraft.objects.first()
    return row.digest if row else ""


def fields(**more):
    """The posted fields of a complete form."""
    return {
        "name": "Small refunds",
        "effect": "allow",
        "mode": "enforce",
        "tools": ["refund"],
        "when-0-fact": "amount",
        "when-0-comparison": "lte",
        "when-0-value": "50",
        "via": ["web", "rest", "agui"],
        "keys": "1",
        "grantable": "1",
        "on_expiry": "cancel",
        "unit": "hours",
        "seen": seen(),
        "save": "1",
        **more,
    }


def save_draft_of(document):
    save_draft(team_id=Team.objects.get(slug="tests").pk, body=document, actor=SEED)


def test_a_rule_of_the_form_is_saved_in_the_draft(admin):
    response = admin.post(f"{PATH}new/add", fields())

    assert response.status_code == 303
    assert draft()["rules"] == [
        {
            "id": "small-refunds",
            "name": "Small refunds",
            "effect": "allow",
            "when": [tool_is("refund"), up_to(50)],
        }
    ]


@pytest.mark.parametrize(
    ("ways", "listed"),
    [
        (["web", "rest", "agui"], None),
        (["web", "link"], ["link", "web"]),
        (["web", "rest", "agui", "link"], ["agui", "link", "rest", "web"]),
    ],
)
def test_links_are_a_way_to_decide_only_if_they_are_ticked(admin, ways, listed):
    admin.post(f"{PATH}new/add", fields(effect="ask", via=ways))

    (stored,) = draft()["rules"]
    assert stored.get("require", {}).get("via") == listed
    page = admin.get(f"{PATH}rules/small-refunds/").content.decode()
    ticked = re.findall(r'name="via" value="(\w+)" checked', page)
    assert ticked == ways
    assert "links in e-mails" in page


def test_a_list_of_the_usual_ways_is_kept(admin):
    usual = ["web", "rest", "agui"]
    save_draft_of({"rules": [rule("small-refunds", "ask", require={"via": usual})]})
    page = admin.get(f"{PATH}rules/small-refunds/").content.decode()
    assert 'name="lists_ways" value="1"' in page

    admin.post(f"{PATH}rules/small-refunds/save", fields(effect="ask", lists_ways="1"))

    assert draft()["rules"][0]["require"]["via"] == sorted(usual)


def test_the_form_offers_the_tools_and_arguments_of_recent_calls(admin, world):
    start(world, "rehearse:tool_call")

    text = admin.get(f"{PATH}new/").content.decode()
    assert 'name="tools" value="' in text
    assert '<option value="to">text</option>' in text


def test_a_rule_is_shown_in_the_form_with_its_sentence(admin):
    save_draft_of({"rules": [rule("small", "allow", tool_is("refund"), up_to(50))]})
    page = admin.get(f"{PATH}rules/small/").content.decode()

    assert 'value="amount"' in page
    assert "When any agent calls refund and amount is at most 50, run without asking." in page


def test_errors_are_shown_at_their_fields(admin):
    response = admin.post(f"{PATH}new/add", fields(**{"when-0-value": "fifty"}))

    text = response.content.decode()
    assert response.status_code == 422
    assert '<a href="#f-when-0-value">This must be a number.</a>' in text
    assert 'value="fifty"' in text
    assert not PolicyDraft.objects.exists()


def test_a_rule_that_allows_everything_is_refused_at_its_conditions(admin):
    response = admin.post(
        f"{PATH}new/add", fields(**{"when-0-fact": "", "when-0-value": "", "tools": []})
    )

    assert '<a href="#f-add-when">' in response.content.decode()


def test_rows_are_added_and_removed_without_losing_text(admin):
    posted = fields(add="unless", **{"when-1-fact": "to", "when-1-value": "x"})
    del posted["save"]
    text = admin.post(f"{PATH}new/add", posted).content.decode()
    assert 'name="unless-0-fact"' in text

    del posted["add"]
    text = admin.post(f"{PATH}new/add", {**posted, "remove": "when-0"}).content.decode()
    assert 'name="when-0-fact" value="to"' in text
    assert 'name="when-1-fact"' not in text
    assert not PolicyDraft.objects.exists()


def test_a_draft_changed_meanwhile_keeps_both_administrators_rules(admin):
    posted = fields()
    save_draft_of({"rules": [rule("other", "ask")]})

    response = admin.post(f"{PATH}new/add", posted)
    text = response.content.decode()
    assert response.status_code == 409
    assert "has changed the draft in the meantime" in text
    assert 'value="Small refunds"' in text
    assert [item["id"] for item in draft()["rules"]] == ["other"]

    admin.post(f"{PATH}new/add", {**posted, "seen": seen()})
    assert [item["id"] for item in draft()["rules"]] == ["other", "small-refunds"]


def test_a_rule_is_turned_off_duplicated_and_deleted(admin):
    save_draft_of({"rules": [rule("small", "allow", tool_is("refund"))]})

    for action in ("off", "duplicate", "delete"):
        admin.post(f"{PATH}rules/small/change", {"do": action, "seen": seen()})

    (copy,) = draft()["rules"]
    assert (copy["id"], copy["name"], copy["mode"]) == ("small-2", "Copy of small", "off")


def test_a_change_of_a_draft_that_was_changed_is_refused(admin):
    save_draft_of({"rules": [rule("small", "allow", tool_is("refund"))]})

    response = admin.post(f"{PATH}rules/small/change", {"do": "delete", "seen": "other"})
    assert response.status_code == 409
    assert len(draft()["rules"]) == 1


def test_a_template_takes_the_teams_own_tool(admin, world):
    publish(world, rule("keep", "ask"))
    for name in TEMPLATES:
        assert admin.get(f"{PATH}new/?template={name}").status_code == 200


def test_a_template_asks_about_programs_that_read_commands(admin, world):
    publish(world, rule("keep", "ask"))

    page = admin.get(f"{PATH}new/?template=command-readers").content.decode()

    assert "sh, bash, zsh, python" in page
    assert "Reads further commands, which nobody approves" in page


def test_only_administrators_see_the_form(client, world):
    publish(world, rule("small", "ask"))
    client.force_login(world.bob)

    assert client.get(f"{PATH}new/").status_code == 403
    assert client.get(f"{PATH}rules/small/").status_code == 403


@pytest.mark.parametrize("effect", ["allow", "ask", "deny"])
def test_requirements_are_saved_for_rules_that_ask_only(admin, effect):
    admin.post(
        f"{PATH}new/add",
        fields(effect=effect, after="4", self_approval="no", **{"people-role:reviewer": "2"}),
    )

    requirement = draft()["rules"][0].get("require")
    expected = {
        "slots": [{"role": "reviewer"}, {"role": "reviewer"}],
        "self_approval": False,
        "expires_after": "PT4H",
    }
    assert requirement == (expected if effect == "ask" else None)


@pytest.mark.parametrize("kind", ["", "string", "number"])
def test_each_rule_survives_the_form_unchanged(kind):
    types = {"amount": kind, "to": kind, "items": "array", "a~1b/c": kind}
    for seed in range(300):
        policy = parse_policy(document(Random(seed)))
        for item in policy.rules:
            written = rule_json(form_of(item, types), item.id, types)
            assert not written.problems
            again = parse_policy({**policy.to_json(), "rules": [written.rule]}).rules[0]
            assert normalized(again) == normalized(item)


def normalized(item):
    """Return the rule with sorted slots, and without empty requirements."""
    if item.require in (None, Requirement()):
        return replace(item, require=None)
    slots = tuple(sorted(item.require.slots))
    return replace(item, require=replace(item.require, slots=slots))


@pytest.mark.parametrize(
    ("text", "kind", "value"),
    [
        ("50", "", 50),
        ("50", "string", "50"),
        ('"50"', "", "50"),
        ("49.90", "number", 49.9),
        ("true", "", True),
        ("EUR", "", "EUR"),
        ("007", "", "007"),
    ],
)
def test_a_value_is_read_by_the_type_of_its_argument(text, kind, value):
    assert parse_value(Op.IS, text, kind) == value
    assert parse_value(Op.IS, value_text(Op.IS, value), kind) == value


def test_a_rule_allows_chats_only_if_somebody_ticks_them(admin):
    ways = '<input type="checkbox" name="via" value="{}" checked'
    page = admin.get(f"{PATH}new/").content.decode()
    assert ways.format("web") in page
    assert ways.format("chat") not in page
    posted = fields(effect="ask", via=["web", "rest", "agui", "chat"])

    assert admin.post(f"{PATH}new/add", posted).status_code == 303

    assert draft()["rules"][0]["require"] == {"via": ["agui", "chat", "rest", "web"]}
    page = admin.get(f"{PATH}rules/small-refunds/").content.decode()
    assert ways.format("chat") in page
