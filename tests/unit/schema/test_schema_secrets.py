"""Which keys and marks of a schema make a value secret, and what stands in its place."""

import json

import pytest

from inbox.rules.errors import InvalidPayload
from inbox.rules.schema.mask_agui import masked_message, masked_schema
from inbox.rules.schema.schemas import schema_problems
from inbox.rules.schema.secrets import (
    MASK,
    NAMES,
    HiddenBy,
    NumberedMasks,
    Secrets,
    check_no_masks,
    cut_at_secret,
    is_secret_name,
)


@pytest.mark.parametrize(
    "name",
    [
        *("password", "Password", "PASSWORD", "db_password", "userPassword", "passwd", "pwd"),
        *("secret", "client-secret", "clientSecret", "secretValue", "token", "access_token"),
        *("accessToken", "accesstoken", "api_key", "apiKey", "APIKey", "API-KEY", "X-Api-Key"),
        *("apikey", "Authorization", "proxy.authorization", "cookie", "Set-Cookie", "cvv"),
        *("private_key", "privateKey", "card", "card_number", "cardNumber", "credit card"),
        *("credentials", "session_id", "otp", "pin", "pass phrase 2 secret"),
    ],
)
def test_a_key_of_a_secret_is_known_however_it_is_written(name):
    assert is_secret_name(name)


@pytest.mark.parametrize(
    "name",
    [
        *("user", "amount", "author", "tokens", "max_tokens", "tokenizer", "secretary", "passport"),
        *("card_title", "discard", "spin", "pinned", "keyboard", "primary_key", "compass", "", "é"),
    ],
)
def test_a_key_that_only_looks_like_one_is_none(name):
    assert not is_secret_name(name)


MARKS = [{"writeOnly": True}, {"x-sensitive": True}, {"type": "string", "format": "password"}]


@pytest.mark.parametrize("mark", MARKS)
@pytest.mark.parametrize(
    ("schema", "value", "masked"),
    [
        (lambda m: m, "x", MASK),
        (lambda m: {"properties": {"a": m}}, {"a": "x", "b": "y"}, {"a": MASK, "b": "y"}),
        (lambda m: {"items": m}, ["x", "y"], [MASK, MASK]),
        (lambda m: {"prefixItems": [{}, m]}, ["x", "y"], ["x", MASK]),
        (lambda m: {"additionalProperties": m}, {"a": "x"}, {"a": MASK}),
        (lambda m: {"patternProperties": {"^a": m}}, {"a": "x"}, {"a": MASK}),
        (lambda m: {"allOf": [{}, {"properties": {"a": m}}]}, {"a": "x"}, {"a": MASK}),
        (lambda m: {"anyOf": [{"type": "null"}, m]}, "x", MASK),
        (lambda m: {"oneOf": [{"properties": {"a": m}}, {}]}, {"a": "x"}, {"a": MASK}),
        (lambda m: {"properties": {"a": m}}, {"a": [5, "x", True]}, {"a": [5, MASK, True]}),
        (lambda m: {"if": {}, "then": {"properties": {"a": m}}}, {"a": "x"}, {"a": MASK}),
        (
            lambda m: {"$defs": {"d": m}, "properties": {"a": {"$ref": "#/$defs/d"}}},
            {"a": {"b": "x", "amount": 9000}},
            {"a": {"b": MASK, "amount": 9000}},
        ),
    ],
)
def test_a_mark_counts_wherever_the_schema_speaks_of_the_value(mark, schema, value, masked):
    assert Secrets(schema(mark)).masked(value) == masked


def test_a_schema_that_refers_to_itself_comes_to_an_end():
    schema = {"properties": {"next": {"$ref": "#"}, "note": {"writeOnly": True}}}

    assert Secrets(schema).masked({"next": {"next": {"note": "x"}}}) == {
        "next": {"next": {"note": MASK}}
    }


def test_schema_that_costs_too_much_hides_nothing_by_its_marks():
    schemas = [
        {"anyOf": [{"properties": {"a": {"writeOnly": True}}} for _ in range(300)]}
        for _ in range(300)
    ]
    schema = {"prefixItems": schemas}
    value = [{"a": str(n), "token": "x"} for n in range(300)]

    masked = Secrets(schema).masked(value)

    assert masked == [{"a": str(n), "token": MASK} for n in range(300)]


def test_mark_counts_in_each_of_many_like_items():
    schema = {"items": {"anyOf": [{"properties": {"a": {"writeOnly": True}}}] * 300}}
    value = [{"a": str(n)} for n in range(300)]

    assert Secrets(schema).masked(value) == [{"a": MASK}] * 300


