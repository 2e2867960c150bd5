"""The answers that a policy gives to interrupts about tool calls."""

from collections.abc import Iterator

from inbox.rules.errors import RequestRejected
from inbox.rules.policies.evaluation import Ruling
from inbox.rules.policies.policy import Effect
from inbox.rules.runs.contract import InterruptState, ResumeEntry, check_payload
from inbox.rules.runs.states import EntryStatus

#: The effects that answer an interrupt without a person.
ANSWERED = frozenset((Effect.ALLOW, Effect.GRANT, Effect.DENY))


def answer_of(state: InterruptState, ruling: Ruling) -> ResumeEntry | None:
    """
    Return the answer of a ruling that fits the interrupt's response schema.

    None if people have to answer: the ruling asks, or the agent does not accept an approval. A
    denial that the agent does not accept is a cancellation.
    """
    return next((entry for entry in _answers(state, ruling) if _fits(state, entry)), None)


def _answers(state: InterruptState, ruling: Ruling) -> Iterator[ResumeEntry]:
    if ruling.effect is Effect.DENY:
        reason = f"Denied by policy: {', '.join(ruling.rules)}."
        for payload in ({"approved": False, "reason": reason}, {"approved": False}):
            yield ResumeEntry(state.interrupt_id, EntryStatus.RESOLVED, payload)
        yield ResumeEntry(state.interrupt_id, EntryStatus.CANCELLED)
    elif ruling.effect in ANSWERED:
        yield ResumeEntry(state.interrupt_id, EntryStatus.RESOLVED, {"approved": True})


def _fits(state: InterruptState, entry: ResumeEntry) -> bool:
    try:
        check_payload(state, entry)
    except RequestRejected:
        return False
    return True
