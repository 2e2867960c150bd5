"""What people are asked with: schemas that are valid and fit the answers they are meant for."""

import pytest
from jsonschema import Draft202012Validator

from agents.demo_agent.agent import build
from agents.demo_agent.tools import TOOLS, charge, deploy, send_email, transfer
from agents.sdk.schemas import approval_schema
from agents.sdk.tools import Tool
from tests.support.agents.doubles import fixed_clock

APPROVABLE = [tool for tool in TOOLS if isinstance(tool, Tool)]


def edited(**args):
    return {"approved": True, "editedArgs": args}


@pytest.mark.parametrize("tool", APPROVABLE, ids=lambda tool: tool.name)
def test_the_schema_of_every_tool_is_valid_and_has_no_references(tool):
    schema = approval_schema(tool)

    Draft202012Validator.check_schema(schema)
    assert "$ref" not in str(schema)
    assert list(schema["properties"]) == ["approved", "editedArgs", "reason"]


@pytest.mark.parametrize("tool", APPROVABLE, ids=lambda tool: tool.name)
@pytest.mark.parametrize(
    "payload",
    [
        {"approved": True},
        {"approved": False, "reason": "no"},
        edited(),
        edited(whatever=1),
    ],
)
def test_the_answers_that_people_give_fit(tool, payload):
    assert Draft202012Validator(approval_schema(tool)).is_valid(payload)


@pytest.mark.parametrize("tool", APPROVABLE, ids=lambda tool: tool.name)
@pytest.mark.parametrize(
    "payload",
    [
        {},
        None,
        True,
        [],
        {"approved": "true"},
        {"approved": 1},
        {"approved": None},
        {"approved": True, "editedArgs": None},
        {"approved": True, "editedArgs": []},
        {"approved": True, "reason": 7},
        {"reason": "yes"},
        {"approved": True, "more": 1},
        {"approved": True, "edited_args": {}},
    ],
)
def test_what_is_no_decision_does_not_fit(tool, payload):
    assert not Draft202012Validator(approval_schema(tool)).is_valid(payload)


@pytest.mark.parametrize(
    ("tool", "args", "fits"),
    [
        (send_email, {"to": "a@example.com", "subject": "b"}, True),
        (send_email, {"to": 7}, False),
        (deploy, {"environment": "staging"}, True),
        (deploy, {"environment": ["staging"]}, False),
        (charge, {"key": "k"}, True),
        (charge, {"key": None}, False),
        (transfer, {"amount": 1.5}, True),
        (transfer, {"amount": "much"}, False),
    ],
)
def test_edited_arguments_have_the_types_of_the_tool(tool, args, fits):
    assert Draft202012Validator(approval_schema(tool)).is_valid(edited(**args)) is fits


def test_a_form_gets_neither_titles_nor_defaults_for_the_arguments():
    properties = approval_schema(send_email)["properties"]["editedArgs"]["properties"]

    assert properties == {"to": {"type": "string"}, "subject": {"type": "string"}}


def test_the_rehearsal_agent_offers_its_tools_with_their_parameters():
    capabilities = build(fixed_clock()).capabilities()

    described = {tool.name: tool for tool in capabilities.tools.items}
    assert set(described) == {"send_email", "deploy", "charge", "transfer", "ask_user"}
    assert set(described["ask_user"].parameters["properties"]) == {"question", "options"}
    assert described["send_email"].description.startswith("Send an e-mail")


async def test_the_question_of_ask_is_a_choice_of_its_options(stage):
    await stage.say("rehearse:ask")

    schema = stage.interrupts[0].response_schema
    assert Draft202012Validator(schema).is_valid({"answer": "blue"})
    assert not Draft202012Validator(schema).is_valid({"answer": "black"})
    assert not Draft202012Validator(schema).is_valid({})


@pytest.mark.parametrize(
    ("payload", "fits"),
    [
        ({"quarter": "Q1", "year": 2000, "revenue": 0}, True),
        ({"quarter": "Q4", "year": 2026, "revenue": -1.5}, True),
        ({"quarter": "Q5", "year": 2026, "revenue": 1}, False),
        ({"quarter": "Q1", "year": 1999, "revenue": 1}, False),
        ({"quarter": "Q1", "year": 2026.5, "revenue": 1}, False),
        ({"quarter": "Q1", "year": 2026, "revenue": "1"}, False),
        ({"quarter": "Q1", "year": 2026}, False),
    ],
)
async def test_the_filing_form_knows_its_ranges(stage, payload, fits):
    await stage.say("rehearse:input_required")

    schema = stage.interrupts[0].response_schema
    assert Draft202012Validator(schema).is_valid(payload) is fits
