"""The answers that a policy gives to interrupts about tool calls."""

from typing import Any

from inbox.rules.decisions.approvals import takes_approval
from inbox.rules.errors import RequestRejected
from inbox.rules.policies.evaluation import Ruling
from inbox.rules.policies.language.policy import Effect, OnExpiry
from inbox.rules.runs.contract import InterruptState, ResumeEntry, check_payload
from inbox.rules.runs.states import EntryStatus, Reason
from inbox.rules.schema.schemas import YES_NO_OR_TEXT

#: The effects that answer an interrupt without a person.
ANSWERED = frozenset((Effect.ALLOW, Effect.GRANT, Effect.DENY))


def answer_of(state: InterruptState, ruling: Ruling) -> ResumeEntry | None:
    """
    Return the answer of a ruling that fits the interrupt's response schema.

    None if people have to answer: the ruling asks, the agent asks for input, which may be more than
    consent, or does not accept an approval. A denial that it does not accept is a cancellation.
    """
    if ruling.effect is Effect.DENY:
        return _denial(state, f"Denied by policy: {', '.join(ruling.rules)}.")
    if ruling.effect not in ANSWERED or state.reason == Reason.INPUT_REQUIRED:
        return None
    return _fitting(state, {"approved": True})


def answer_on_expiry(state: InterruptState, ruling: Ruling | None) -> ResumeEntry:
    """Return the answer to an expired interrupt: a cancellation, or the denial of the policy."""
    requirement = ruling.requirement if ruling else None
    if requirement is None or requirement.on_expiry is not OnExpiry.DENY:
        return ResumeEntry(state.interrupt_id, EntryStatus.CANCELLED)
    return _denial(state, "Denied by policy: nobody decided in time.")


def _denial(state: InterruptState, reason: str) -> ResumeEntry:
    """Return a denial that fits the response schema, with the reason if that is possible."""
    denial = _fitting(state, {"approved": False, "reason": reason}, {"approved": False}, False)
    return denial or ResumeEntry(state.interrupt_id, EntryStatus.CANCELLED)


def _fitting(state: InterruptState, *payloads: Any) -> ResumeEntry | None:
    """Return the first of these answers that the agent reads and accepts."""
    entries = (
        ResumeEntry(state.interrupt_id, EntryStatus.RESOLVED, payload) for payload in payloads
    )
    return next((entry for entry in entries if _fits(state, entry)), None)


def _fits(state: InterruptState, entry: ResumeEntry) -> bool:
    """Return whether the agent reads such an answer as a decision, and accepts this one."""
    is_read = (
        state.schema == YES_NO_OR_TEXT
        if isinstance(entry.payload, bool)
        else takes_approval(reason=state.reason, schema=state.schema)
    )
    if not is_read:
        return False
    try:
        check_payload(state, entry)
    except RequestRejected:
        return False
    return True
