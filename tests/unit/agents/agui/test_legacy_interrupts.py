"""What becomes of questions without a schema that agents of older dialects ask."""

import json

import pytest

from agents.agui.legacy.dialects import Dialect, DialectReader, interrupt_fields
from agents.agui.legacy.legacy_clients import DialectWriter, with_message_ids
from tests.support.agents.vendor_servers import (
    LANGGRAPH_IDS,
    draft_asks,
    finished,
    on_interrupt,
    started,
)
from tests.support.web import spec_examples as examples

REASON = {"type": "string"}


def read(events):
    """The interrupt that a run of these events ends with."""
    reader = DialectReader("run")
    interrupts = [interrupt for event in events for interrupt in reader.read(event)]
    (interrupt,) = interrupts[-1]["outcome"]["interrupts"]
    return interrupt


def _question(payload):
    names = ("message", "question", "description")
    return next((payload[name] for name in names if name in (payload or {})), None)


def properties(interrupt):
    return interrupt["responseSchema"]["properties"]


@pytest.mark.parametrize("name", ["", LANGGRAPH_IDS[0]])
def test_the_kind_of_a_value_routes_and_its_fields_can_be_changed(name):
    interrupt = read([started(), on_interrupt(examples.REFUND, name), finished()])

    assert interrupt["reason"] == "langgraph:refund_approval"
    assert properties(interrupt) == {
        "approved": {"type": "boolean"},
        "reason": {"type": "string"},
        "amount": {"type": "number"},
        "customer_id": {"type": "string"},
    }
    assert interrupt["responseSchema"]["required"] == ["approved"]


def test_a_value_in_the_outcome_of_langgraphs_bridge_is_read_alike():
    raw = {"langgraph": {"raw": examples.REFUND}}
    wire = {"id": LANGGRAPH_IDS[0], "reason": "Duplicate charge", "metadata": raw}

    interrupt = read([started(), finished(outcome={"type": "interrupt", "interrupts": [wire]})])

    assert interrupt["reason"] == "langgraph:refund_approval"
    assert properties(interrupt)["amount"] == {"type": "number"}
    assert interrupt["metadata"] == raw


@pytest.mark.parametrize(
    ("value", "reason", "is_approval"),
    [
        ({"kind": "refund_approval"}, "langgraph:refund_approval", True),
        ({"kind": "approve_refund", "message": "Refund?"}, "langgraph:approve_refund", True),
        ({"kind": "refund", "amount": 5}, "langgraph:refund", True),
        ({"kind": "ask_name", "question": "Who?", "tries": 2}, "langgraph:ask_name", False),
        ({"question": "Who?", "draft": "x"}, "langgraph:interrupt", False),
        ({"kind": "two words", "amount": 5}, "langgraph:interrupt", False),
        ({"kind": "x", "reason": "input_required", "amount": 5}, "input_required", False),
        ("Who?", "langgraph:interrupt", False),
    ],
)
def test_which_values_are_approved(value, reason, is_approval):
    fields = interrupt_fields(value, "langgraph")

    assert fields["reason"] == reason
    assert ("responseSchema" in fields) is is_approval


def test_a_schema_of_the_agent_stays():
    schema = {"type": "string"}

    fields = interrupt_fields({**examples.REFUND, "responseSchema": schema}, "langgraph")

    assert fields["responseSchema"] == schema


def test_fields_that_are_too_many_for_a_form_cannot_be_changed():
    value = {"kind": "refund", **{f"field{number}": number for number in range(1_000)}}

    assert interrupt_fields(value, "langgraph")["responseSchema"]["properties"].keys() == {
        "approved",
        "reason",
    }


@pytest.mark.parametrize(
    ("reason", "payload", "changes"),
    [
        ("human_approval", {}, ["additionalProperties"]),
        ("human_approval", None, ["additionalProperties"]),
        ("human_approval", "Go on?", ["additionalProperties"]),
        ("human_approval", {"message": "Go on?"}, ["additionalProperties"]),
        ("policy_hold", {"policy": "four eyes"}, ["additionalProperties"]),
        ("database_modification", examples.DATABASE["payload"], ["additionalProperties"]),
        ("deploy", {"action": "DEPLOY", "description": "v2"}, ["additionalProperties"]),
        ("any", examples.PROPOSAL["payload"], ["properties"]),
        ("upload_required", {"accept": ["csv"]}, None),
        ("what", {"question": "Which file?"}, None),
        ("what", {}, None),
        ("what", "Which file?", None),
    ],
)
def test_which_questions_of_the_draft_are_approved(reason, payload, changes):
    interrupt = read(draft_asks(payload, reason=reason, id="i1"))

    assert interrupt["reason"] == f"draft:{reason}"
    assert interrupt.get("message") == (payload if isinstance(payload, str) else _question(payload))
    if changes is None:
        assert "responseSchema" not in interrupt
    else:
        assert [*properties(interrupt)["modifications"]][1:] == changes


def test_a_client_of_langgraph_gets_the_value_in_the_agents_words():
    interrupt = read([started(), on_interrupt(examples.REFUND), finished()])

    (event,) = DialectWriter("langgraph").interrupt_events([interrupt])

    value = json.loads(event["value"])
    assert value.items() >= examples.REFUND.items()
    assert value["id"] == interrupt["id"]


def test_messages_of_dotnet_clients_get_the_same_ids_again():
    user = {"role": "user", "content": "yes"}
    copy = {"role": "assistant", "content": "Go on?"}
    first = with_message_ids(Dialect.DRAFT, {"messages": [user]})["messages"]

    later = with_message_ids(Dialect.DRAFT, {"messages": [user, copy, user, {**user, "id": "u"}]})

    ids = [message["id"] for message in later["messages"]]
    assert ids[0] == first[0]["id"]
    assert len(set(ids)) == len(ids) == 3
    assert ids[2] == "u"


@pytest.mark.parametrize(
    ("dialect", "value"),
    [
        (Dialect.CANONICAL, {"messages": [{"role": "user", "content": "yes"}]}),
        (Dialect.DRAFT, {"messages": "none"}),
        (Dialect.DRAFT, ["none"]),
        (Dialect.DRAFT, {"messages": [5]}),
    ],
)
def test_other_inputs_get_no_ids(dialect, value):
    assert with_message_ids(dialect, value) == value
