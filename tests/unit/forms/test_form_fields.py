"""What single fields make of what is typed, ticked or chosen."""

from urllib.parse import urlencode

import pytest
from django.http import QueryDict

from inbox.forms.form import build_form
from inbox.forms.values import ABSENT
from tests.support.forms.form_page import open_page, render


def answered(schema, **typed):
    """The member `x` of an answer, and the messages, after its field was filled in."""
    schema = {"type": "object", "properties": {"x": schema, "y": {"type": "string"}}}
    form = build_form(schema=schema, value=typed.pop("value", ABSENT), name="a")
    page = open_page(form)
    page.fill("a/y", "y")
    for how, what in typed.items():
        {"text": page.fill, "choice": page.choose, "box": page.tick}[how]("a/x", what)
    reading = form.read(page.post())
    value = ABSENT if reading.value is ABSENT else reading.value.get("x", ABSENT)
    return value, [problem.message for problem in reading.problems]


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("12", 12),
        ("-0.5", -0.5),
        ("1e3", 1000),
        (" 7 ", 7),
        ("3.0", 3),
        ("0.1", 0.1),
        ("1e-7", 1e-7),
        ("9007199254740993123", 9007199254740993123),
    ],
)
def test_numbers_are_read_as_json_writes_them(text, number):
    value, problems = answered({"type": "number"}, text=text)

    assert (value, problems) == (number, [])
    assert isinstance(value, type(number))


@pytest.mark.parametrize(
    "text",
    [
        *["1,5", "0x10", "١٢", "1e999", "NaN", "+1", "1_0", "01", "--1", "."],
        *["0.12345678901234567890", "9" * 5_000],
    ],
)
def test_what_is_no_number_or_would_lose_digits_is_told_not_changed(text):
    value, problems = answered({"type": "number"}, text=text)

    assert value is ABSENT
    assert len(problems) == 1


@pytest.mark.parametrize(
    ("schema", "choice", "value"),
    [
        ({"type": "boolean"}, "0", True),
        ({"type": "boolean"}, "1", False),
        ({"type": "boolean"}, "", ABSENT),
        ({"enum": [1, "1", True, None]}, "1", "1"),
        ({"enum": [1, "1", True, None]}, "3", None),
        ({"enum": [{"a": [1]}, [2]]}, "0", {"a": [1]}),
        ({"type": ["boolean", "null"]}, "null", None),
        ({"anyOf": [{"const": "a"}, {"type": "null"}]}, "1", None),
        ({"oneOf": [{"const": "s", "title": "Small"}, {"const": "l"}]}, "1", "l"),
        ({"enum": list(range(50))}, "49", 49),
    ],
)
def test_a_choice_is_sent_with_its_own_type(schema, choice, value):
    assert answered(schema, choice=choice) == (value, [])


def test_an_enum_says_which_of_its_values_are_texts():
    form = build_form(schema={"enum": [1, "1"]}, name="a")

    assert [option.label for option in form.root.options] == ["1", '"1"']


def test_a_required_boolean_starts_unset_and_stays_unanswered():
    form = build_form(schema={"type": "boolean"}, name="a")
    page = open_page(form)

    assert "a" not in page.post()
    assert form.read(page.post()).value is ABSENT
    assert form.read(page.post()).problems


def test_no_value_is_null_and_typing_beside_it_is_asked_about():
    schema = {"type": ["string", "null"]}
    form = build_form(schema=schema, value="was", name="a")

    ticked = open_page(form).tick("a@null")
    assert form.read(ticked.post()).value is None
    assert form.read(ticked.fill("a", "typed").post()).problems


def test_unticking_no_value_without_typing_sends_nothing():
    schema = {"properties": {"x": {"type": ["string", "null"]}}}
    form = build_form(schema=schema, value={"x": None}, name="a")

    assert form.read(open_page(form).tick("a/x@null", on=False).post()).value == {}


@pytest.mark.parametrize(
    ("required", "before", "after"),
    [(True, "was", {"x": ""}), (False, "was", {}), (True, "", {"x": ""}), (False, "", {"x": ""})],
)
def test_cleared_text_is_absent_if_optional_and_empty_if_required(required, before, after):
    schema = {"properties": {"x": {"type": "string"}}, "required": ["x"] if required else []}
    form = build_form(schema=schema, value={"x": before}, name="a")

    assert form.read(open_page(form).fill("a/x", "").post()).value == after


