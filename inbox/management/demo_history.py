"""
The past of the demo: requests that were decided in the last two weeks.

It is made through the ordinary actions, under a clock that is set back, so that signatures and the
audit trail are as real as those of new requests.
"""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Final

from inbox import engine
from inbox.actions.decisions.decide import decide
from inbox.actions.runs.resume import resume_if_due
from inbox.management.past_clock import PastClock
from inbox.rules.decisions.gate import Entrance
from inbox.rules.people.access import Actor
from inbox.rules.runs.states import EntryStatus, InterruptStatus, RunStatus

#: The days before the first start with which the history begins.
DAYS = 14
#: How long a worker of another process may take for a run of the demo.
_WORKER_SECONDS: Final = 60
_POLL_SECONDS: Final = 0.05


@dataclass(frozen=True)
class Answer:
    """A decision: by whom and after how many minutes; edits are approved with the others."""

    by: str
    minutes: float
    edits: Mapping[str, Any] = field(default_factory=dict)
    rejects: str = ""  #: the reason of a rejection
    payload: Any = None  #: the answer to a question
    declines: bool = False


@dataclass(frozen=True)
class PastRun:
    """A run of the past, and the answers to its requests in their order."""

    days_ago: int
    clock: str  #: the UTC time of its start
    agent: str
    value: Mapping[str, Any] | None
    message: str
    answers: Sequence[Answer] = ()


def _refund(days_ago: int, clock: str, order: str, why: str, *answers: Answer) -> PastRun:
    value = {"order": order, "why": why}
    return PastRun(days_ago, clock, "refund-desk", value, f"Order {order}", answers)


HISTORY: Sequence[PastRun] = (
    _refund(14, "09:12", "84455", "The box was empty.", Answer("marco", 6)),
    PastRun(14, "10:05", "release-train", {"version": "9.0.4"}, "Release 9.0.4", (
        Answer("marco", 3), Answer("marco", 3.2), Answer("marco", 3.5), Answer("marco", 12),
    )),
    _refund(13, "13:40", "85104", "It arrived after the holiday.", Answer("priya", 22)),
    PastRun(13, "15:02", "rehearsal", None, "rehearse:tool_call", (Answer("marco", 9),)),
    _refund(12, "08:31", "85512", "One of two chairs is scratched.",
        Answer("marco", 4, {"amount": 44})),
    _refund(11, "11:18", "84977", "I ordered the wrong size.",
        Answer("priya", 51, rejects="Outside of the 30 days. Offer an exchange.")),
    PastRun(10, "07:55", "database-steward", None, "Clean up the sessions",
        (Answer("priya", 17, {"dry_run": True, "batch_size": 200}),)),
    PastRun(10, "09:20", "rehearsal", None, "rehearse:confirmation",
        (Answer("marco", 2, payload=True),)),
    _refund(9, "16:45", "84820", "Cancelled before it was sent.",
        Answer("marco", 5), Answer("priya", 38)),
    PastRun(8, "10:00", "rehearsal", None, "rehearse:error"),
    PastRun(8, "10:32", "release-train", {"version": "9.1.0"}, "Release 9.1.0", (
        Answer("priya", 8, {"canary_percent": 5}), Answer("priya", 9),
        Answer("priya", 10, rejects="Search has an open incident."), Answer("priya", 31),
    )),
    _refund(7, "12:07", "86218", "The screen is cracked.", Answer("marco", 3)),
    _refund(6, "09:48", "85733", "I was charged for ten.",
        Answer("marco", 12, {"amount": 9.9})),
    PastRun(6, "14:15", "treasury", None, "Pay what is due today",
        (Answer("priya", 27, payload={"approved": True, "costCentre": "4711"}),)),
    PastRun(5, "08:05", "rehearsal", None, "rehearse:parallel3", (
        Answer("marco", 2), Answer("marco", 2.1),
        Answer("marco", 4, {"subject": "Your invoice of October"}),
    )),
    _refund(4, "17:20", "86044", "The colour is wrong.", Answer("priya", 64)),
    PastRun(4, "18:41", "database-steward", None, "Clean up the sessions",
        (Answer("marco", 7, rejects="Not during the day. Ask again after 20:00."),)),
    _refund(3, "10:10", "86390", "It never worked.", Answer("marco", 5)),
    PastRun(3, "11:30", "rehearsal", None, "rehearse:input_required",
        (Answer("priya", 33, payload={"quarter": "Q3", "year": 2026, "revenue": 1204500}),)),
    _refund(2, "09:02", "86777", "Half of the order is missing.",
        Answer("priya", 11, {"amount": 48.5})),
    PastRun(2, "13:13", "release-train", {"version": "9.2.0"}, "Release 9.2.0", (
        Answer("marco", 2), Answer("marco", 2.4), Answer("priya", 15), Answer("marco", 26),
    )),
    PastRun(1, "08:40", "rehearsal", None, "rehearse:multi_step",
        (Answer("marco", 4), Answer("priya", 9))),
    _refund(1, "15:26", "86845", "Please cancel.", Answer("marco", 7, declines=True)),
)  # fmt: skip


def make_history(
    clock: PastClock,
    today: datetime,
    agents: Mapping[str, Any],
    people: Mapping[str, Actor],
    start: Any,
) -> None:
    """Make the runs and decisions of HISTORY; `start` starts a run, `people` are by user name."""
    for past in HISTORY:
        hour, minute = map(int, past.clock.split(":"))
        day = today - timedelta(days=past.days_ago)
        begin = day.replace(hour=hour, minute=minute, second=11, microsecond=0)
        clock.move_to(begin)
        run = start(agents[past.agent], past.value, past.message)
        drive(run.thread)
        for answer in past.answers:
            clock.move_to(begin + timedelta(minutes=answer.minutes))
            _answer(run.thread, answer, people[answer.by])
            _resume(run.thread, clock)


def _answer(thread: Any, answer: Answer, actor: Actor) -> None:
    """Decide the first open request of the thread."""
    interrupt = thread.interrupts.filter(status=InterruptStatus.OPEN).order_by("pk").first()
    if interrupt is None:
        return
    decide(
        interrupt_id=interrupt.pk,
        status=EntryStatus.CANCELLED if answer.declines else EntryStatus.RESOLVED,
        payload=None if answer.declines else _payload(interrupt, answer),
        actor=actor,
        view_digest=interrupt.shown_digest,
        entrance=Entrance.PAGE,
    )


def _payload(interrupt: Any, answer: Answer) -> Any:
    if answer.payload is not None:
        return answer.payload
    if answer.rejects:
        return {"approved": False, "reason": answer.rejects}
    if answer.edits:
        return {"approved": True, "editedArgs": {**interrupt.tool_call.proposed, **answer.edits}}
    return {"approved": True}


def _resume(thread: Any, clock: PastClock) -> None:
    """Resume the thread's run if all is decided, at the end of the time to undo decisions."""
    for run in thread.runs.exclude(resume_at=None):
        clock.move_to(run.resume_at)
        resume_if_due(run_id=run.pk)
    drive(thread)


def drive(thread: Any) -> None:
    """Drive the thread's runs, and wait for those that a worker has claimed before this process."""
    moving = thread.runs.filter(status__in=(RunStatus.QUEUED, RunStatus.RUNNING))
    end = time.monotonic() + _WORKER_SECONDS
    while (run := moving.first()) is not None:
        engine.execute_run(run.pk)  # does nothing if a worker has claimed it
        if time.monotonic() > end:
            raise RuntimeError(f"the demo cannot be created: a worker has not ended run {run.pk}")
        if moving.exists():
            time.sleep(_POLL_SECONDS)
