"""The values of a request or a call that pages show with masks in them."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
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
)


@dataclass(frozen=True)
class MaskedValues:
    """One set of values: as it is kept, and what of it is secret."""

    text: str  #: JSON text, or what a tool has answered instead
    secrets: Secrets

    @property
    def places(self) -> Sequence[str]:
        """JSON pointers to the secrets in it."""
        return self.secrets.places_in(self.text)

    @property
    def places_by_agent(self) -> Sequence[Path]:
        """Where something is masked only because the agent's own schema says so."""
        try:
            hidden = self.secrets.hidden_by(json.loads(self.text))
        except (ValueError, RecursionError):
            return ()
        return [place for place, by in hidden.items() if by is HiddenBy.AGENT]


def masked_values_of_interrupt(
    row: Interrupt, decision: Decision | None
) -> Mapping[str, MaskedValues]:
    """By what the page of the request calls them; only those that there are."""
    call, args = row.tool_call, secrets_of_arguments(row.body)
    metadata = json.loads(row.body).get("metadata")
    found: dict[str, MaskedValues] = {}
    if metadata:
        found["request"] = MaskedValues(json.dumps(metadata), NAMES)
    if call is not None:
        # Closed ones show what was proposed: what was made of it is in the answer.
        is_open = row.status == InterruptStatus.OPEN
        found["arguments"] = MaskedValues(call.approved_args if is_open else call.args, args)
    if decision is not None and decision.payload:
        found["answer"] = MaskedValues(decision.payload, secrets_of_answers(row.body))
    if call is not None and call.started_at:
        found["executed"] = MaskedValues(call.approved_args, args)
    if call is not None and call.result is not None:
        found["result"] = MaskedValues(call.result, NAMES)
    return found


def unseen_sets(row: Interrupt, user_id: int | None) -> Sequence[str]:
    """What a decision consents to, is masked, and was not revealed to this person as it is now."""
    veiled = masked_values_of_interrupt(row, None)
    masked = [what for what in CONSENTED if what in veiled and veiled[what].places]
    if not masked:
        return ()
    seen = Unmasking.objects.filter(
        interrupt=row, user=user_id, view_digest=row.shown_digest
    ).values_list("what", flat=True)
    revealed = set(seen)
    return [what for what in masked if what not in revealed]


def masked_values_of_call(
    call: ToolCall, asked: Iterable[Interrupt], entries: Iterable[AuditEntry]
) -> Mapping[str, MaskedValues]:
    """By what the page of the call calls them; only those that there are."""
    args = secrets_of_arguments(*(one.body for one in asked))
    found = {"proposed": MaskedValues(call.args, args)}
    if call.verdict in ("approved", "edited"):
        found["approved"] = MaskedValues(call.approved_args, args)
    executed = last_start(entries)
    if executed is not None and isinstance(executed.get("args"), str):
        found["executed"] = MaskedValues(executed["args"], args)
    if call.result is not None:
        found["result"] = MaskedValues(call.result, NAMES)
    return found


def last_start(entries: Iterable[AuditEntry]) -> dict[str, Any] | None:
    """What the last entry about a start tells: its digest as `digest`, and `args` if it has any."""
    starts = [entry for entry in entries if entry.action == "tool.started"]
    if not starts:
        return None
    told = starts[-1].told
    return {"digest": str(told["digests"].get("executed", "")), "args": told["detail"].get("args")}


def interrupt_bodies_by_id(entries: Iterable[AuditEntry]) -> Mapping[UUID, Sequence[str]]:
    """The questions that entries are about, as JSON text, by the id of the question or its call."""
    rows = list(entries)
    ids = [pk for row in rows for pk in _about(row)]
    found: dict[UUID, list[str]] = {}
    asked = Interrupt.objects.filter(tool_call__in=ids) | Interrupt.objects.filter(pk__in=ids)
    for pk, call, body in asked.values_list("pk", "tool_call_id", "body"):
        found.setdefault(pk, []).append(body)
        if call is not None:
            found.setdefault(call, []).append(body)
    return found


def interrupt_bodies_by_call(thread: Thread) -> Mapping[str, Sequence[str]]:
    """The questions of a thread about its calls, as JSON text, by the agent's ids of the calls."""
    found: dict[str, list[str]] = {}
    asked = Interrupt.objects.filter(thread=thread, tool_call__isnull=False)
    for call, body in asked.values_list("tool_call__tool_call_id", "body"):
        found.setdefault(call, []).append(body)
    return found


def about_entry(entry: AuditEntry, asked: Mapping[UUID, Sequence[str]]) -> list[str]:
    """Those of the questions that one entry is about."""
    return [body for pk in _about(entry) for body in asked.get(pk, ())]


def _about(entry: AuditEntry) -> list[UUID]:
    return [pk for pk in (entry.interrupt_id, entry.tool_call_id) if pk is not None]