def test_a_moment_is_asked_for_in_utc_and_written_out():
    value, problems = answered({"type": "string", "format": "date-time"}, text="2025-12-31T09:30")

    assert (value, problems) == ("2025-12-31T09:30:00Z", [])


def test_boxes_keep_the_agents_order_and_add_behind_it():
    schema = {"type": "array", "uniqueItems": True, "items": {"enum": ["a", "b", "c"]}}
    form = build_form(schema=schema, value=["c", "a"], name="x")
    page = open_page(form).tick("x", "1").tick("x", "0", on=False)

    assert form.read(page.post()).value == ["c", "b"]
    assert form.read(page.tick("x", "1", on=False).tick("x", "2", on=False).post()).value == []


def test_a_constant_is_shown_and_sent_only_with_an_answer():
    schema = {
        "properties": {"v": {"const": 2}, "x": {"type": "string"}},
        "required": ["v", "x"],
    }
    form = build_form(schema=schema, name="a")
    page = open_page(form)

    assert form.read(page.post()).value is ABSENT
    assert form.read(page.fill("a/x", "yes").post()).value == {"v": 2, "x": "yes"}
    assert not [control for control in page.controls if control.name == "a/v"]


def test_a_read_only_value_that_the_agent_left_out_cannot_be_made_up():
    schema = {"properties": {"id": {"type": "string", "readOnly": True}}, "required": ["id"]}
    form = build_form(schema=schema, name="a")
    post = open_page(form).post()

    assert "read-only value" in form.read(post).problems[0].message


def test_a_default_is_offered_and_not_sent():
    form = build_form(schema={"properties": {"x": {"type": "integer", "default": 5}}}, name="a")

    assert "Default: 5" in render(form)
    assert form.read(open_page(form).post()).value is ABSENT


METHOD = {
    "oneOf": [
        {
            "title": "Bank",
            "type": "object",
            "properties": {"kind": {"const": "bank"}, "iban": {"type": "string", "minLength": 4}},
            "required": ["kind", "iban"],
        },
        {
            "title": "Card",
            "type": "object",
            "properties": {"kind": {"const": "card"}, "last4": {"type": "string"}},
            "required": ["kind", "last4"],
        },
    ]
}


def test_the_value_chooses_its_branch_and_another_one_can_be_chosen():
    value = {"kind": "card", "last4": "4242"}
    form = build_form(schema=METHOD, value=value, name="m")
    assert form.root.branch_number == 1

    form = build_form(
        schema=METHOD, value=value, name="m", data=open_page(form).press("branch:0:m")
    )
    page = open_page(form).fill("m@0/iban", "DE02")

    assert form.read(page.post()).value == {"kind": "bank", "iban": "DE02"}


def test_errors_of_a_choice_are_those_of_the_chosen_branch():
    form = build_form(schema=METHOD, name="m")
    form = build_form(schema=METHOD, name="m", data=open_page(form).press("branch:0:m"))

    reading = form.read(open_page(form).fill("m@0/iban", "D").post())

    assert [(p.pointer, p.message) for p in reading.problems] == [
        ("/iban", "At least 4 characters.")
    ]


def test_nothing_chosen_is_asked_for():
    form = build_form(schema=METHOD, name="m")

    reading = form.read(open_page(form).post())

    assert reading.value is ABSENT
    assert reading.problems[0].field_id == "f-m"


def test_members_asked_by_the_page_are_not_fields_and_not_missing():
    schema = {
        "type": "object",
        "properties": {"approved": {"type": "boolean"}, "code": {"type": "string"}},
        "required": ["approved", "code"],
    }
    form = build_form(schema=schema, name="answer", excluded=("approved", "reason"))
    page = open_page(form)

    assert "answer/approved" not in page.post()
    assert [p.pointer for p in form.read(page.post()).problems] == ["/code"]
    assert form.read(page.fill("answer/code", "7").post()).value == {"code": "7"}


