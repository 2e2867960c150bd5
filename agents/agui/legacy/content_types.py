"""
The content types of Microsoft.Extensions.AI for interrupts, in Python.

A request is built from an interrupt, and a response becomes a resume entry. `raw_representation`
keeps the whole interrupt, as in .NET.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ag_ui.core import Interrupt, ResumeEntry, ToolCall

from agents.agui import strict_json


@dataclass(frozen=True)
class FunctionCall:
    """The function call of an approval: `FunctionCallContent`."""

    call_id: str
    name: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True)
class FunctionApprovalRequest:
    """A request to approve a function call: `FunctionApprovalRequestContent`."""

    id: str
    function_call: FunctionCall
    raw_representation: Interrupt

    def create_response(
        self, *, approved: bool, arguments: Mapping[str, Any] | None = None, reason: str = ""
    ) -> "FunctionApprovalResponse":
        """Build the response; `arguments` replaces the proposed ones."""
        call = self.function_call
        if arguments is not None:
            call = FunctionCall(call.call_id, call.name, arguments)
        return FunctionApprovalResponse(self.id, approved, call, self, reason)


@dataclass(frozen=True)
class FunctionApprovalResponse:
    """The response to an approval: `FunctionApprovalResponseContent`."""

    id: str
    approved: bool
    function_call: FunctionCall
    request: FunctionApprovalRequest
    reason: str = ""

    def to_entry(self) -> ResumeEntry:
        """Return the AG-UI 1.0 resume entry; arguments are sent only if edited."""
        payload: dict[str, Any] = {"approved": self.approved}
        if dict(self.function_call.arguments) != dict(self.request.function_call.arguments):
            payload["editedArgs"] = dict(self.function_call.arguments)
        if self.reason:
            payload["reason"] = self.reason
        return ResumeEntry(interrupt_id=self.id, status="resolved", payload=payload)


@dataclass(frozen=True)
class UserInputRequest:
    """Any other interrupt: `UserInputRequestContent`."""

    id: str
    raw_representation: Interrupt

    def create_response(self, value: Any) -> "UserInputResponse":
        """Build the response from a JSON value that fits the response schema."""
        return UserInputResponse(self.id, value)


@dataclass(frozen=True)
class UserInputResponse:
    """The response to a request for input: `UserInputResponseContent`."""

    id: str
    value: Any

    def to_entry(self) -> ResumeEntry:
        """Return the AG-UI 1.0 resume entry."""
        return ResumeEntry(interrupt_id=self.id, status="resolved", payload=self.value)


def to_content(
    interrupt: Interrupt, call: ToolCall | None = None
) -> FunctionApprovalRequest | UserInputRequest:
    """
    Build the content of an interrupt; `call` is its tool call, if it has one.

    Raises:
        ValueError: the interrupt is about another call, or the arguments of the call are not a
            JSON object.
    """
    if interrupt.reason != "tool_call":
        return UserInputRequest(interrupt.id, interrupt)
    if call is None or call.id != interrupt.tool_call_id:
        raise ValueError(
            f"The interrupt {interrupt.id!r} is about the call {interrupt.tool_call_id!r}."
        )
    arguments = strict_json.loads_arguments(call.function.arguments or "{}")
    if not isinstance(arguments, dict):
        raise ValueError(f"The arguments of {call.id!r} are not an object.")  # noqa: TRY004 - of JSON
    function = FunctionCall(call.id, call.function.name, arguments)
    return FunctionApprovalRequest(interrupt.id, function, interrupt)


def to_interrupt(content: FunctionApprovalRequest | UserInputRequest) -> Interrupt:
    """Return the interrupt that a content was built from."""
    return content.raw_representation


def to_entry(
    answer: FunctionApprovalResponse | UserInputResponse | None, interrupt_id: str = ""
) -> ResumeEntry:
    """Return the resume entry of a response; None cancels the interrupt `interrupt_id`."""
    if answer is None:
        return ResumeEntry(interrupt_id=interrupt_id, status="cancelled")
    return answer.to_entry()


def to_response(
    request: FunctionApprovalRequest | UserInputRequest, entry: ResumeEntry
) -> FunctionApprovalResponse | UserInputResponse | None:
    """
    Build the response of a resume entry, None if it is cancelled.

    Only `"approved": true` is an approval.

    Raises:
        ValueError: the entry answers another interrupt.
    """
    if entry.interrupt_id != request.id:
        raise ValueError(f"The entry answers {entry.interrupt_id!r}, not {request.id!r}.")
    if entry.status == "cancelled":
        return None
    if isinstance(request, UserInputRequest):
        return request.create_response(entry.payload)
    payload = entry.payload if isinstance(entry.payload, dict) else {}
    edited = payload.get("editedArgs")
    return request.create_response(
        approved=payload.get("approved") is True,
        arguments=edited if isinstance(edited, dict) else None,
        reason=str(payload.get("reason") or ""),
    )
