"""The AG-UI interrupt contract: validation of resume arrays, and completeness of a set."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from inbox.rules import errors
from inbox.rules.decisions.consent import canonical_json, digest
from inbox.rules.decisions.edits import check_edits
from inbox.rules.decisions.feedback import check_feedback
from inbox.rules.runs.questions import check_no_denial_in_words
from inbox.rules.runs.states import EntryStatus, InterruptStatus, Reason
from inbox.rules.schema.answer_forms import answer_form
from inbox.rules.schema.schemas import check_answer


@dataclass(frozen=True)
class ResumeEntry:
    """
    An AG-UI resume entry: `payload` None and absent are equal, and a cancellation has none.

    `metadata` is what the client sent, without `signoff`; it is passed to the agent and is not
    compared.
    """

    interrupt_id: str
    status: EntryStatus
    payload: Any = None
    metadata: Mapping[str, Any] | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        if self.status is EntryStatus.CANCELLED:
            object.__setattr__(self, "payload", None)


@dataclass(frozen=True)
class InterruptState:
    """The part of an interrupt that the contract reads."""

    interrupt_id: str
    status: InterruptStatus
    reason: str
    expires_at: datetime | None
    schema: Mapping[str, Any] | None
    answer: ResumeEntry | None = None  #: the decision in force
    args: str | None = None  #: of the tool call, with edits: canonical JSON text
    agent_schema: Mapping[str, Any] | None = None  #: the agent's own, if answers are translated

    @property
    def is_open(self) -> bool:
        return self.status is InterruptStatus.OPEN


def fingerprint(entries: Iterable[ResumeEntry]) -> str:
    """Return a digest of a resume array; ignores order and null payloads, but not types."""
    parts = [
        [entry.interrupt_id, entry.status.value, entry.payload]
        if entry.payload is not None
        else [entry.interrupt_id, entry.status.value]
        for entry in sorted(entries, key=lambda entry: entry.interrupt_id)
    ]
    return digest(canonical_json(parts))


def is_replay(*, entries: Sequence[ResumeEntry], interrupts: Sequence[InterruptState]) -> bool:
    """Return whether these entries are the ones that already resumed this run."""
    decisions = [interrupt.answer for interrupt in interrupts if interrupt.answer]
    return len(decisions) == len(interrupts) and fingerprint(entries) == fingerprint(decisions)


def check_resume(
    *, entries: Sequence[ResumeEntry], interrupts: Sequence[InterruptState]
) -> list[ResumeEntry]:
    """
    Return the entries that are new decisions, in the order of the outcome.

    An entry that repeats the decision in force is not a new one; an entry that contradicts it is
    rejected. The action checks the payload of each entry afterwards.

    Raises:
        DuplicateResume, UnknownInterrupt, AlreadyDecided, PartialResume: the first that applies, in
        the order of the contract.
    """
    by_id = _entries_by_id(entries)
    states = {interrupt.interrupt_id: interrupt for interrupt in interrupts}
    for interrupt_id in by_id:
        if interrupt_id not in states:
            raise errors.UnknownInterrupt(
                f"No interrupt {interrupt_id!r} is open on this thread; "
                f"open: {', '.join(_open_ids(interrupts)) or 'none'}."
            )
    for interrupt_id, entry in by_id.items():
        check_not_contradicted(states[interrupt_id], entry)
    missing = [name for name in _open_ids(interrupts) if name not in by_id]
    if missing:
        raise errors.PartialResume(
            f"One resume answers every open interrupt; missing: {', '.join(missing)}."
        )
    return [by_id[interrupt.interrupt_id] for interrupt in interrupts if interrupt.is_open]


def approval_entry(interrupt: InterruptState, entry: ResumeEntry) -> ResumeEntry:
    """Return an answer in the agent's own form as the approval or denial that it means."""
    form = answer_form(interrupt.agent_schema)
    if form is None or interrupt.agent_schema is None or entry.status is EntryStatus.CANCELLED:
        return entry
    return replace(entry, payload=form.approval(interrupt.agent_schema, entry.payload))


def check_not_contradicted(interrupt: InterruptState, entry: ResumeEntry) -> None:
    """Raise AlreadyDecided or InterruptExpired if the entry contradicts a closed interrupt."""
    if interrupt.is_open:
        return
    if interrupt.answer and fingerprint([interrupt.answer]) == fingerprint([entry]):
        return
    if interrupt.status is InterruptStatus.EXPIRED:
        raise errors.InterruptExpired(f"Interrupt {interrupt.interrupt_id!r} has expired.")
    raise errors.AlreadyDecided(
        f"Interrupt {interrupt.interrupt_id!r} was already answered in another way."
    )


def check_in_time(interrupt: InterruptState, entry: ResumeEntry, now: datetime) -> None:
    """Raise InterruptExpired for a late answer; a late cancellation is accepted."""
    has_expired = interrupt.expires_at is not None and now >= interrupt.expires_at
    if has_expired and entry.status is EntryStatus.RESOLVED:
        raise errors.InterruptExpired(
            f"Interrupt {interrupt.interrupt_id!r} expired at {interrupt.expires_at:%H:%M:%S} UTC; "
            "it can only be cancelled now."
        )


def check_payload(interrupt: InterruptState, entry: ResumeEntry) -> None:
    """
    Raise unless a resolved entry matches the response schema, edits only what is offered, and
    asks back only where the agent listens.

    Raises:
        InvalidPayload, EditsNotOffered.
    """
    if entry.status is EntryStatus.RESOLVED:
        args = interrupt.args if interrupt.reason != Reason.OUTCOME_UNKNOWN else None
        check_edits(schema=interrupt.schema, args=args, payload=entry.payload)
        check_feedback(schema=interrupt.schema, payload=entry.payload)
        check_no_denial_in_words(schema=interrupt.schema, payload=entry.payload)
        check_answer(schema=interrupt.schema, reason=interrupt.reason, payload=entry.payload)


def plan_resume(interrupts: Iterable[InterruptState]) -> list[ResumeEntry] | None:
    """Return the entries of the resume in the order of the outcome; None while one is open."""
    decisions = []
    for interrupt in interrupts:
        if interrupt.is_open or interrupt.answer is None:
            return None
        decisions.append(interrupt.answer)
    return decisions


def _entries_by_id(entries: Sequence[ResumeEntry]) -> dict[str, ResumeEntry]:
    by_id: dict[str, ResumeEntry] = {}
    for entry in entries:
        if entry.interrupt_id in by_id:
            raise errors.DuplicateResume(
                f"Interrupt {entry.interrupt_id!r} is answered twice in one resume."
            )
        by_id[entry.interrupt_id] = entry
    return by_id


def _open_ids(interrupts: Iterable[InterruptState]) -> list[str]:
    return [interrupt.interrupt_id for interrupt in interrupts if interrupt.is_open]


def wire_entries(entries: Iterable[ResumeEntry]) -> list[dict[str, Any]]:
    """Return the entries as the JSON value of `RunAgentInput.resume`."""
    items = []
    for entry in entries:
        item: dict[str, Any] = {"interruptId": entry.interrupt_id, "status": entry.status.value}
        if entry.status is EntryStatus.RESOLVED:
            item["payload"] = entry.payload
        if entry.metadata:
            item["metadata"] = dict(entry.metadata)
        items.append(item)
    return items
