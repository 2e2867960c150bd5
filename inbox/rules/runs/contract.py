"""The AG-UI interrupt contract: which resume arrays are accepted, and what completes a set."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from inbox.rules import errors
from inbox.rules.decisions.consent import canonical_json, digest
from inbox.rules.decisions.edits import check_edits
from inbox.rules.runs.states import EntryStatus, InterruptStatus, Reason
from inbox.rules.schema.schemas import check_answer


@dataclass(frozen=True)
class ResumeEntry:
    """
    One answer: `payload` None and absent are the same, and a cancellation has none.

    `metadata` is what a client sent beside it, without the server's own part; it travels to the
    agent, and makes no two answers differ.
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
    """An interrupt as far as the contract looks at it."""

    interrupt_id: str
    status: InterruptStatus
    reason: str
    expires_at: datetime | None
    schema: Mapping[str, Any] | None
    answer: ResumeEntry | None = None  #: the standing decision
    args: str | None = None  #: of the tool call, as approved so far: canonical JSON text

    @property
    def is_open(self) -> bool:
        return self.status is InterruptStatus.OPEN


def fingerprint(entries: Iterable[ResumeEntry]) -> str:
    """What makes two resume arrays the same: order and null payloads do not matter, types do."""
    parts = [
        [entry.interrupt_id, entry.status.value, entry.payload]
        if entry.payload is not None
        else [entry.interrupt_id, entry.status.value]
        for entry in sorted(entries, key=lambda entry: entry.interrupt_id)
    ]
    return digest(canonical_json(parts))


def is_replay(*, entries: Sequence[ResumeEntry], questions: Sequence[InterruptState]) -> bool:
    """Whether these entries are the ones that already resumed this run: a replay."""
    answers = [question.answer for question in questions if question.answer]
    return len(answers) == len(questions) and fingerprint(entries) == fingerprint(answers)


def check_resume(
    *, entries: Sequence[ResumeEntry], questions: Sequence[InterruptState]
) -> list[ResumeEntry]:
    """
    Return the entries that are new decisions, in the order asked, if they are a complete set.

    An entry that repeats a standing decision is no new one; one that contradicts it is refused.
    Each answer is checked by itself afterwards (`inbox.actions.decisions.decide.record_decisions`).

    Raises:
        DuplicateResume, UnknownInterrupt, AlreadyDecided, PartialResume: the first that applies, in
        the order of the contract.
    """
    by_id = _entries_by_id(entries)
    known = {question.interrupt_id: question for question in questions}
    for interrupt_id in by_id:
        if interrupt_id not in known:
            raise errors.UnknownInterrupt(
                f"No interrupt {interrupt_id!r} is open on this thread; "
                f"open: {', '.join(_open_ids(questions)) or 'none'}."
            )
    for interrupt_id, entry in by_id.items():
        check_not_contradicted(known[interrupt_id], entry)
    missing = [name for name in _open_ids(questions) if name not in by_id]
    if missing:
        raise errors.PartialResume(
            f"One resume answers every open interrupt; missing: {', '.join(missing)}."
        )
    return [by_id[question.interrupt_id] for question in questions if question.is_open]


def check_not_contradicted(question: InterruptState, entry: ResumeEntry) -> None:
    """Raise AlreadyDecided (or InterruptExpired) if a closed question is answered differently."""
    if question.is_open:
        return
    if question.answer and fingerprint([question.answer]) == fingerprint([entry]):
        return
    if question.status is InterruptStatus.EXPIRED:
        raise errors.InterruptExpired(f"Interrupt {question.interrupt_id!r} has expired.")
    raise errors.AlreadyDecided(
        f"Interrupt {question.interrupt_id!r} was already answered, and differently."
    )


def check_in_time(question: InterruptState, entry: ResumeEntry, now: datetime) -> None:
    """Raise InterruptExpired for a late answer; a late cancellation is accepted."""
    late = question.expires_at is not None and now >= question.expires_at
    if late and entry.status is EntryStatus.RESOLVED:
        raise errors.InterruptExpired(
            f"Interrupt {question.interrupt_id!r} expired at {question.expires_at:%H:%M:%S} UTC; "
            "it can only be cancelled now."
        )


def check_payload(question: InterruptState, entry: ResumeEntry) -> None:
    """
    Check that a resolved entry fits the response schema, and edits only what it may.

    Raises:
        InvalidPayload, EditsNotOffered.
    """
    if entry.status is EntryStatus.RESOLVED:
        args = question.args if question.reason == Reason.TOOL_CALL else None
        check_edits(schema=question.schema, args=args, payload=entry.payload)
        check_answer(schema=question.schema, reason=question.reason, payload=entry.payload)


def plan_resume(questions: Iterable[InterruptState]) -> list[ResumeEntry] | None:
    """The entries of the one resume, in the order asked, or None while a question is open."""
    answers = []
    for question in questions:
        if question.is_open or question.answer is None:
            return None
        answers.append(question.answer)
    return answers


def _entries_by_id(entries: Sequence[ResumeEntry]) -> dict[str, ResumeEntry]:
    by_id: dict[str, ResumeEntry] = {}
    for entry in entries:
        if entry.interrupt_id in by_id:
            raise errors.DuplicateResume(
                f"Interrupt {entry.interrupt_id!r} is answered twice in one resume."
            )
        by_id[entry.interrupt_id] = entry
    return by_id


def _open_ids(questions: Iterable[InterruptState]) -> list[str]:
    return [question.interrupt_id for question in questions if question.is_open]


def wire_entries(entries: Iterable[ResumeEntry]) -> list[dict[str, Any]]:
    """Entries as `RunAgentInput.resume`."""
    wire = []
    for entry in entries:
        item: dict[str, Any] = {"interruptId": entry.interrupt_id, "status": entry.status.value}
        if entry.payload is not None:
            item["payload"] = entry.payload
        if entry.metadata:
            item["metadata"] = dict(entry.metadata)
        wire.append(item)
    return wire
