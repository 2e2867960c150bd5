"""Older AG-UI clients: their answers become resume entries; events are sent in their dialect."""

import json
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import aclosing, suppress
from typing import Any

from agents.agui import strict_json
from agents.agui.legacy.dialects import Dialect
from agents.agui.legacy.legacy_clients import (
    CLIENT_DIALECTS,
    ClientAnswer,
    DialectWriter,
    merge_edits,
    resume_entry_fields,
)
from inbox.actions.decisions.decide import decide
from inbox.actions.runs.start_run import RunRequest
from inbox.feed import EventRow
from inbox.models import Agent
from inbox.queries.runs.delivered_interrupts import (
    DeliveredInterrupt,
    delivered_to,
    interrupts_to_answer,
)
from inbox.rules import errors
from inbox.rules.decisions.edits import flat_edits
from inbox.rules.decisions.gate import Entrance
from inbox.rules.people.access import Actor
from inbox.rules.runs.contract import ResumeEntry
from inbox.rules.runs.states import EntryStatus, Reason
from inbox.rules.schema.schemas import is_closed, named_members


def parse_dialect(name: str) -> Dialect:
    """Return the dialect with this name; raise InvalidInput if there is none."""
    if name in CLIENT_DIALECTS:
        return Dialect(name)
    names = ", ".join(CLIENT_DIALECTS)
    raise errors.InvalidInput(f"There is no dialect {name[:40]!r}; there are: {names}.")


def resume_entries(
    actor: Actor,
    agent: Agent,
    request: RunRequest,
    dialect: Dialect,
    client_answer: ClientAnswer,
    entrance: Entrance,
) -> tuple[list[ResumeEntry], Sequence[DeliveredInterrupt]]:
    """
    Return the resume entries for an answer, or the interrupts that are still open.

    The draft has one interrupt at a time, and CopilotKit displays one of several. Their answers are
    stored as decisions; the last one returns the entries of all, so the agent is resumed once.

    Raises:
        NotFound, Forbidden, and what `decide` raises.
        ViewChanged: the answer has no interrupt id, and no interrupts were sent to this actor.
        UnknownInterrupt: no open interrupt has this id.
        PartialResume: the answer does not cover all open interrupts.
    """
    if dialect is Dialect.LANGGRAPH and (
        interrupts := _interrupts_in_map(actor, agent, request.thread_id, client_answer.payload)
    ):
        return _entries_from_map(interrupts, client_answer.payload), ()
    interrupts = interrupts_to_answer(actor, agent, request.thread_id, client_answer.interrupt_id)
    interrupt_id = client_answer.interrupt_id
    if not interrupt_id:
        delivered = delivered_to(actor, agent, request.thread_id, request.run_id)
        interrupts = delivered.interrupts
        if len(delivered.delivered_ids) != 1:
            raise errors.PartialResume(
                "Several interrupts are open; answer with a map from their ids to the answers."
            )
        (interrupt_id,) = delivered.delivered_ids
    interrupts_by_id = {interrupt.interrupt_id: interrupt for interrupt in interrupts}
    if (target := interrupts_by_id.get(interrupt_id)) is None:
        raise errors.UnknownInterrupt("No interrupt is open on this thread.")
    entry = _resume_entry(dialect, target, client_answer.payload)
    others = [interrupt for interrupt in interrupts if interrupt is not target]
    still_open = [interrupt for interrupt in others if interrupt.is_open]
    if not still_open:
        return _all_entries(interrupts, {interrupt_id: entry}), ()
    decide(
        interrupt_id=target.pk,
        status=entry.status,
        payload=entry.payload,
        view_digest=request.view_digests.get(target.interrupt_id, ""),
        actor=actor,
        entrance=entrance,
        client_run_id=request.run_id,
    )
    return [], still_open


def open_interrupts(actor: Actor, agent: Agent, thread_id: str) -> Sequence[DeliveredInterrupt]:
    """Return the open interrupts of a thread; none if the actor may not decide."""
    try:
        return [
            interrupt
            for interrupt in interrupts_to_answer(actor, agent, thread_id, "")
            if interrupt.is_open
        ]
    except (errors.Forbidden, errors.UnknownInterrupt):
        return []


