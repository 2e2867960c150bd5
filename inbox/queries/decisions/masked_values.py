"""Values of interrupts and tool calls that pages show with masks."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from uuid import UUID

from inbox.models import AuditEntry, Decision, Interrupt, Thread, ToolCall, Unmasking
from inbox.rules.decisions.unseen import CONSENTED
from inbox.rules.runs.states import InterruptStatus
from inbox.rules.schema.mask_agui import secrets_of_answers, secrets_of_arguments
from inbox.rules.schema.secrets import (
    NAMES,
    HiddenBy,
    Path,
    Secrets,
    cut_at_secret,
    pointer,
)


@dataclass(frozen=True)
class MaskedValues:
    """A stored set of values with the rule for its secrets."""

    text: str  #: JSON text, or any text that a tool returned
    secrets: Secrets

    @property
    def places(self) -> Sequence[str]:
        """JSON pointers to the secrets; "" if the text is invalid JSON with secrets."""
        if self._hidden is None:
            return [""] if cut_at_secret(self.text) != self.text else []
        return sorted(map(pointer, self._hidden))

    @property
    def places_by_agent(self) -> Sequence[Path]:
        """Paths that are masked only because the agent's schema marks them."""
        return [place for place, by in (self._hidden or {}).items() if by is HiddenBy.AGENT]

    @cached_property
    def _hidden(self) -> Mapping[Path, HiddenBy] | None:
        """The reason that each secret is masked, None for a text that is no JSON."""
        try:
            return self.secrets.hidden_by(json.loads(self.text))
        except (ValueError, RecursionError):
            return None


def masked_values_of_interrupt(
    row: Interrupt, decision: Decision | None
) -> Mapping[str, MaskedValues]:
    """Return the sets of values on the page of the request, by name."""
    call, args = row.tool_call, secrets_of_arguments(row.body)
    metadata = json.loads(row.body).get("metadata")
    values: dict[str, MaskedValues] = {}
    if metadata:
        values["request"] = MaskedValues(json.dumps(metadata), NAMES)
    if call is not None:
        # Closed interrupts show the proposed arguments; edits are part of the answer.
        is_open = row.status == InterruptStatus.OPEN
        values["arguments"] = MaskedValues((row.current_args or "") if is_open else call.args, args)
    if decision is not None and decision.payload:
        values["answer"] = MaskedValues(decision.payload, secrets_of_answers(row.body))
    if call is not None and call.started_at:
        values["executed"] = MaskedValues(call.approved_args, args)
    if call is not None and call.result is not None:
        values["result"] = MaskedValues(call.result, NAMES)
    return values


def unseen_sets(
    row: Interrupt, user_id: int | None, values: Mapping[str, MaskedValues] | None = None
) -> Sequence[str]:
    """
    Return the sets that a decision consents to, are masked and were not revealed to the user.

    `values` are those of the interrupt, if they were read already.
    """
    values = masked_values_of_interrupt(row, None) if values is None else values
    masked = [name for name in CONSENTED if name in values and values[name].places]
    if not masked:
        return ()
    revealed = Unmasking.objects.filter(
        interrupt=row, user=user_id, view_digest=row.shown_digest
    ).values_list("value_set", flat=True)
    return sorted(set(masked) - set(revealed), key=masked.index)


def masked_values_of_call(
    call: ToolCall, interrupts: Iterable[Interrupt], entries: Iterable[AuditEntry]
) -> Mapping[str, MaskedValues]:
    """Return the sets of values on the page of the tool call, by name."""
    args = secrets_of_arguments(*(interrupt.body for interrupt in interrupts))
    values = {"proposed": MaskedValues(call.args, args)}
    if call.verdict in ("approved", "edited"):
        values["approved"] = MaskedValues(call.approved_args, args)
    executed = last_start(entries)
    if executed is not None and isinstance(executed.get("args"), str):
        values["executed"] = MaskedValues(executed["args"], args)
    if call.result is not None:
        values["result"] = MaskedValues(call.result, NAMES)
    return values


def last_start(entries: Iterable[AuditEntry]) -> dict[str, Any] | None:
    """Return `digest` and `args` of the last `tool.started` entry, None without one."""
    starts = [entry for entry in entries if entry.action == "tool.started"]
    if not starts:
        return None
    payload = starts[-1].content
    digest = str(payload["digests"].get("executed", ""))
    return {"digest": digest, "args": payload["detail"].get("args")}


def interrupt_bodies_by_id(entries: Iterable[AuditEntry]) -> Mapping[UUID, Sequence[str]]:
    """Return the JSON texts of the entries' interrupts, by the id of the interrupt or tool call."""
    ids = [pk for entry in entries for pk in _ids_of(entry)]
    bodies: dict[UUID, list[str]] = {}
    rows = Interrupt.objects.filter(tool_call__in=ids) | Interrupt.objects.filter(pk__in=ids)
    for pk, call, body in rows.values_list("pk", "tool_call_id", "body"):
        bodies.setdefault(pk, []).append(body)
        if call is not None:
            bodies.setdefault(call, []).append(body)
    missing = set(ids) - bodies.keys()
    missing -= set(ToolCall.objects.filter(pk__in=missing).values_list("pk", flat=True))
    return {**bodies, **dict.fromkeys(missing, _OF_DELETED)}


#: In place of the interrupts of a deleted thread, which said what is secret: everything is.
_OF_DELETED = (
    json.dumps(
        {
            "responseSchema": {
                "writeOnly": True,
                "properties": {"editedArgs": {"writeOnly": True}},
            }
        }
    ),
)


def interrupt_bodies_by_call(thread: Thread) -> Mapping[str, Sequence[str]]:
    """Return the JSON texts of the thread's interrupts, by AG-UI toolCallId."""
    bodies: dict[str, list[str]] = {}
    rows = Interrupt.objects.filter(thread=thread, tool_call__isnull=False)
    for call, body in rows.values_list("tool_call__tool_call_id", "body"):
        bodies.setdefault(call, []).append(body)
    return bodies


def bodies_of_entry(entry: AuditEntry, bodies: Mapping[UUID, Sequence[str]]) -> list[str]:
    """Return those of the interrupt bodies that the entry is about."""
    return [body for pk in _ids_of(entry) for body in bodies.get(pk, ())]


def _ids_of(entry: AuditEntry) -> list[UUID]:
    return [pk for pk in (entry.interrupt_id, entry.tool_call_id) if pk is not None]
