"""
The AG-UI servers of agent frameworks: how each asks, and what its answers are.

One row for each server whose interrupts of AG-UI 1.0 need a translation. Servers that use an older
dialect are recognised by that (`dialects`).
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from agents.agui import strict_json
from agents.agui.interrupts import approval_schema, takes_approval
from agents.agui.legacy import vendor_quirks
from agents.agui.legacy.vendor_quirks import Json, as_object

#: The kinds of notes, which say how an answer is translated.
TOOL_CALL, TEXT, TOOL_MESSAGE = "toolCall", "text", "toolMessage"


_NOT_CONFIRMED = "Nobody approved this call: it is not made."


@dataclass(frozen=True)
class Server:
    """One server, by the package and the versions that were looked at."""

    package: str
    versions: str
    recognises: Callable[[Any], Any]
    note: Callable[[Json], Json]  #: what the answer needs
    translate: Callable[[Json], Json]  #: the interrupt as AG-UI has it


def is_dotnet(interrupt: Any) -> bool:
    """Return True for an approval of Microsoft's AGUI.Server, which runs the call of the answer."""
    fields = as_object(interrupt)
    raw = as_object(fields.get("rawEvent")).get("$type")
    is_named = str(fields.get("id")).startswith("ficc_") or raw == "toolApprovalRequest"
    is_worded = str(fields.get("message")).startswith("Approval required for tool call:")
    return fields.get("reason") == "tool_call" and (is_named or is_worded)


def takes_tool_call(interrupt: Any) -> bool:
    """Return True if the schema of an approval has a place for the call to execute."""
    fields = as_object(interrupt)
    properties = as_object(as_object(fields.get("responseSchema")).get("properties"))
    return fields.get("reason") == "tool_call" and "toolCall" in properties


def is_crewai(interrupt: Any) -> bool:
    """Return True for the feedback that CrewAI's bridge asks for, as text."""
    fields = as_object(interrupt)
    return isinstance(as_object(fields.get("metadata")).get("crewai"), dict)


def id_in(value: Any) -> str:
    """Return the id of the interrupt of AG-UI 1.0 that an old event has as its value, or ""."""
    fields = as_object(value)
    name = fields.get("id")
    return name if isinstance(name, str) and isinstance(fields.get("reason"), str) else ""


def note_of_event(value: Any) -> Json:
    """Return what the answer to an interrupt event needs."""
    return {"kind": TEXT} if is_crewai(value) else {}


def _with_edits(interrupt: Json) -> Json:
    """Return an approval whose arguments can be changed: the call of the answer is what runs."""
    schema = interrupt.get("responseSchema")
    if schema is not None and not takes_approval(schema):
        return interrupt
    return {**interrupt, "responseSchema": approval_schema(edited_args={"type": "object"})}


def tool_message_interrupt(name: str, call: str, tool: str) -> Json:
    """Return an interrupt about a call that waits for a tool message: a confirmation of Agno's."""
    result = {
        "type": "string",
        "title": "Result instead",
        "description": "If the call is made elsewhere: what it returned.",
    }
    return {
        "id": name,
        "reason": "tool_call",
        "toolCallId": call,
        "message": f"Call {tool}?",
        "responseSchema": approval_schema(result=result),
    }


def tool_message_text(status: str, payload: Any) -> str:
    """Return the tool message for a call that waits for one, in the form of Agno's server."""
    answer = as_object(payload) if status == "resolved" else {}
    is_approved = answer.get("approved") is True
    if is_approved and answer.get("result"):
        return str(answer["result"])
    note = answer.get("reason") or ("" if is_approved else _NOT_CONFIRMED)
    return strict_json.dumps({"accepted": is_approved, **({"note": note} if note else {})})


SERVERS = (
    Server(
        "ag-ui-claude-sdk",
        "0.2",
        vendor_quirks.takes_behavior,
        lambda _: {"kind": vendor_quirks.BEHAVIOR},
        vendor_quirks.behavior_interrupt,
    ),
    Server(
        "ag2",
        "1.2",
        vendor_quirks.proof_of,
        lambda interrupt: {"metadata": vendor_quirks.proof_of(interrupt)},
        vendor_quirks.without_proof,
    ),
    Server("AGUI.Server (.NET)", "1.0", is_dotnet, lambda _: {"kind": TOOL_CALL}, _with_edits),
    Server(
        "any with `toolCall` in its schema",
        "",
        takes_tool_call,
        lambda _: {"kind": TOOL_CALL},
        lambda interrupt: interrupt,
    ),
    Server("ag-ui-crewai", "1.0", is_crewai, lambda _: {"kind": TEXT}, lambda interrupt: interrupt),
)
