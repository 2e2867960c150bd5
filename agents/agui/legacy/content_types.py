"""
The four content types that Microsoft.Extensions.AI has for interrupts, as they are in Python.

A request is made of an interrupt, an answer to it makes a resume entry. What an interrupt has and a
content type does not is kept in `raw_representation`, as in .NET, so that nothing is lost on the
way there and back.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ag_ui.core import Interrupt, ResumeEntry, ToolCall

from agents.agui import strict_json


@dataclass(frozen=True)
class FunctionCall:
    """The call that is asked about: `FunctionCallContent`."""

    call_id: str
    name: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True)
class FunctionApprovalRequest:
    """Whether a function may be called: `FunctionApprovalRequestContent`."""

    id: str
    function_call: FunctionCall
    raw_representation: Interrupt

    def create_response(
        self, *, approved: bool, arguments: Mapping[str, Any] | None = None, reason: str = ""
    ) -> "FunctionApprovalResponse":
        """Answer it; other `arguments` replace the proposed ones."""
        call = self.function_call
        if arguments is not None:
            call = FunctionCall(call.call_id, call.name, arguments)
        return FunctionApprovalResponse(self.id, approved, call, self, reason)


@dataclass(frozen=True)
class FunctionApprovalResponse:
    """The answer to an approval: `FunctionApprovalResponseContent`."""

    id: str
    approved: bool
    function_call: FunctionCall
    request: FunctionApprovalRequest
    reason: str = ""

    def to_entry(self) -> ResumeEntry:
        """The resume entry of 1.0: arguments are sent only if they are an edit."""
        payload: dict[str, Any] = {"approved": self.approved}
        if dict(self.function_call.arguments) != dict(self.request.function_call.arguments):
            payload["editedArgs"] = dict(self.function_call.arguments)
        if self.reason:
            payload["reason"] = self.reason
        return ResumeEntry(interrupt_id=self.id, status="resolved", payload=payload)


@dataclass(frozen=True)
class UserInputRequest:
    """Anything else that is asked: `UserInputRequestContent`."""

    id: str
    raw_representation: Interrupt

    def create_response(self, value: Any) -> "UserInputResponse":
        """Answer it with a JSON value that fits `raw_representation.response_schema`."""
        return UserInputResponse(self.id, value)


@dataclass(frozen=True)
class UserInputResponse:
    """The answer to a request for input: `UserInputResponseContent`."""

    id: str
    value: Any

    def to_entry(self) -> ResumeEntry:
        """The resume entry of 1.0."""
        return ResumeEntry(interrupt_id=self.id, status="resolved", payload=self.value)


def to_content(
    interrupt: Interrupt, call: ToolCall | None = None
) -> FunctionApprovalRequest | UserInputRequest:
    """
    The content type of an interrupt; `call` is the tool call that it names, if it names one.

    Raises:
        ValueError: the interrupt asks for the approval of another call, or its call has arguments
            that are no JSON object.
    """
    if interrupt.reason != "tool_call":
        return UserInputRequest(interrupt.id, interrupt)
    if call is None or call.id != interrupt.tool_call_id:
        raise ValueError(f"The interrupt {interrupt.id!r} asks about {interrupt.tool_call_id!r}.")
    arguments = strict_json.loads(call.function.arguments or "{}")
    if not isinstance(arguments, dict):
        raise ValueError(f"The arguments of {call.id!r} are no object.")  # noqa: TRY004 - of JSON
    function = FunctionCall(call.id, call.function.name, arguments)
    return FunctionApprovalRequest(interrupt.id, function, interrupt)


def to_interrupt(content: FunctionApprovalRequest | UserInputRequest) -> Interrupt:
    """The interrupt that a content type was made of, whole."""
    return content.raw_representation


def to_entry(
    answer: FunctionApprovalResponse | UserInputResponse | None, interrupt_id: str = ""
) -> ResumeEntry:
    """The resume entry of an answer; None calls the interrupt `interrupt_id` off."""
    if answer is None:
        return ResumeEntry(interrupt_id=interrupt_id, status="cancelled")
    return answer.to_entry()


def to_response(
    request: FunctionApprovalRequest | UserInputRequest, entry: ResumeEntry
) -> FunctionApprovalResponse | UserInputResponse | None:
    """
    The content type of a resume entry, None for one that was called off.

    Only `approved: true`, spelled so, is an approval.

    Raises:
        ValueError: the entry answers something else.
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
