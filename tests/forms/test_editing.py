"""Buttons, edits and errors of a form."""

from inbox.forms import ABSENT, build_form
from tests.forms.browser import open_page

ORDER = {
    "type": "object",
    "properties": {
        "memo": {"type": "string"},
        "recipient": {
            "type": "object",
            "properties": {"name": {"type": "string", "minLength": 1}, "tax": {"type": "string"}},
            "required": ["name"],
        },
        "lines": {
            "type": "array",
            "minItems": 1,
            "items": {
                "type": "object",
                "title": "Line",
                "properties": {
                    "sku": {"type": "string", "pattern": "^[A-Z]{3}-[0-9]{3}$"},
                    "qty": {"type": "integer", "minimum": 1},
                },
                "required": ["sku", "qty"],
            },
        },
        "labels": {"type": "object", "additionalProperties": {"type": "string"}},
    },
    "required": ["recipient", "lines"],
}
SENT = {
    "memo": "March",
    "recipient": {"name": "Ada", "tax": "DE1"},
    "lines": [{"sku": "AAA-001", "qty": 1}, {"sku": "BBB-002", "qty": 2}],
    "labels": {"team": "eu"},
}


def edited(**filled):
    """What comes out when exactly these fields of the order were typed into."""
    form = build_form(schema=ORDER, value=SENT, name="args")
    page = open_page(form)
    for name, text in filled.items():
        page.fill(name, text)
    return form.read(page.post())


def after(button, page, *, schema=ORDER, value=SENT):
    """The form that comes back when a button of it was pressed."""
    return build_form(schema=schema, value=value, name="args", posted=page.press(button))


def test_editing_one_field_changes_only_that_field():
    reading = edited(**{"args/lines/1/qty": "7"})

    assert not reading.problems
    assert reading.value == {
        **SENT,
        "lines": [{"sku": "AAA-001", "qty": 1}, {"sku": "BBB-002", "qty": 7}],
    }


def test_an_item_is_added_with_its_fields_unset_and_everything_typed_kept():
    page = open_page(build_form(schema=ORDER, value=SENT, name="args")).fill("args/memo", "April")

    form = after("add:args/lines", page)
    page = open_page(form).fill("args/lines/2/sku", "CCC-003").fill("args/lines/2/qty", "3")

    assert form.read(page.post()).value == {
        **SENT,
        "memo": "April",
        "lines": [*SENT["lines"], {"sku": "CCC-003", "qty": 3}],
    }


def test_a_removed_item_takes_nothing_of_its_neighbours_along():
    page = open_page(build_form(schema=ORDER, value=SENT, name="args"))
    page.fill("args/lines/1/qty", "9")

    form = after("remove:args/lines/0", page)

    assert form.read(open_page(form).post()).value["lines"] == [{"sku": "BBB-002", "qty": 9}]


def test_an_unanswered_form_invents_nothing_and_asks_for_what_is_needed():
    form = build_form(schema=ORDER, name="answer")

    reading = form.read(open_page(form).post())

    assert reading.value is ABSENT
    assert [(problem.pointer, problem.message) for problem in reading.problems] == [
        ("/recipient/name", "Enter Name."),
        ("/lines", "“Lines” has nothing in it yet. Say so, or add something."),
    ]
