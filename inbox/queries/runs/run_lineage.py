"""The runs that a run resumes or retries, and the decisions it is driven with."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from uuid import UUID

from ag_ui.core import BaseEvent

from inbox.models import Interrupt, Run, Thread
from inbox.queries.decisions.verified_decisions import check_set
from inbox.queries.runs.conversations import committed_events
from inbox.queries.runs.interrupt_states import (
    InterruptWithDecision,
    is_server_interrupt,
    load_interrupt_states,
)
from inbox.rules.runs.states import Reason, ToolCallState


@dataclass
class Lineage:
    """A run and the runs that it continues or retries, the latest first."""

    runs: list[Run]
    #: the interrupts that the oldest run resumes, with the latest decision on each
    interrupts: list[InterruptWithDecision] = field(default_factory=list)
    events: list[tuple[BaseEvent, bool]] = field(default_factory=list)  #: of the earlier runs
    stopped: bool = False  #: a person answered "stop" about an unknown outcome
    #: the resumed runs with their interrupts, and the ids of the interrupts whose decisions are
    #: not used any more because they were repeated
    answered: list[tuple[Run, list[InterruptWithDecision], frozenset[UUID]]] = field(
        default_factory=list
    )

    @property
    def origin(self) -> Run:
        return self.runs[-1]

    def check(self, thread: Thread, now: datetime, *, endpoint: str) -> None:
        """
        Check the decisions of all resumed runs before anything is executed.

        Raises:
            DecisionNotVerified, AgentMoved, ApprovalLapsed.
        """
        for run, interrupts, unused in self.answered:
            check_set(thread, run, interrupts, now, endpoint=endpoint, unused=unused)


def lineage_of(run: Run) -> Lineage:
    """
    Return the lineage of a run.

    A run that the server interrupted is continued, and so is a failed run that is retried: the
    agent is driven with the latest decision on each of its own interrupts, and the journal holds
    the results of tool calls.
    """
    lineage = Lineage([run])
    repeated: dict[UUID, InterruptWithDecision] = {}
    while (before := lineage.origin.retries or lineage.origin.resumes) is not None:
        if lineage.origin.retries is None:
            interrupts = load_interrupt_states(before)
            lineage.answered.append((before, interrupts, frozenset(_unused(interrupts, repeated))))
            if not all(is_server_interrupt(item.row) for item in interrupts):
                lineage.interrupts = [_latest(item, repeated) for item in interrupts]
                break
            for item in interrupts:
                if item.row.repeats_id is not None:
                    # The latest decision counts, however often the interrupt was repeated.
                    repeated[item.row.repeats_id] = repeated.get(item.row.pk, item)
            lineage.stopped = lineage.stopped or any(map(_is_stop, interrupts))
        lineage.events = [*committed_events(before), *lineage.events]
        lineage.runs.append(before)
    return lineage


def _unused(
    interrupts: Sequence[InterruptWithDecision], repeated: Mapping[UUID, InterruptWithDecision]
) -> set[UUID]:
    """
    Return the ids of interrupts whose decisions are not used any more.

    They were repeated; or others of their set were, and their own tool call is finished.
    """
    unused = {item.row.pk for item in interrupts if item.row.pk in repeated}
    if unused:
        unused |= {item.row.pk for item in interrupts if _is_finished(item.row)}
    return unused


def _is_finished(row: Interrupt) -> bool:
    finished = (ToolCallState.SETTLED, ToolCallState.IN_DOUBT)
    return row.tool_call is not None and row.tool_call.state in finished


def _latest(
    item: InterruptWithDecision, repeated: Mapping[UUID, InterruptWithDecision]
) -> InterruptWithDecision:
    """Return an agent's interrupt with the decision on its last repetition."""
    repetition = repeated.get(item.row.pk)
    if repetition is None or repetition.state.answer is None:
        return item
    answer = replace(repetition.state.answer, interrupt_id=item.row.interrupt_id)
    return item._replace(state=replace(item.state, answer=answer), decision=repetition.decision)


def _is_stop(item: InterruptWithDecision) -> bool:
    """Return whether a person answered an unknown outcome with "stop", or cancelled it."""
    if item.row.reason != Reason.OUTCOME_UNKNOWN:
        return False
    payload = item.state.answer.payload if item.state.answer else None
    outcome = payload.get("outcome") if isinstance(payload, dict) else None
    return outcome not in ("happened", "did_not_happen")
