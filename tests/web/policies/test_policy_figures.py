"""The list of rules with what each did in the last 30 days, and the bar above it."""

import json
import re

import pytest

from inbox.actions.policies.versions import save_draft
from inbox.models import PolicyDraft
from inbox.rules.people.access import SEED
from tests.support.policies.past_calls import copy_requests
from tests.support.policies.published import administrator, publish, rule, tool_is
from tests.support.steps import approve, deny, start
from tests.support.web.pages import words

PATH = "/teams/tests/policy/"
MAIL = tool_is("send_email")


@pytest.fixture
def admin(client, world):
    client.force_login(type(world.bob).objects.get(pk=administrator(world).user_id))
    return client


def page(client):
    response = client.get(PATH)
    assert response.status_code == 200
    return response.content.decode()


def ask(world, act=None):
    row = start(world, "rehearse:tool_call").interrupts.get()
    if act:
        act(row, world.actor(world.bob))
        row.refresh_from_db()
    return row


def row_of(client, rule_id):
    """Return the row of one rule as HTML."""
    return page(client).partition(f'id="rule-{rule_id}"')[2].partition("</li>")[0]


def draft_of(world, *rules):
    save_draft(team_id=world.team.pk, body={"rules": list(rules)}, actor=SEED)


def ids_of_draft():
    return [item["id"] for item in json.loads(PolicyDraft.objects.get().body)["rules"]]


def test_the_bar_says_what_happened_to_the_calls(admin, world):
    rows = [ask(world, approve), ask(world, approve), ask(world, deny)]
    copy_requests(rows, 6)
    ask(world)

    text, html = words(admin.get(PATH)), page(admin)

    assert "Decided calls in the last 30 days: 9" in text
    assert "approved 67 % 6" in text
    assert "rejected 33 % 3" in text
    assert "Still waiting: 1." in text
    assert 'class="f-approved" x="0.0" width="664.7"' in html


def test_few_calls_are_said_without_a_chart(admin, world):
    ask(world, approve)

    html = page(admin)

    assert "Decided calls in the last 30 days: 1" in html
    assert "100 %" in html
    assert 'class="f-approved" x=' not in html


def test_a_share_below_one_percent_is_not_0(admin, world):
    copy_requests([ask(world, approve)], 250)
    publish(world, rule("always", "allow", MAIL))
    ask(world)

    assert "ran by rule under 1 % 1" in words(admin.get(PATH))


def test_each_rule_says_what_it_did(admin, world):
    publish(world, rule("asks", "ask", MAIL), rule("other", "deny", tool_is("other")))
    copy_requests([ask(world, deny), ask(world, approve)], 4)

    html = row_of(admin, "asks")

    assert "<b>6</b> asked" in html
    assert "<b>3</b> rejected" in html
    assert 'class="f-expired" d="M' in html
    assert "no call" in row_of(admin, "other")
    assert "spark" not in row_of(admin, "other")


def test_a_shadow_rule_says_what_it_would_have_done(admin, world):
    publish(world, rule("tried", "allow", MAIL, mode="shadow"))
    ask(world, deny)
    ask(world, approve)

    html = row_of(admin, "tried")

    assert "Shadow</span>" in html
    assert "would run <b>2</b>" in html
    assert '<span class="c-bad"><b>1</b> against people</span>' in html


def test_calls_that_no_rule_decided_are_the_last_row(admin, world):
    publish(world, rule("other", "deny", tool_is("other")))
    ask(world, approve)
    ask(world)

    assert "Everything else: ask one reviewer . 2 asked" in words(admin.get(PATH))


def test_only_rules_that_the_draft_changes_are_marked(admin, world):
    publish(world, rule("same", "ask", MAIL), rule("changed", "ask", MAIL))
    draft_of(world, rule("same", "ask", MAIL), rule("changed", "deny", MAIL), rule("new", "ask"))

    marked = [name for name in ("same", "changed", "new") if "Draft</span>" in row_of(admin, name)]

    assert marked == ["changed", "new"]
    assert "2 changes are not published." in page(admin)


def test_a_draft_is_the_only_banner(admin, world):
    publish(world, rule("same", "ask", MAIL))
    draft_of(world, rule("same", "ask", MAIL), rule("gone", "ask", tool_is("nobody")))

    html = page(admin).partition('id="detail"')[2]

    assert len(re.findall(r'class="[^"]*\bbanner\b', html)) == 1
    assert "1 change is not published:" in html
    assert "no agent of the team has called" in html


@pytest.mark.parametrize(
    ("moved", "step", "order"),
    [
        ("b", "up", ["b", "a", "c"]),
        ("b", "down", ["a", "c", "b"]),
        ("a", "up", ["a", "b", "c"]),
        ("c", "down", ["a", "b", "c"]),
        ("x", "up", ["a", "b", "c"]),
    ],
)
def test_rules_are_moved_in_the_draft(admin, world, moved, step, order):
    draft_of(world, *(rule(name, "ask", MAIL) for name in "abc"))
    seen = PolicyDraft.objects.get().digest

    response = admin.post(f"{PATH}rules/{moved}/change", {"do": step, "seen": seen})

    assert response.status_code == 303
    assert response["Location"] == f"{PATH}#rule-{moved}"
    assert ids_of_draft() == order


def test_rules_in_another_order_change_nothing(admin, world):
    rules = [rule(name, "ask", MAIL) for name in "ab"]
    publish(world, *rules)
    draft_of(world, *reversed(rules))

    assert "The draft is not published; its rules are those in force." in page(admin)


def test_a_member_without_forms_reads_the_figures(client, world):
    publish(world, rule("asks", "ask", MAIL))
    ask(world, approve)
    client.force_login(world.bob)

    html = page(client)

    assert "<b>1</b> asked" in html
    assert "rule-menu" not in html
    assert f'href="{PATH}rules/asks/"' not in html
