"""Interrupts of a run with the decisions in force, as the resume contract reads them."""

import json
from collections.abc import Iterable
from typing import Any, NamedTuple

from django.conf import settings
from django.db.models import FilteredRelation, Q

from inbox.models import Decision, Interrupt, Run
from inbox.models.statements import Select
from inbox.queries.files.files import attached_files
from inbox.rules.decisions.consent import SIGNOFF, load_original_value
from inbox.rules.decisions.unseen import is_consent
from inbox.rules.runs.contract import InterruptState, ResumeEntry
from inbox.rules.runs.questions import agent_schema_of
from inbox.rules.runs.states import EntryStatus, InterruptStatus, Reason


class InterruptWithDecision(NamedTuple):
    """An interrupt of a run, with the decision in force."""

    row: Interrupt
    state: InterruptState
    decision: Decision | None


_INTERRUPTS_OF_RUN = Select(
    lambda params: (
        Interrupt.objects.filter(run=params.run)
        .annotate(in_force=FilteredRelation("decisions", condition=Q(decisions__withdrawn_at=None)))
        .select_related("tool_call", "claim", "in_force")  # type: ignore[misc] # knows no relations
        .order_by("position")
    )
)


def load_interrupt_states(run: Run) -> list[InterruptWithDecision]:
    """Return the run's interrupts in the order of the outcome."""
    states = []
    for row in _INTERRUPTS_OF_RUN.all(run=run.pk):
        row.run = run
        decision: Decision | None = getattr(row, "in_force", None)
        states.append(InterruptWithDecision(row, interrupt_state(row, decision), decision))
    return states


def has_restored_consent(interrupts: Iterable[InterruptWithDecision]) -> bool:
    """Return whether a decision of before a restore approves what may have happened since."""
    return any(
        item.row.restored_at is not None
        and item.state.answer is not None
        and is_consent(item.state.answer)
        for item in interrupts
    )


def is_server_interrupt(row: Interrupt) -> bool:
    """
    Return whether the server created this interrupt, and not the agent.

    It is about an unknown outcome, or repeats an interrupt of the agent. The agent does not get the
    decision as an answer; its run is continued.
    """
    return row.reason == Reason.OUTCOME_UNKNOWN or row.repeats_id is not None


def interrupt_state(row: Interrupt, decision: Decision | None) -> InterruptState:
    body = json.loads(row.body)
    return InterruptState(
        interrupt_id=row.interrupt_id,
        status=InterruptStatus(row.status),
        reason=row.reason,
        expires_at=row.expires_at,
        schema=body.get("responseSchema"),
        answer=entry_of(row, decision) if decision else None,
        args=row.tool_call.approved_args if row.tool_call else None,
        agent_schema=agent_schema_of(body),
    )


def entry_of(row: Interrupt, decision: Decision) -> ResumeEntry:
    text, original = decision.payload, decision.original_payload
    payload = None if text is None else load_original_value(text, original)
    metadata = json.loads(decision.metadata) if decision.metadata else None
    return ResumeEntry(row.interrupt_id, EntryStatus(decision.status), payload, metadata)


def wire_interrupt(row: Interrupt) -> dict[str, Any]:
    """
    Return the AG-UI Interrupt as clients get it, with `metadata.signoff` added.

    Its `files` are references with links that expire.
    """
    body: dict[str, Any] = json.loads(row.body)
    metadata = body.get("metadata") or {}
    signoff = {**metadata.get(SIGNOFF, {}), "viewDigest": row.shown_digest}
    if row.files:
        signoff["files"] = attached_files(row, settings.PUBLIC_URL)
    return {**body, "id": row.interrupt_id, "metadata": {**metadata, SIGNOFF: signoff}}
