"""The form for one rule of a policy."""

import html
import json
import re
from dataclasses import replace
from random import Random

import pytest

from inbox.actions.people.groups import add_to_group, create_group
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
    assert "1 call" in text
    text = admin.post(f"{PATH}new/add", {"add": "when"}).content.decode()
    assert re.search(r'name="when-0-fact-choice" value="to">\s*<span dir="auto">to</span>', text)


def chips(response):
    """The parts of the sentence that can be chosen, in its order."""
    labels = re.findall(r'class="part-label">(.*?)</span>', response.content.decode())
    return [html.unescape(label) for label in labels]


@pytest.mark.parametrize(
    ("item", "parts"),
    [
        (
            rule("small", "allow", tool_is("refund"), up_to(50)),
            ["any agent", "refund", "amount", "is at most", "50", "run without asking"],
        ),
        (
            rule("small", "deny", {"path": "/agent", "op": "is", "value": "desk"}, tool_is("mail")),
            ["desk", "mail", "deny"],
        ),
        (
            rule("small", "ask", require={"slots": [{"group": "a"}, {"role": "reviewer"}]}),
            ["any agent", "any request", "ask", "one of a and one reviewer", "deadline"],
        ),
        (
            rule("small", "ask", tool_is("mail"), require={"expires_after": "PT4H"}),
            ["any agent", "mail", "ask", "one reviewer", "4 hours", "cancel the request"],
        ),
        (
            rule(
                "small",
                "deny",
                tool_is("mail"),
                unless=[{"path": "/args/to", "op": "present", "not": True}],
            ),
            ["any agent", "mail", "deny", "to", "has no value"],
        ),
        (
            rule("small", "deny", {"path": "/args/a", "op": "between", "value": [1, 5]}),
            ["any agent", "any tool", "a", "is between", "1 and 5", "deny"],
        ),
    ],
)
def test_a_rule_is_a_sentence_of_parts_to_choose(admin, item, parts):
    save_draft_of({"rules": [item]})

    response = admin.get(f"{PATH}rules/small/")

    assert chips(response) == parts


def test_the_people_to_choose_have_faces(admin, world):
    group = {"team_id": world.team.pk, "name": "finance", "actor": SEED}
    create_group(**group)
    add_to_group(user_id=world.bob.pk, **group)

    text = admin.get(f"{PATH}new/").content.decode()

    menu = text[text.index('for="in-people-group:finance"') :]
    assert 'class="av' in menu[: menu.index("<input")]
    assert "1 person" in menu


def test_an_argument_of_the_list_is_chosen_without_typing(admin):
    admin.post(f"{PATH}new/add", fields(**{"when-0-fact": "", "when-0-fact-choice": "total"}))

    assert draft()["rules"][0]["when"][1]["path"] == "/args/total"


def test_a_limit_is_chosen_from_the_menu_without_a_script(admin):
    posted = fields(set="when-0-value=75")
    del posted["save"]

    assert "75" in chips(admin.post(f"{PATH}new/add", posted))
    assert not PolicyDraft.objects.exists()


@pytest.mark.parametrize(
    ("name", "tools", "rule_id"),
    [("Small refunds", ["refund"], "small-refunds"), ("", ["refund"], "refund"), ("", [], "rule")],
)
def test_a_rule_has_an_id_of_its_name_or_tools(admin, name, tools, rule_id):
    admin.post(f"{PATH}new/add", fields(name=name, tools=tools))

    assert draft()["rules"][0]["id"] == rule_id


def live(client, **more):
    """Post the form as the script does."""
    posted = {name: value for name, value in fields(**more).items() if value is not None}
    return client.post(f"{PATH}strip", posted)


def value_of(response, name):
    return re.search(rf'name="{name}" value="([^"]*)"', response.content.decode())[1]


def test_the_rule_saves_itself_and_says_when(admin):
    response = live(admin)

    assert re.search(r"Saved\s+<time", response.content.decode())
    assert value_of(response, "rule_id") == draft()["rules"][0]["id"] == "small-refunds"

    again = live(admin, rule_id="small-refunds", seen=seen(), name="Other")
    assert value_of(again, "seen") == seen()
    assert [item["name"] for item in draft()["rules"]] == ["Other"]


@pytest.mark.parametrize("value", ["", "fifty", "1,2"])
def test_an_incomplete_rule_does_not_save_itself(admin, value):
    response = live(admin, **{"when-0-value": value})

    assert "Not saved." in response.content.decode()
    assert 'aria-invalid="true"' in response.content.decode()
    assert not PolicyDraft.objects.exists()


def test_a_rule_in_conflict_does_not_save_itself(admin):
    stale = seen()
    save_draft_of({"rules": [rule("other", "ask")]})

    response = live(admin, seen=stale)

    assert "has changed the draft in the meantime" in response.content.decode()
    assert "data-conflict" in response.content.decode()
    assert chips(response)[1] == "refund"
    assert [item["id"] for item in draft()["rules"]] == ["other"]


def test_the_form_is_renewed_without_saving(admin):
    response = live(admin, save=None, add="unless")

    assert "unless" in response.content.decode()
    assert not PolicyDraft.objects.exists()


@pytest.mark.parametrize(("button", "mode"), [("shadow", "shadow"), ("publish", None)])
def test_the_buttons_lead_to_publishing_the_draft(admin, button, mode):
    response = admin.post(f"{PATH}new/add", fields(save=button))

    assert response.url == f"{PATH}?review=1#draft"
    assert draft()["rules"][0].get("mode") == mode
    assert (
        '<details class="draft banner" id="draft" open>' in admin.get(response.url).content.decode()
    )


def test_a_change_is_tried_beside_the_rule_in_force(admin, world):
    in_force = rule("small", "allow", tool_is("refund"), up_to(40))
    publish(world, in_force)
    page = admin.get(f"{PATH}rules/small/")

    admin.post(f"{PATH}rules/small/save", fields(save="shadow", seen=value_of(page, "seen")))

    first, tried = draft()["rules"]
    assert first == in_force
    assert (tried["id"], tried["mode"], tried["when"][1]) == ("small-2", "shadow", up_to(50))


def test_the_difference_to_the_version_in_force_is_one_line(admin, world):
    publish(world, rule("small", "allow", tool_is("refund"), up_to(40)))

    page = live(admin, save=None, rule_id="small").content.decode()

    assert "Version 1, in force:" in page
    assert re.search(r">40</del><ins><span[^>]*>added: ?</span>50</ins>", page)
    assert "Not in version 1" in live(admin, save=None).content.decode()
    same = live(admin, save=None, rule_id="small", name="", **{"when-0-value": "40"})
    assert "in force:" not in same.content.decode()


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
    response = admin.post(f"{PATH}new/add", {**posted, "remove": "when-0"})
    assert chips(response)[2:5] == ["to", "is", "x"]
    assert 'name="when-1-fact"' not in response.content.decode()
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
    """Return the rule with sorted conditions and slots, and without empty requirements."""
    item = replace(item, when=tuple(sorted(item.when, key=lambda part: str(part.to_json()))))
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
