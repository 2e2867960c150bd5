"""The choices of a team about the display of a tool."""

import pytest

from inbox.rules.errors import InvalidValue
from inbox.rules.presentations.registry import PresentationName, Subject, choose, roles_of
from inbox.rules.presentations.tool_presentations import (
    check_tool_presentation,
    tool_presentation_of,
)

AMOUNT = {"label": "Amount", "type": "money", "unit": "EUR", "role": "amount"}


def test_a_presentation_keeps_what_was_chosen_without_empty_members():
    body = {"kind": "money", "values": {"amt": AMOUNT, "note": {"label": ""}}}

    check_tool_presentation("pay", body)

    assert tool_presentation_of(body).to_json() == {"kind": "money", "values": {"amt": AMOUNT}}


@pytest.mark.parametrize(
    ("tool", "body"),
    [
        ("", {"kind": "money"}),
        ("x" * 201, {"kind": "money"}),
        ("p\u202ey", {"kind": "money"}),
        ("pay", {}),
        ("pay", {"kind": "", "values": {"amt": {}}}),
        ("pay", {"kind": "invoice"}),
        ("pay", {"kind": "money", "values": {"a\0": AMOUNT}}),
        ("pay", {"kind": "money", "values": {"\ud800": AMOUNT}}),
        ("pay", {"kind": "money", "values": {"": AMOUNT}}),
        ("pay", {"kind": "money", "values": {"amt": {"label": "a\nb"}}}),
        ("pay", {"kind": "money", "values": {"amt": {"label": "x" * 81}}}),
        ("pay", {"kind": "money", "values": {"amt": {"unit": "E\u200bUR"}}}),
        ("pay", {"kind": "money", "values": {"amt": {"type": "html"}}}),
        ("pay", {"kind": "message", "values": {"amt": {"role": "amount"}}}),
        ("pay", {"kind": "", "values": {"amt": {"role": "nowhere"}}}),
        ("pay", {"kind": "money", "values": {"a": AMOUNT, "b": AMOUNT}}),
        ("pay", {"kind": "money", "values": {f"a{n}": {"label": "A"} for n in range(51)}}),
    ],
    ids=str,
)
def test_a_presentation_that_cannot_be_used_is_refused(tool, body):
    with pytest.raises(InvalidValue):
        check_tool_presentation(tool, body)


@pytest.mark.parametrize("name", [name for name in PresentationName if roles_of(name)])
def test_each_role_of_a_presentation_can_be_chosen(name):
    roles = {role: f"argument {number}" for number, role in enumerate(roles_of(name))}

    check_tool_presentation(
        "x", {"kind": name, "values": {a: {"role": r} for r, a in roles.items()}}
    )

    subject = Subject(dict.fromkeys(roles.values(), "1"), declared=name, roles=roles)
    assert choose(subject).roles == roles
