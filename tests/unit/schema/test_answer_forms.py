"""Approvals in the form that an agent's response schema has for them."""

import pytest

from inbox.rules.schema.answer_forms import Unanswerable, answer_form, check_answerable
from inbox.rules.schema.schemas import find_violations

YES, NO = {"approved": True}, {"approved": False}


def member(name, schema, **more):
    return {"type": "object", "properties": {name: schema}, "required": [name], **more}


def words(*values):
    return {"type": "string", "enum": list(values)}


FORMS = {
    "a boolean": ({"type": "boolean"}, True, False),
    "text or boolean": ({"type": ["string", "boolean"]}, True, False),
    "a text": ({"type": "string"}, "yes", "no"),
    "words": (words("approve", "edit", "reject"), "approve", "reject"),
    "capitals": (words("APPROVED", "DENIED"), "APPROVED", "DENIED"),
    "letters": (words("y", "n", "always"), "y", "n"),
    "constants": ({"oneOf": [{"const": "Yes"}, {"const": "No"}]}, "Yes", "No"),
    "accepted": (member("accepted", {"type": "boolean"}), {"accepted": True}, {"accepted": False}),
    "confirmed": (
        member("confirmed", {"type": "boolean"}, additionalProperties=False),
        {"confirmed": True},
        {"confirmed": False},
    ),
    "behavior": (
        member("behavior", words("allow", "deny")),
        {"behavior": "allow"},
        {"behavior": "deny"},
    ),
    "decision": (
        member("decision", words("approve", "decline")),
        {"decision": "approve"},
        {"decision": "decline"},
    ),
    "a type": (member("type", words("accept", "ignore")), {"type": "accept"}, {"type": "ignore"}),
    "approved in words": (
        member("approved", words("yes", "no")),
        {"approved": "yes"},
        {"approved": "no"},
    ),
    "a definition": (
        {
            **member("decision", {"$ref": "#/$defs/choice"}),
            "$defs": {"choice": words("allow", "deny")},
        },
        {"decision": "allow"},
        {"decision": "deny"},
    ),
}


@pytest.mark.parametrize(("schema", "yes", "no"), FORMS.values(), ids=FORMS)
def test_a_decision_takes_the_form_of_the_agents_schema(schema, yes, no):
    form = answer_form(schema)

    for payload, own in ((YES, yes), (NO, no)):
        assert form.answer(payload) == own
        assert find_violations(schema=schema, value=own) == []
        assert form.approval(schema, own) == payload
        assert find_violations(schema=form.schema(schema), value=payload) == []
    for payload in (None, {}, True, "yes", {"approved": 1}, {"approved": "true"}):
        assert form.answer(payload) == no


def test_reasons_and_edits_use_the_members_that_the_schema_has():
    properties = {
        "behavior": words("allow", "deny"),
        "message": {"type": "string"},
        "updatedInput": {"type": "object", "properties": {"amount": {"type": "number"}}},
    }
    schema = {"type": "object", "properties": properties, "required": ["behavior", "message"]}
    form = answer_form(schema)

    edited = form.answer({**YES, "editedArgs": {"amount": 5}})
    denied = form.answer({**NO, "reason": "too much"})

    assert edited["updatedInput"] == {"amount": 5}
    assert denied == {"behavior": "deny", "message": "too much"}
    for answer in (edited, denied, form.answer(YES), form.answer(NO)):
        assert find_violations(schema=schema, value=answer) == []
    edits = form.schema(schema)["properties"]["editedArgs"]
    assert edits["properties"] == properties["updatedInput"]["properties"]
    assert form.approval(schema, edited)["editedArgs"] == {"amount": 5}


def test_a_schema_without_room_takes_no_edits_and_no_reason():
    form = answer_form({"type": ["string", "boolean"]})

    schema = form.schema({"type": ["string", "boolean"]})

    assert set(schema["properties"]) == {"approved", "reason"}
    assert "learns only" in schema["properties"]["reason"]["description"]


@pytest.mark.parametrize("answer", ["always", "", "maybe", 1, None, {"approved": 1}, ["yes"]])
def test_an_answer_that_is_no_certain_yes_or_no_stays_as_it_is(answer):
    schema = {"type": ["string", "boolean"]}

    assert answer_form(schema).approval(schema, answer) == answer


@pytest.mark.parametrize(
    "schema",
    [
        None,
        {},
        {"type": "object"},
        member("approved", {"type": "boolean"}),
        member("approved", {"type": "boolean", "const": True}, additionalProperties=False),
        {
            "type": "object",
            "properties": {"approved": {"type": "boolean"}, "quarter": {"type": "string"}},
            "required": ["approved", "quarter"],
        },
        {"anyOf": [{"type": "string"}, member("approved", {"type": "boolean"})]},
        member("code", {"type": "string"}, minProperties=2),
    ],
)
def test_schemas_that_take_approved_are_answered_as_they_are(schema):
    assert answer_form(schema) is None
    check_answerable(reason="tool_call", schema=schema)


@pytest.mark.parametrize(
    ("reason", "schema"),
    [
        ("tool_call", {"type": "integer"}),
        ("tool_call", {"type": "array", "items": {"type": "string"}}),
        ("tool_call", words("red", "blue")),
        ("tool_call", member("colour", {"type": "string"}, additionalProperties=False)),
        ("tool_call", member("approved", {"type": "integer"})),
        ("tool_call", {"anyOf": [{"type": "integer"}, {"type": "null"}]}),
        ("input_required", {"enum": []}),
        ("input_required", {"type": "string", "enum": [1, 2]}),
        ("input_required", {"type": "number", "const": "five"}),
        ("input_required", {"allOf": [{"type": "string"}, {"type": "number"}]}),
        ("confirmation", {"not": {}}),
    ],
)
def test_a_schema_that_no_answer_can_match_is_named(reason, schema):
    with pytest.raises(Unanswerable):
        check_answerable(reason=reason, schema=schema)


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "string", "pattern": "^[a-z]{3}$"},
        {"type": "integer", "minimum": 5},
        {"enum": ["a", 1]},
        {"anyOf": [{"const": "a"}, {"const": "b"}]},
        {"not": {"type": "null"}},
        {"type": "array", "minItems": 2},
        {"type": "object", "required": ["a"]},
    ],
)
def test_a_schema_that_some_answer_may_match_is_accepted(schema):
    check_answerable(reason="input_required", schema=schema)
