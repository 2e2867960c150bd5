"""Programs get back the values that they sent, whatever JSON can hold, under their own words."""

import pytest

from inbox.models import Interrupt
from inbox.queries.audit.audit_entries import entries_for
from inbox.queries.audit.tool_calls import tool_calls_for
from inbox.rules.audit.audit_filters import CallFilter, EntryFilter
from tests.support.requests.programs import APPROVED, decide, program

__all__ = ["program"]

BIG = 9007199254740993123


def title_of(request):
    return Interrupt.objects.get(thread=request["thread"]).title


@pytest.mark.parametrize(
    "args", [{"account": BIG}, {"deep": [{"ids": [-BIG, 2**63]}]}, {"n": 10**400}, {"x": 1e300}]
)
def test_numbers_of_any_size_are_approved_with_all_their_digits(program, bob, args):
    request = program.ask(tool="close", args=args)
    assert program.read(request)["items"][0]["args"] == args

    decide(request, bob, APPROVED)

    item = program.read(request)["items"][0]
    assert (item["status"], item["args"]) == ("approved", args)
    assert program.start(request).status_code == 200


def test_an_edit_may_hold_an_integer_of_any_size(program, bob):
    request = program.ask(tool="close", args={"account": 1, "n": 2}, may_edit=True)

    decide(request, bob, {**APPROVED, "editedArgs": {"account": BIG, "n": 2}})

    assert program.read(request)["items"][0]["args"] == {"account": BIG, "n": 2}


@pytest.mark.parametrize(
    "schema",
    [
        {"properties": {"a": {"type": "integer"}, "b": {"$ref": "#/properties/a"}}},
        {"$ref": "https://acme.example/other.json"},
        {"$schema": "http://json-schema.org/draft-07/schema#",
         "properties": {"a": {"items": [{"type": "string"}]}, "b": {"type": "integer"}}},
        {"$defs": {"n": {"type": "integer"}}, "properties": {"b": {"$ref": "#/$defs/n"}}},
        {"properties": {"kids": {"items": {"$ref": "#"}}, "b": {"type": "integer"}}},
    ],
)  # fmt: skip
def test_schemas_of_arguments_may_refer_to_any_of_their_places(program, bob, reads_bob, schema):
    request = program.ask(tool="t", args={"b": 1}, args_schema=schema, may_edit=True)
    page = reads_bob.open(Interrupt.objects.get(thread=request["thread"]))

    assert 'name="args/b"' in page or 'name="args.json"' in page
    decide(request, bob, {**APPROVED, "editedArgs": {"b": 2}})
    assert program.read(request)["items"][0]["args"] == {"b": 2}


def test_the_title_of_a_question_is_its_heading_and_is_found(program, reads_bob):
    question = {"title": "Which option?", "answer_schema": {"enum": ["A", "B"]}}
    request = program.ask(question)

    assert title_of(request) == 'ci: "Which option?"'
    assert "Which option?" in reads_bob.get("/?q=option").content.decode()
    page = reads_bob.open(Interrupt.objects.get(thread=request["thread"]))
    assert '<section class="words"' not in page


def test_the_title_of_a_call_is_found_beside_its_arguments(program, world, ana):
    request = program.ask(title="Quarterly correction", tool="refund", args={"amount": 4750})

    assert title_of(request) == "Call refund (amount 4750)"
    for text, count in (("QUARTERLY refund", 1), ("yearly", 0)):
        calls = tool_calls_for(world.actor(ana), CallFilter(text=text)).rows
        entries = entries_for(world.actor(ana), EntryFilter(text=text)).rows
        assert len(calls) == count
        assert bool(entries) == bool(count)
