"""What a run continues: the runs before it whose work it does, and the answers it does it with."""

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
    """A run, and those that it continues or retries, back to the one whose work they all do."""

    runs: list[Run]
    #: what the oldest of them answers, with the latest answer to each
    asked: list[InterruptWithDecision] = field(default_factory=list)
    events: list[tuple[BaseEvent, bool]] = field(default_factory=list)  #: of the older ones
    stopped: bool = False  #: a person said "stop" about a doubtful outcome
    #: the interrupted runs that were answered on the way, with what each of them asked
    #: and the ids of those that were asked again later, whose answers are used no more
    answered: list[tuple[Run, list[InterruptWithDecision], frozenset[UUID]]] = field(
        default_factory=list
    )

    @property
    def origin(self) -> Run:
        return self.runs[-1]

    def check(self, thread: Thread, now: datetime, *, endpoint: str) -> None:
        """
        Check the decisions of all of them before anything runs on them.

        Raises:
            DecisionNotVerified, AgentMoved, ApprovalLapsed.
        """
        for run, asked, unused in self.answered:
            check_set(thread, run, asked, now, endpoint=endpoint, unused=unused)


def lineage_of(run: Run) -> Lineage:
    """
    Return what a run continues.

    A run that was interrupted by the server is continued, not answered, and so is a failed one that
    is retried: the agent is driven with the answers to its own interrupts, the latest to each, and
    the journal knows what happened.
    """
    lineage = Lineage([run])
    repeated: dict[UUID, InterruptWithDecision] = {}
    while (before := lineage.origin.retries or lineage.origin.resumes) is not None:
        if lineage.origin.retries is None:
            asked = load_interrupt_states(before)
            lineage.answered.append((before, asked, frozenset(_unused(asked, repeated))))
            if not all(is_server_interrupt(item.row) for item in asked):
                lineage.asked = [_latest(item, repeated) for item in asked]
                break
            for item in asked:
                if item.row.repeats_id is not None:
                    # The latest answer counts, however often it was asked again.
                    repeated[item.row.repeats_id] = repeated.get(item.row.pk, item)
            lineage.stopped = lineage.stopped or any(map(_says_stop, asked))
        lineage.events = [*committed_events(before), *lineage.events]
        lineage.runs.append(before)
    return lineage


def _unused(
    asked: Sequence[InterruptWithDecision], repeated: Mapping[UUID, InterruptWithDecision]
) -> set[UUID]:
    """
    Return the interrupts whose answers do not matter any more.

    They were asked again; or others of their set were, and their own call is over.
    """
    unused = {item.row.pk for item in asked if item.row.pk in repeated}
    if unused:
        unused |= {item.row.pk for item in asked if _is_over(item.row)}
    return unused


def _is_over(row: Interrupt) -> bool:
    over = (ToolCallState.SETTLED, ToolCallState.IN_DOUBT)
    return row.tool_call is not None and row.tool_call.state in over


def _latest(
    item: InterruptWithDecision, repeated: Mapping[UUID, InterruptWithDecision]
) -> InterruptWithDecision:
    """Return an agent's interrupt with the answer to the last time that it was asked."""
    again = repeated.get(item.row.pk)
    if again is None or again.state.answer is None:
        return item
    answer = replace(again.state.answer, interrupt_id=item.row.interrupt_id)
    return item._replace(state=replace(item.state, answer=answer), decision=again.decision)


def _says_stop(item: InterruptWithDecision) -> bool:
    """Return whether a person answered a doubt with "stop", or cancelled it."""
    if item.row.reason != Reason.OUTCOME_UNKNOWN:
        return False
    payload = item.state.answer.payload if item.state.answer else None
    outcome = payload.get("outcome") if isinstance(payload, dict) else None
    return outcome not in ("happened", "did_not_happen")