def test_long_text_is_folded_until_it_was_opened():
    form = build_form(schema=None, value={"body": "word " * 500, "to": "a"}, name="args")
    assert form.collapsible_ids == ["f-args-body"]

    post = open_page(form).tick("opened", "f-args-body").post(draft="save:args")
    again = build_form(schema=None, value=form.source.value, name="args", data=post)

    assert [n.opened for n in again.root.walk() if n.is_collapsible] == [True]


@pytest.mark.parametrize("value", ["a\u202eb", {"k": ["\u200b"]}, {"\u200b": 1}])
def test_what_cannot_be_seen_is_told(value):
    assert build_form(schema=None, value=value, name="a").has_invisible_characters
    assert not build_form(schema=None, value="plain\n", name="a").has_invisible_characters


def test_what_cannot_be_seen_is_spelled_out_in_its_field():
    page = render(build_form(schema=None, value="a\u202eb", name="a"))

    assert "\\u202e" in page
    assert "\u202e" not in page


def test_an_unchecked_pattern_is_named_at_its_field():
    form = build_form(schema={"type": "string", "pattern": "^(?!x)"}, name="a")

    assert "Not validated by the server. Pattern: ^(?!x)" in render(form)


@pytest.mark.parametrize("gone", ["a.tab", "a.base"])
def test_a_post_without_the_frame_of_the_form_is_no_answer(gone):
    form = build_form(schema={"type": "string"}, value="was", name="a")
    post = QueryDict(mutable=True)
    post.update({name: text for name, text in open_page(form).pairs() if name != gone})

    assert form.read(post).value is ABSENT
    assert form.read(post).problems


EVERY_KIND = {
    "type": "object",
    "properties": {
        "text": {"type": "string"},
        "area": {"type": "string", "maxLength": 500},
        "number": {"type": "number"},
        "day": {"type": "string", "format": "date"},
        "moment": {"type": "string", "format": "date-time"},
        "yes": {"type": "boolean"},
        "unset": {"type": "boolean"},
        "one": {"enum": list(range(9))},
        "some": {"type": "array", "uniqueItems": True, "items": {"enum": ["a", "b"]}},
        "json": {"not": {"const": 1}},
        "list": {"type": "array", "items": {"type": "string"}},
        "map": {"type": "object", "additionalProperties": {"type": "string"}},
        "branch": {"oneOf": [{"type": "string"}, {"type": "array"}]},
        "gone": {"type": "object", "properties": {"x": {"type": "string"}}},
    },
    "required": ["yes", "unset", "one"],
}
EVERY_VALUE = {
    "text": "a",
    "area": "b",
    "number": 1,
    "day": "2025-01-02",
    "yes": True,
    "one": 3,
    "moment": "2025-01-02T03:04:00Z",
    "some": ["a"],
    "json": [1],
    "list": ["x"],
    "map": {"k": "v"},
    "branch": "y",
}


def test_missing_field_is_an_error_not_an_empty_answer():
    form = build_form(schema=EVERY_KIND, value=EVERY_VALUE, name="a")
    pairs = list(open_page(form).pairs())
    assert form.read(QueryDict(urlencode(pairs))).value == EVERY_VALUE
    silent = []
    # Boxes may all be unticked, and without a format numbers are read in the reader's.
    for lost in {name for name, _ in pairs} - {"a/some", "a.numbers"}:
        reading = form.read(QueryDict(urlencode([pair for pair in pairs if pair[0] != lost])))
        if not any("submitted" in problem.message for problem in reading.problems):
            silent.append(lost)

    assert silent == []


def to_json(schema, value, typed=None, **more):
    form = build_form(schema=schema, value=value, name="a", **more)
    post = open_page(form).press("tab:json:a")
    form = build_form(schema=schema, value=value, name="a", data=post, **more)
    page = open_page(form)
    return form, page if typed is None else page.fill("a.json", typed)


def test_the_json_tab_is_checked_like_the_fields():
    schema = {"properties": {"n": {"type": "integer", "minimum": 1}}}
    form, page = to_json(schema, {"n": 1}, '{"n": 0}')

    (problem,) = form.read(page.post()).problems

    assert (problem.field_id, problem.message) == ("f-a_2e_json", "At /n: At least 1.")


