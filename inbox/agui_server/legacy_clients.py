"""Older clients at the door: their answers become entries, and questions are told their way."""

import json
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import aclosing
from typing import Any

from agents.agui import strict_json
from agents.agui.legacy.dialects import Dialect
from agents.agui.legacy.legacy_clients import (
    CLIENT_DIALECTS,
    ClientAnswer,
    DialectWriter,
    answers_by_interrupt,
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


def dialect_of(name: str) -> Dialect:
    """Raises InvalidInput: nobody speaks that here."""
    if name in CLIENT_DIALECTS:
        return Dialect(name)
    known = ", ".join(CLIENT_DIALECTS)
    raise errors.InvalidInput(f"There is no dialect {name[:40]!r}; there are: {known}.")


def entries_of(
    actor: Actor,
    agent: Agent,
    request: RunRequest,
    dialect: Dialect,
    given: ClientAnswer,
    entrance: Entrance,
) -> tuple[list[ResumeEntry], Sequence[DeliveredInterrupt]]:
    """
    Return the resume entries that an answer stands for; or the interrupts that are still open.

    A client of the draft is asked one thing at a time, and CopilotKit shows one of several: their
    answers are stored as decisions until the last one, which comes with all of them, so that the
    agent is resumed once.

    Raises:
        NotFound, Forbidden, and what `decide` raises.
        ViewChanged: the answer names no interrupt, and this actor was told of none.
        UnknownInterrupt, PartialResume: the answer is to nothing that was asked, or not to all.
    """
    asked = interrupts_to_answer(actor, agent, request.thread_id, given.interrupt_id)
    answers_by_id = answers_by_interrupt(given.payload, [one.interrupt_id for one in asked])
    if dialect is Dialect.LANGGRAPH and answers_by_id is not None:
        return _entries_of_map(asked, answers_by_id), ()
    name = given.interrupt_id
    if not name:
        delivered = delivered_to(actor, agent, request.thread_id, request.run_id)
        asked = delivered.interrupts
        if len(delivered.delivered_ids) != 1:
            raise errors.PartialResume(
                "Several interrupts are open; answer with a map from their ids to the answers."
            )
        (name,) = delivered.delivered_ids
    target = _target(asked, name)
    entry = _entry(dialect, target, given.payload)
    others = [one for one in asked if one is not target]
    still_open = [one for one in others if one.is_open]
    if not still_open:
        answers = {one.interrupt_id: one.answer for one in others} | {target.interrupt_id: entry}
        return [answer for one in asked if (answer := answers[one.interrupt_id])], ()
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
    """Return what the thread still asks; nothing for who may not decide."""
    try:
        return [one for one in interrupts_to_answer(actor, agent, thread_id, "") if one.is_open]
    except (errors.Forbidden, errors.UnknownInterrupt):
        return []


def asked_again(still_open: Sequence[DeliveredInterrupt]) -> list[str]:
    """
    Return events that ask for these once more, in LangGraph's dialect.

    CopilotKit puts a question away with whatever it sends next, refused or not.
    """
    writer = DialectWriter(Dialect.LANGGRAPH)
    if still_open:
        writer.add_tool_calls(still_open[0].messages)
    asked = [dict(one.body) for one in still_open]
    return [strict_json.dumps(event) for event in writer.interrupt_events(asked)]


def retold(bodies: Sequence[str], dialect: Dialect) -> list[str]:
    """Events in the client's dialect."""
    writer = DialectWriter(dialect)
    return [text for body in bodies for text in _retold(body, writer)]


async def retold_rows(
    chunks: AsyncIterator[Sequence[EventRow]], dialect: Dialect
) -> AsyncIterator[Sequence[EventRow]]:
    """The rows of a run in the client's dialect, each under the number it has in the log."""
    writer = DialectWriter(dialect)
    async with aclosing(chunks) as rows:  # type: ignore[type-var]
        async for chunk in rows:
            yield [row._replace(body=body) for row in chunk for body in _retold_row(row, writer)]


def _retold_row(row: EventRow, writer: DialectWriter) -> list[str]:
    # Whatever else there is says the same in every dialect, and most of it are deltas.
    is_same = row.type not in ("MESSAGES_SNAPSHOT", "RUN_FINISHED")
    return [row.body] if is_same else _retold(row.body, writer)


def _retold(body: str, writer: DialectWriter) -> list[str]:
    return [strict_json.dumps(event) for event in writer.write(json.loads(body))]


def _entries_of_map(
    asked: Sequence[DeliveredInterrupt], answers: Mapping[str, Any]
) -> list[ResumeEntry]:
    """Return the entries of LangGraph's map from interrupt ids to answers."""
    given_now = {
        one.interrupt_id: _entry(Dialect.LANGGRAPH, one, answers[one.interrupt_id])
        for one in asked
        if one.interrupt_id in answers
    }
    entries = (given_now.get(one.interrupt_id) or one.answer for one in asked)
    return [entry for entry in entries if entry is not None]


def _target(asked: Sequence[DeliveredInterrupt], interrupt_id: str) -> DeliveredInterrupt:
    for one in asked:
        if one.interrupt_id == interrupt_id:
            return one
    raise errors.UnknownInterrupt("No interrupt is open on this thread.")


def _entry(dialect: Dialect, asked: DeliveredInterrupt, given: Any) -> ResumeEntry:
    is_approval = asked.reason == Reason.TOOL_CALL
    status, payload = resume_entry_fields(given, is_approval=is_approval)
    if is_approval and isinstance(payload, dict) and payload.get("approved") is True:
        flat = (
            flat_edits(schema=asked.body.get("responseSchema"), args=asked.args, payload=payload)
            if dialect is Dialect.LANGGRAPH
            else ()
        )
        payload = merge_edits(payload, given, asked.args, flat)
    return ResumeEntry(asked.interrupt_id, EntryStatus(status), payload)
