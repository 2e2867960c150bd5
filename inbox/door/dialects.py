"""Older clients at the door: their answers become entries, and questions are told their way."""

import json
from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing
from typing import Any

from agents.agui import strict_json
from agents.agui.dialects import Dialect
from agents.agui.old_clients import (
    SPOKEN_AT_THE_DOOR,
    Given,
    Teller,
    by_interrupt,
    canonical_answer,
    with_edits,
)
from inbox.actions.decisions import decide
from inbox.domain import errors
from inbox.domain.access import Actor
from inbox.domain.contract import Entry
from inbox.domain.edits import flat_edits
from inbox.domain.states import EntryStatus, Reason
from inbox.feed import Row
from inbox.models import Agent
from inbox.selectors.questions import Asked, asked_on


def dialect_of(name: str) -> Dialect:
    """Raises InvalidInput: nobody speaks that here."""
    if name in SPOKEN_AT_THE_DOOR:
        return Dialect(name)
    known = ", ".join(SPOKEN_AT_THE_DOOR)
    raise errors.InvalidInput(f"There is no dialect {name[:40]!r}; there are: {known}.")


def entries_of(
    actor: Actor, agent: Agent, thread_id: str, dialect: Dialect, given: Given
) -> tuple[list[Entry], Sequence[Asked]]:
    """
    The resume entries that an answer stands for; or what is still to be asked.

    A client of the draft is asked one thing at a time, and CopilotKit shows one of several: their
    answers are kept as decisions until the last one, which comes with all of them, so that the
    agent is resumed once.

    Raises:
        NotFound, Forbidden, and what `decide` raises.
        UnknownInterrupt, PartialResume: the answer is to nothing that was asked, or not to all.
    """
    asked = asked_on(actor, agent, thread_id, given.interrupt_id)
    if dialect is Dialect.LANGGRAPH and not _answers_one(asked, given):
        return _entries_of_langgraph(asked, given), ()
    target = _target(asked, given.interrupt_id)
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
        view_digest=target.shown_digest,
        actor=actor,
    )
    return [], still_open


def asked_again(actor: Actor, agent: Agent, thread_id: str) -> list[str]:
    """
    What a thread still asks, in LangGraph's dialect; nothing for who may not decide.

    CopilotKit puts a question away with whatever it sends next, refused or not.
    """
    try:
        asked = [one for one in asked_on(actor, agent, thread_id, "") if one.is_open]
    except (errors.Forbidden, errors.UnknownInterrupt):
        return []
    teller = Teller(Dialect.LANGGRAPH)
    if asked:
        teller.know(asked[0].messages)
    return [strict_json.dumps(event) for event in teller.ask([dict(one.body) for one in asked])]


def retold(bodies: Sequence[str], dialect: Dialect) -> list[str]:
    """Events in the client's dialect."""
    teller = Teller(dialect)
    return [text for body in bodies for text in _retold(body, teller)]


async def retold_rows(
    chunks: AsyncIterator[Sequence[Row]], dialect: Dialect
) -> AsyncIterator[Sequence[Row]]:
    """The rows of a run in the client's dialect, each under the number it has in the log."""
    teller = Teller(dialect)
    async with aclosing(chunks) as rows:  # type: ignore[type-var]
        async for chunk in rows:
            yield [row._replace(body=body) for row in chunk for body in _retold_row(row, teller)]


def _retold_row(row: Row, teller: Teller) -> list[str]:
    # Whatever else there is says the same in every dialect, and most of it are deltas.
    is_same = row.type not in ("MESSAGES_SNAPSHOT", "RUN_FINISHED")
    return [row.body] if is_same else _retold(row.body, teller)


def _retold(body: str, teller: Teller) -> list[str]:
    return [strict_json.dumps(event) for event in teller.tell(json.loads(body))]


def _answers_one(asked: Sequence[Asked], given: Given) -> bool:
    """Whether the answer names its question, and is no map that names several."""
    answers = by_interrupt(given.payload, [one.interrupt_id for one in asked])
    return bool(given.interrupt_id) and answers is None


def _entries_of_langgraph(asked: Sequence[Asked], given: Given) -> list[Entry]:
    answers = by_interrupt(given.payload, [one.interrupt_id for one in asked])
    if answers is None:
        waiting = [one for one in asked if one.is_open] or list(asked)
        if len(waiting) != 1:
            raise errors.PartialResume(
                "Several interrupts are open; answer with a map from their ids to the answers."
            )
        answers = {waiting[0].interrupt_id: given.payload}
    given_now = {
        one.interrupt_id: _entry(Dialect.LANGGRAPH, one, answers[one.interrupt_id])
        for one in asked
        if one.interrupt_id in answers
    }
    entries = (given_now.get(one.interrupt_id) or one.answer for one in asked)
    return [entry for entry in entries if entry is not None]


def _target(asked: Sequence[Asked], interrupt_id: str) -> Asked:
    found = (
        one for one in asked if (one.interrupt_id == interrupt_id if interrupt_id else one.is_open)
    )
    target = next(found, None)
    if target is None and not interrupt_id and len(asked) == 1:
        return asked[0]  # the answer once more: who asked knows whether it is the same one
    if target is None:
        raise errors.UnknownInterrupt("No interrupt is open on this thread.")
    return target


def _entry(dialect: Dialect, asked: Asked, given: Any) -> Entry:
    is_approval = asked.reason == Reason.TOOL_CALL
    status, payload = canonical_answer(given, is_approval=is_approval)
    if is_approval and isinstance(payload, dict) and payload.get("approved") is True:
        flat = (
            flat_edits(schema=asked.body.get("responseSchema"), args=asked.args, payload=payload)
            if dialect is Dialect.LANGGRAPH
            else ()
        )
        payload = with_edits(payload, given, asked.args, flat)
    return Entry(asked.interrupt_id, EntryStatus(status), payload)
