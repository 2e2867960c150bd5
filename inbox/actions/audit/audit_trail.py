"""Audit entries, written by every action in its own transaction."""

import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from inbox.models import AuditEntry, AuditPayload, Interrupt, Run, Thread, ToolCall
from inbox.models.locks import lock_system_chain, lock_teams
from inbox.models.statements import Select, insert_values
from inbox.rules.audit.audit_entry import (
    SALT_BYTES,
    SYSTEM_CHAIN,
    ChainPosition,
    Facts,
    body_of,
    commitment_to,
    hash_of,
)
from inbox.rules.decisions.consent import canonical_json, digest
from inbox.rules.people.access import Actor
from inbox.rules.request_context import current_request_id

_LAST_ENTRY = Select(
    lambda params: (
        AuditEntry.objects.filter(chain=params.chain)
        .order_by("-seq")
        .values_list("seq", "hash")[:1]
    )
)
#: Of longer arguments and results the trail has the digest only.
MAX_TEXT_CHARACTERS = 16_384


@dataclass(frozen=True)
class EntryDraft:
    """An entry without a position in its chain."""

    facts: Facts
    payload: str  #: canonical JSON text of the names and texts, which can be erased
    ids: Mapping[str, UUID] = field(default_factory=dict)

    @property
    def chain(self) -> UUID:
        return self.ids.get("thread") or self.ids.get("team") or SYSTEM_CHAIN


#: Entries recorded in a block of `inserted_at_end`, in order.
_pending: ContextVar[list[EntryDraft] | None] = ContextVar("pending audit entries", default=None)


@contextmanager
def inserted_at_end() -> Iterator[None]:
    """
    Collect the entries recorded in the block, and insert them together when it ends.

    Saves up to three statements for each entry. The block must be a whole transaction; nothing is
    inserted if it raises.
    """
    drafts: list[EntryDraft] = []
    token = _pending.set(drafts)
    try:
        yield
    finally:
        _pending.reset(token)
    _insert(drafts)


def record(action: str, actor: Actor, now: datetime, **what: Any) -> None:
    """Record one entry; the arguments are those of `build_entry`."""
    record_all([build_entry(action, actor, now, **what)])


def record_erasure(first: int, last: int, **what: Any) -> None:
    """Record that the payloads of the chain's entries `first` to `last` are erased."""
    draft = build_entry("audit.erased", **what)
    record_all([replace(draft, facts=replace(draft.facts, erases=(first, last)))])


def record_all(drafts: Iterable[EntryDraft]) -> None:
    """
    Record entries in this order.

    The caller holds the locks of their threads. Entries of teams lock the team rows here, and
    entries without a team lock the installation's chain; several must come in one call, which takes
    the locks in one order.
    """
    pending = _pending.get()
    if pending is None:
        _insert(list(drafts))
    else:
        pending.extend(drafts)


def _insert(drafts: Sequence[EntryDraft]) -> None:
    _lock_chains(drafts)
    entries: list[dict[str, Any]] = []
    payloads: list[dict[str, Any]] = []
    places: dict[UUID, ChainPosition] = {}
    for draft in drafts:
        place = places.get(draft.chain) or _next_place(draft)
        salt = secrets.token_hex(SALT_BYTES)
        columns = _columns(draft, place, commitment_to(draft.payload, salt))
        entries.append(columns)
        payloads.append({"salt": salt, "text": draft.payload})
        places[draft.chain] = place.after(columns["hash"])
    for payload, pk in zip(payloads, insert_values(AuditEntry, entries), strict=True):
        payload["entry_id"] = pk
    insert_values(AuditPayload, payloads)


def build_entry(
    action: str,
    actor: Actor,
    now: datetime,
    *,
    thread: Thread | None = None,
    team_id: UUID | None = None,
    run: Run | None = None,
    interrupt: Interrupt | None = None,
    tool_call: ToolCall | None = None,
    digests: Mapping[str, str] | None = None,
    state: tuple[str, str] | None = None,
    **detail: Any,
) -> EntryDraft:
    """
    Build an entry; `action` is a noun and a past participle: `run.started`.

    `digests` are sha256 of canonical JSON texts: view, proposed, approved, executed, result. They,
    `detail` and the actor's name can be erased later; everything else stays.
    """
    rows = {"thread": thread, "run": run, "interrupt": interrupt, "tool_call": tool_call}
    ids: dict[str, UUID] = {name: row.pk for name, row in rows.items() if row is not None}
    if thread is not None:
        team_id = thread.team_id
    if team_id is not None:
        ids["team"] = team_id
    return EntryDraft(
        facts=Facts(
            action=action,
            actor=actor,
            at=now,
            ids=ids,
            state=state,
            request=current_request_id(),
        ),
        payload=canonical_json(
            {
                "actor": actor.label[:160],
                "on_behalf": actor.on_behalf[:160],
                "digests": dict(digests or {}),
                "detail": detail,
            }
        ),
        ids=ids,
    )


def digests_of(interrupt: Interrupt, view: str = "") -> dict[str, str]:
    """Return the digests of an interrupt and its call; `view` is "" for the view at creation."""
    digests = {"view": view or interrupt.view_digest}
    call = interrupt.tool_call
    if call is not None:
        digests |= {"proposed": digest(call.args), "approved": digest(call.approved_args)}
    return digests


def inline_text(text: str) -> str | None:
    """Return the text for a payload; None if it is so long that only its digest is stored."""
    return text if len(text) <= MAX_TEXT_CHARACTERS else None


def _lock_chains(drafts: Iterable[EntryDraft]) -> None:
    teams = {draft.chain for draft in drafts if "thread" not in draft.ids and "team" in draft.ids}
    if teams:
        lock_teams(teams)
    if any(draft.chain == SYSTEM_CHAIN for draft in drafts):
        lock_system_chain()


def _next_place(draft: EntryDraft) -> ChainPosition:
    """Return the position after the last entry; the chain is locked, so it is free."""
    last = _LAST_ENTRY.first(chain=draft.chain)
    return ChainPosition(draft.chain, last[0] + 1, last[1]) if last else ChainPosition(draft.chain)


def _columns(draft: EntryDraft, place: ChainPosition, commitment: str) -> dict[str, Any]:
    facts = draft.facts
    body = body_of(facts, place, commitment)
    erases_from, erases_to = facts.erases or (None, None)
    return {
        "chain": place.chain,
        "seq": place.seq,
        "body": body,
        "hash": hash_of(body),
        "action": facts.action,
        "actor_kind": facts.actor.kind,
        "actor_id": facts.actor.ident[:64],
        "at": facts.at,
        "erases_from": erases_from,
        "erases_to": erases_to,
        **{f"{name}_id": pk for name, pk in facts.ids.items()},
    }