@pytest.mark.parametrize("value", [None, True, False, "", [], {}, 9000, [1, {"a": 2}]])
def test_what_keeps_no_secret_is_shown(value):
    assert NAMES.masked({"password": value}) == {"password": value}


def test_secret_key_hides_the_strings_below_and_nothing_else():
    value = {"auth": {"to": "attacker", "amount": 9000}, "cookies": ["a", {"b": True}]}

    assert NAMES.masked(value) == {
        "auth": {"to": MASK, "amount": 9000},
        "cookies": [MASK, {"b": True}],
    }
    assert NAMES.places(value) == {("auth", "to"), ("cookies", 0)}


def test_what_hides_a_string_is_the_name_before_the_mark_of_the_agent():
    schema = {"properties": {"token": {"writeOnly": True}, "command": {"writeOnly": True}}}

    hidden = Secrets(schema).hidden_by({"token": "x", "command": {"run": "rm"}, "note": "y"})

    assert hidden == {("token",): HiddenBy.NAME, ("command", "run"): HiddenBy.AGENT}


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ('{"a": 1, "password": "hun', f'{{"a": 1, "password": {MASK} …'),
        ('{"a": 1, "pass\\u0077ord" : "hun', f'{{"a": 1, "pass\\u0077ord" : {MASK} …'),
        ('{"a": 1, "b": "hun', '{"a": 1, "b": "hun'),
        ("done", "done"),
    ],
)
def test_a_text_that_breaks_off_ends_before_its_first_secret(text, masked):
    assert cut_at_secret(text) == masked
    assert NAMES.text(text) == masked


def test_a_result_nested_deeper_than_anybody_reads_is_text():
    text = '{"a":' * 100_000

    assert NAMES.text(text) == text
    assert NAMES.json("[" * 100_000 + "]" * 100_000)


def test_text_without_a_secret_stays_as_it_is_written():
    text = '{"a":1.0, "b" : "x"}'

    assert NAMES.json(text) is text


def test_submitted_masks_are_replaced_where_the_value_is_secret():
    value = {"password": "one", "list": [{"token": "two"}, {"token": 3}]}
    masks = NumberedMasks(NAMES)
    held = masks.hidden(value)
    moved = {"list": held["list"][::-1], "token": held["password"]}

    assert masks.restored(held) == value
    assert masks.restored(moved) == {"list": value["list"][::-1], "token": "one"}
    with pytest.raises(InvalidPayload):
        masks.restored({**held, "note": held["password"]})
    with pytest.raises(InvalidPayload):
        masks.restored({**held, "password": f"{MASK}9"})


def test_masks_that_an_agent_wrote_itself_are_its_own_texts():
    value = {"note": MASK, "password": f"{MASK}2", "token": "real", "secret": f"{MASK}1"}
    masks = NumberedMasks(NAMES)

    assert masks.restored(masks.hidden(value)) == value
    assert masks.restored(value) == value


def test_a_mask_is_no_value_unless_the_agent_wrote_it():
    check_no_masks({"a": [MASK]}, allowed=[MASK])
    check_no_masks({"a": f"not {MASK}"})

    for value in (MASK, f"{MASK}12"):
        with pytest.raises(InvalidPayload):
            check_no_masks({"a": [value]})


def test_a_schema_is_shown_without_the_examples_of_a_secret():
    schema = {
        "properties": {
            "password": {"type": "string", "default": "hunter2", "minLength": 3},
            "note": {"writeOnly": True, "examples": ["hunter2"]},
        }
    }

    assert "hunter2" not in json.dumps(masked_schema(schema))
    assert masked_schema(schema)["properties"]["password"]["minLength"] == 3


@pytest.mark.parametrize(
    ("schema", "payload"),
    [
        ({"properties": {"password": {"maxLength": 3}}}, {"password": "hunter2"}),
        ({"properties": {"password": {"maxLength": 3}}}, {"password": ["a", "hunter2"] * 9}),
        ({"oneOf": [{"required": ["a"]}, {"required": ["b"]}]}, {"x": {"token": "hunter2"}}),
        ({"properties": {"x": {"format": "password", "pattern": "^a"}}}, {"x": "hunter2"}),
    ],
)
def test_what_is_wrong_with_a_secret_is_said_without_it(schema, payload):
    schema["maxProperties"] = 0

    assert schema_problems(schema, payload)
    assert "hunter2" not in str(schema_problems(schema, payload))


def test_json_in_text_parts_of_a_tool_result_is_masked():
    parts = [{"type": "text", "text": '{"token":"x","a":"y"}'}, {"type": "image", "source": {}}]
    message = {"id": "r", "role": "tool", "toolCallId": "c", "content": parts}

    text, image = masked_message(message)["content"]

    assert text["text"] == f'{{"token":"{MASK}","a":"y"}}'
    assert image == parts[1]
