"""The whole contract of a resume array: the set, then each answer, in the order of the gate."""

from collections.abc import Sequence
from datetime import datetime

from inbox.rules.runs.contract import (
    InterruptState,
    ResumeEntry,
    check_in_time,
    check_payload,
    check_resume,
)


def check_array(
    *, entries: Sequence[ResumeEntry], interrupts: Sequence[InterruptState], now: datetime
) -> list[ResumeEntry]:
    """Return the new decisions of an array that may resume the run; raise what the gate raises."""
    fresh = check_resume(entries=entries, interrupts=interrupts)
    states = {question.interrupt_id: question for question in interrupts}
    for entry in fresh:
        check_in_time(states[entry.interrupt_id], entry, now)
    for entry in fresh:
        check_payload(states[entry.interrupt_id], entry)
    return fresh