def repeat_interrupts(still_open: Sequence[DeliveredInterrupt]) -> list[str]:
    """
    Return events that repeat these interrupts in LangGraph's dialect.

    CopilotKit removes an interrupt when it sends its next request, even if that is refused.
    """
    writer = DialectWriter(Dialect.LANGGRAPH)
    if still_open:
        writer.add_tool_calls(still_open[0].messages)
    bodies = [dict(interrupt.body) for interrupt in still_open]
    return [strict_json.dumps(event) for event in writer.interrupt_events(bodies)]


def translate_events(bodies: Sequence[str], dialect: Dialect) -> list[str]:
    """Return events in the client's dialect."""
    writer = DialectWriter(dialect)
    return [text for body in bodies for text in _translate(body, writer)]


async def translate_rows(
    chunks: AsyncIterator[Sequence[EventRow]], dialect: Dialect
) -> AsyncIterator[Sequence[EventRow]]:
    """Yield the rows of a run in the client's dialect, with their sequence numbers."""
    writer = DialectWriter(dialect)
    async with aclosing(chunks) as rows:  # type: ignore[type-var]
        async for chunk in rows:
            yield [row._replace(body=body) for row in chunk for body in _translate_row(row, writer)]


def _translate_row(row: EventRow, writer: DialectWriter) -> list[str]:
    # Other events, mostly deltas, are the same in every dialect.
    is_same = row.type not in ("MESSAGES_SNAPSHOT", "RUN_FINISHED")
    return [row.body] if is_same else _translate(row.body, writer)


def _translate(body: str, writer: DialectWriter) -> list[str]:
    return [strict_json.dumps(event) for event in writer.write(json.loads(body))]


def _interrupts_in_map(
    actor: Actor, agent: Agent, thread_id: str, answer: Any
) -> Sequence[DeliveredInterrupt]:
    """
    Return the interrupts of the run that LangGraph's map from interrupt ids to answers is for.

    A map that is repeated late is for an earlier run. Empty if it is a single answer.
    """
    if not isinstance(answer, dict) or not answer:
        return ()
    with suppress(errors.UnknownInterrupt):
        interrupts = interrupts_to_answer(actor, agent, thread_id, next(iter(answer)))
        if answer.keys() <= {interrupt.interrupt_id for interrupt in interrupts}:
            return interrupts
    return ()


def _entries_from_map(
    interrupts: Sequence[DeliveredInterrupt], answers: Mapping[str, Any]
) -> list[ResumeEntry]:
    """Return the entries of LangGraph's map from interrupt ids to answers."""
    new_entries = {
        interrupt.interrupt_id: _resume_entry(
            Dialect.LANGGRAPH, interrupt, answers[interrupt.interrupt_id]
        )
        for interrupt in interrupts
        if interrupt.interrupt_id in answers
    }
    return _all_entries(interrupts, new_entries)


def _all_entries(
    interrupts: Sequence[DeliveredInterrupt], new_entries: Mapping[str, ResumeEntry]
) -> list[ResumeEntry]:
    """Return the new entry of each interrupt, or else its earlier answer."""
    entries = (
        new_entries.get(interrupt.interrupt_id) or interrupt.answer for interrupt in interrupts
    )
    return [entry for entry in entries if entry is not None]


def _resume_entry(dialect: Dialect, interrupt: DeliveredInterrupt, answer: Any) -> ResumeEntry:
    is_approval = interrupt.reason == Reason.TOOL_CALL
    status, payload = resume_entry_fields(answer, is_approval=is_approval)
    schema = interrupt.body.get("responseSchema")
    if is_approval and isinstance(payload, dict) and payload.get("approved") is True:
        flat = (
            flat_edits(schema=schema, args=interrupt.args, payload=payload)
            if dialect is Dialect.LANGGRAPH
            else ()
        )
        payload = merge_edits(payload, answer, interrupt.args, flat)
    elif is_approval and isinstance(payload, dict) and is_closed(schema):
        # A denial edits nothing, so the edits that these clients send beside it have no place.
        args = interrupt.args if isinstance(interrupt.args, dict) else {}
        edits = {"modifications", *args} - named_members(schema)
        payload = {name: payload[name] for name in payload if name not in edits}
    return ResumeEntry(interrupt.interrupt_id, EntryStatus(status), payload)
