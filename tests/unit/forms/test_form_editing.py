"""Buttons, edits and errors of a form."""

from inbox.forms.form import build_form
from inbox.forms.values import ABSENT
from tests.support.forms.form_page import open_page

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
    return build_form(schema=schema, value=value, name="args", data=page.press(button))


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
        ("/lines", "“Lines” is empty. Confirm that, or add an item."),
    ]


def test_invalid_form_is_shown_again_with_its_input_and_errors():
    form = build_form(schema=ORDER, value=SENT, name="args")
    post = open_page(form).fill("args/lines/0/qty", "0").fill("args/memo", "May").post()

    rejected = build_form(schema=ORDER, value=SENT, name="args", data=post)

    page = open_page(rejected)
    assert page.control("args/memo").value == "May"
    qty = page.control("args/lines/0/qty")
    assert (qty.value, qty.attributes["aria-invalid"]) == ("0", "true")
    assert [(p.field_id, p.label, p.message) for p in rejected.problems] == [
        ("f-args-lines-0-qty", "Qty", "At least 1.")
    ]


def test_a_button_of_another_form_changes_nothing_and_keeps_what_was_typed():
    page = open_page(build_form(schema=ORDER, value=SENT, name="args")).fill("args/memo", "May")
    post = page.post(draft="add:answer/lines")

    form = build_form(schema=ORDER, value=SENT, name="args", data=post)

    assert form.read(open_page(form).post()).value == {**SENT, "memo": "May"}


def test_a_button_never_calls_wrong_what_is_only_not_there_yet():
    form = build_form(schema=ORDER, name="answer")

    form = build_form(schema=ORDER, name="answer", data=open_page(form).press("add:answer/lines"))

    assert not form.problems
    assert "aria-invalid" not in str([c.attributes for c in open_page(form).controls])


def test_a_list_takes_no_more_items_than_it_may_have():
    schema = {"type": "array", "maxItems": 2, "items": {"type": "string"}}

    assert "add:args" in open_page(build_form(schema=schema, value=["a"], name="args")).buttons
    assert (
        "add:args"
        not in open_page(build_form(schema=schema, value=["a", "b"], name="args")).buttons
    )


def test_a_form_that_is_full_says_so_and_keeps_what_was_typed():
    item = {
        "type": "object",
        "properties": {f"k{number}": {"type": "string"} for number in range(30)},
    }
    remaining = {"type": "object", "properties": {f"r{n}": {"type": "string"} for n in range(19)}}
    schema = {
        "type": "object",
        "properties": {"a": {"type": "array", "items": item}, "b": remaining},
    }
    value = {"a": [{"k0": "x"}] * 9, "b": {}}
    page = open_page(build_form(schema=schema, value=value, name="args"))
    page.fill("args/b/r3", "typed")

    form = after("add:args/a", page, schema=schema, value=value)

    assert form.notice
    assert form.read(open_page(form).post()).value == {**value, "b": {"r3": "typed"}}


def test_pairs_are_added_renamed_and_removed():
    page = open_page(build_form(schema=ORDER, value=SENT, name="args"))
    page = open_page(after("add:args/labels", page))
    page.fill("args/labels@1@key", "project").fill("args/labels@1", "atlas")
    page.fill("args/labels@0@key", "group")
    form = build_form(schema=ORDER, value=SENT, name="args", data=page.post())

    assert form.read(page.post()).value["labels"] == {"group": "eu", "project": "atlas"}

    form = after("remove:args/labels@0", page)
    assert form.read(open_page(form).post()).value["labels"] == {"project": "atlas"}


def test_two_pairs_of_one_name_are_a_mistake_and_neither_wins():
    page = open_page(build_form(schema=ORDER, value=SENT, name="args"))
    page = open_page(after("add:args/labels", page))
    page.fill("args/labels@1@key", "team").fill("args/labels@1", "us")

    reading = build_form(schema=ORDER, value=SENT, name="args").read(page.post())

    assert [problem.field_id for problem in reading.problems] == ["f-args-labels_40_1_40_key"]


def test_an_optional_group_is_added_left_out_and_comes_back_as_it_was():
    schema = {
        "type": "object",
        "properties": {"to": {"type": "object", "properties": {"city": {"type": "string"}}}},
    }
    value = {"to": {"city": "Ulm", "zip": 7}}
    page = open_page(build_form(schema=schema, value=value, name="args"))

    dropped = after("drop:args/to", page, schema=schema, value=value)
    assert dropped.read(open_page(dropped).post()).value == {}

    put = after("put:args/to", open_page(dropped), schema=schema, value=value)
    assert put.read(open_page(put).post()).value == value


def test_an_empty_list_is_said_not_guessed():
    schema = {"type": "object", "properties": {"a": {"type": "array"}}, "required": ["a"]}
    page = open_page(build_form(schema=schema, name="args"))
    form = build_form(schema=schema, name="args")

    assert form.read(page.post()).value is ABSENT
    assert [p.pointer for p in form.read(page.post()).problems] == ["/a"]

    emptied = build_form(schema=schema, name="args", data=page.press("put:args/a"))
    assert emptied.read(open_page(emptied).post()).value == {"a": []}
