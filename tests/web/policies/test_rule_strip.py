"""The strip on the page of a rule: past calls, and what the rule would do with them."""

import re

import pytest

from inbox.actions.policies.versions import save_draft
from inbox.models import PolicyDraft
from inbox.queries.policies.history import rule_impact
from inbox.rules.people.access import SEED
from tests.support.policies.past_calls import copy_requests
from tests.support.policies.published import administrator, rule, tool_is, up_to
from tests.support.steps import approve, deny, start
from tests.support.web.pages import words

PATH = "/teams/tests/policy/rules/small/"
MAIL = tool_is("send_email")


@pytest.fixture
def admin(client, world):
    rule_impact._memories.clear()
    client.force_login(type(world.bob).objects.get(pk=administrator(world).user_id))
    return client


def decided(world, act, *amounts):
    """Store a decided request for each amount."""
    row = start(world, "rehearse:tool_call").interrupts.get()
    act(row, world.actor(world.bob))
    row.refresh_from_db()
    copy_requests(
        [row], len(amounts), args_of=lambda number, args: {**args, "amount": amounts[number]}
    )
    return row


def strip(client, world, *rules):
    save_draft(team_id=world.team.pk, body={"rules": list(rules)}, actor=SEED)
    return client.get(PATH)


def test_the_strip_counts_what_the_rule_would_do(admin, world):
    decided(world, approve, 10, 20, 30, 70)
    decided(world, deny, 40, 90)

    text = words(strip(admin, world, rule("small", "allow", MAIL, up_to(50))))

    assert "Matching calls in the last 30 days: 8" in text
    assert "4 would run" in text
    assert "4 as before" in text
    assert "1 against what people decided" in text


def test_a_contradiction_is_a_link_with_its_title_and_person(admin, world):
    row = decided(world, deny)

    response = strip(admin, world, rule("small", "allow", MAIL))

    html = response.content.decode()
    assert f'<a href="/interrupts/{row.pk}/" dir="auto">{row.title}</a>' in html
    assert "Rejected, Bob" in words(response).replace(" ,", ",")


def test_dots_are_drawn_over_the_limit(admin, world):
    decided(world, approve, 10, 20, 30, 70)
    decided(world, deny, 40, 90)

    html = strip(admin, world, rule("small", "allow", MAIL, up_to(50))).content.decode()

    assert html.count('class="f-approved" d="M') == 4
    assert html.count('class="s-rejected" d="M') == 2
    assert html.count('class="ring"') == 1
    (line,) = re.findall(r'class="limit" d="M48 ([\d.]+)h732"', html)
    ((top, height),) = re.findall(
        r'class="zone" x="48" y="([\d.]+)" width="732" height="([\d.]+)"', html
    )
    assert top == line
    assert abs(float(top) + float(height) - 268) < 0.2


def test_the_zone_of_a_lower_limit_is_above_it(admin, world):
    decided(world, approve, 10, 20, 30, 70, 80)
    above = {"path": "/args/amount", "op": "gt", "value": 50}

    html = strip(admin, world, rule("small", "ask", MAIL, above)).content.decode()

    (line,) = re.findall(r'class="limit" d="M48 ([\d.]+)h732"', html)
    ((top, height),) = re.findall(
        r'class="zone" x="48" y="([\d.]+)" width="732" height="([\d.]+)"', html
    )
    assert (top, round(float(top) + float(height), 1)) == ("8", float(line))


def test_few_calls_have_no_dots(admin, world):
    decided(world, approve, 10, 20)

    html = strip(admin, world, rule("small", "allow", MAIL, up_to(50))).content.decode()

    assert "Matching calls in the last 30 days: 3" in html
    assert "strip-plot" not in html


def test_a_rule_of_another_tool_matches_nothing(admin, world):
    decided(world, approve, 10)

    text = words(strip(admin, world, rule("small", "allow", tool_is("other"), up_to(50))))

    assert "Matching calls in the last 30 days: 0" in text
    assert "would run" not in text


def fields(**more):
    return {
        "name": "Small",
        "effect": "allow",
        "mode": "enforce",
        "tools": ["send_email"],
        "when-0-fact": "amount",
        "when-0-comparison": "lte",
        "when-0-value": "50",
        **more,
    }


def test_the_strip_follows_the_form_before_it_is_saved(admin, world):
    decided(world, approve, 10, 20, 60)

    texts = [
        words(admin.post("/teams/tests/policy/strip", fields(**{"when-0-value": limit})))
        for limit in ("10", "50")
    ]

    assert ["1 would run" in texts[0], "2 would run" in texts[1]] == [True, True]
    assert not PolicyDraft.objects.exists()


@pytest.mark.parametrize("limit", ["", "a lot", "1.2.3"])
def test_an_incomplete_form_has_no_strip(admin, limit):
    response = admin.post("/teams/tests/policy/strip", fields(**{"when-0-value": limit}))

    assert "The rule is not complete yet." in words(response)
    assert 'id="strip"' not in response.content.decode()


def slider(html):
    """The attributes of the limit that can be dragged."""
    (tag,) = re.findall(r'<input\s+id="limit"([^>]*)>', html)
    return dict(re.findall(r'([\w-]+)="([^"]*)"', tag))


@pytest.mark.parametrize(
    ("amounts", "limit", "expected"),
    [
        ((10, 20, 30, 40, 70), "50", ("0", "70", "1", "50")),
        ((1, 2, 3, 4, 7), "5", ("0", "7", "0.05", "5")),
        ((-40, 20, 30, 40, 160), "500", ("-40", "160", "2", "500")),
    ],
)
def test_the_limit_is_a_range_over_the_amounts(admin, world, amounts, limit, expected):
    decided(world, approve, *amounts)

    response = admin.post(
        "/teams/tests/policy/strip", fields(**{"when-0-value": limit, "seen": ""})
    )

    attributes = slider(response.content.decode())
    names = ("min", "max", "step", "value")
    assert tuple(attributes[name] for name in names) == expected
    assert attributes["data-field"] == "when-0-value"


def test_a_range_over_decades_has_the_place_in_percent(admin, world):
    decided(world, approve, 1, 10, 20, 100, 1000)

    html = admin.post("/teams/tests/policy/strip", fields(**{"when-0-value": "100"}))

    attributes = slider(html.content.decode())
    assert (attributes["max"], attributes["data-low"], attributes["data-high"]) == (
        "100",
        "1.0",
        "1000.0",
    )
    assert "data-logarithmic" in html.content.decode()
    assert abs(float(attributes["value"]) - 66.7) < 0.1


def test_limits_to_choose_say_how_many_calls_are_up_to_them(admin, world):
    decided(world, approve, 10, 20, 30, 60, 70)

    text = words(admin.post("/teams/tests/policy/strip", fields()))

    assert "40 3 up to it" in text


def test_only_administrators_get_a_strip(client, world):
    client.force_login(world.bob)

    assert client.post("/teams/tests/policy/strip", fields()).status_code == 403