@pytest.mark.parametrize("text", ["{", '{"a": 1, "a": 2}', "NaN", ""])
def test_json_that_cannot_be_read_stays_where_it_is_and_says_why(text):
    form, page = to_json({}, {"n": 1}, text)
    if text:
        again = build_form(schema={}, value={"n": 1}, name="a", data=page.press("tab:form:a"))
        assert (again.tab, open_page(again).control("a.json").value) == ("json", text)
        assert again.problems

    assert form.read(page.post()).problems


def test_what_was_written_as_json_becomes_fields_that_can_be_edited_on():
    schema = {"properties": {"to": {"type": "array", "items": {"type": "string"}}}}
    value = {"to": ["a"]}
    _, page = to_json(schema, value, '{"to": ["x", "y"], "more": {"deep": 1}}')
    form = build_form(schema=schema, value=value, name="a", data=page.press("tab:form:a"))

    page = open_page(form).fill("a/to/1", "z")

    assert form.read(page.post()).value == {"to": ["x", "z"], "more": {"deep": 1}}
    assert build_form(schema=schema, value=value, name="a").read(page.post()).value == {
        "to": ["x", "z"],
        "more": {"deep": 1},
    }


def test_what_was_typed_into_fields_is_there_as_json():
    schema = {"properties": {"s": {"type": "string"}}}
    form = build_form(schema=schema, value={"s": "a"}, name="a")
    post = open_page(form).fill("a/s", "b").post(draft="tab:json")

    form = build_form(schema=schema, value={"s": "a"}, name="a", data=post)

    assert '"s": "b"' in open_page(form).control("a.json").value


def test_what_the_page_asks_for_itself_has_no_place_in_the_json():
    form, page = to_json({}, ABSENT, '{"approved": true}', excluded=("approved",))

    assert "approved" in form.read(page.post()).problems[0].message


@pytest.mark.parametrize("longest", ["x" * 201, {"k": "x" * 201}])
def test_options_that_could_not_be_seen_whole_are_asked_for_as_json(longest):
    form = build_form(schema={"enum": ["a", longest]}, value=longest, name="a")

    assert form.root.kind == "json"
    assert form.read(open_page(form).post()).value == longest


LYING = {
    "type": "object",
    "properties": {
        "amount": {
            "title": "Tip",
            "oneOf": [{"const": 1, "title": "1 euro"}, {"const": 10**6, "title": "10 euro"}],
        },
        "nested": {"title": "Colour", "type": "object", "properties": {"delete_all": {}}},
        "unit_price": {"title": "Unit price", "type": "integer"},
    },
}


def test_titles_do_not_hide_what_is_approved():
    value = {"amount": 10**6, "nested": {"delete_all": "x"}, "unit_price": 1}
    form = build_form(schema=LYING, value=value, name="a")

    amount, nested, price = form.root.fields

    assert [option.label for option in amount.options if option.is_chosen] == ["10 euro (1000000)"]
    assert (amount.real_name, nested.real_name, price.real_name) == ("amount", "nested", "")
    assert '<code class="opt mono">amount</code>' in render(form)


def test_titles_are_enough_where_only_the_agent_reads_the_answer():
    amount = build_form(schema=LYING, name="a").root.fields[0]

    assert amount.real_name == ""
    assert [option.label for option in amount.options[:2]] == ["1 euro", "10 euro"]


NAMED = {"enum": ["p1", "p3", None], "enumNames": ["Urgent", "Later", "None of them"]}


def test_labels_of_enum_names_are_shown_for_choices_and_boxes():
    choice = build_form(schema=NAMED, name="a").root
    boxes = build_form(schema={"type": "array", "uniqueItems": True, "items": NAMED}, name="a").root

    assert [option.label for option in choice.options] == ["Urgent", "Later", "None of them"]
    assert [option.label for option in boxes.options] == ["Urgent", "Later", "None of them"]


@pytest.mark.parametrize("names", [["Urgent"], "Urgent", [1, "\u202e", ""], None])
def test_enum_names_that_do_not_fit_leave_each_value_readable(names):
    form = build_form(schema={**NAMED, "enumNames": names}, name="a")

    labels = [option.label for option in form.root.options]

    assert len(set(labels)) == 3
    assert all(label.strip() for label in labels)


def test_enum_names_do_not_hide_the_value_that_is_approved():
    form = build_form(schema={"properties": {"x": NAMED}}, value={"x": "p1"}, name="a")

    assert form.root.fields[0].options[0].label.startswith("Urgent (")
