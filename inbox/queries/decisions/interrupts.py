"""One interrupt with its decision, claim, comments and siblings."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Count, OuterRef, Prefetch, Q, Subquery

from inbox.models import (
    AuditEntry,
    Claim,
    Comment,
    Decision,
    Endorsement,
    Interrupt,
    InterruptView,
    Snooze,
    Thread,
)
from inbox.models.runs.interrupts import NEVER
from inbox.models.statements import Select
from inbox.platform import clock
from inbox.platform.clock import database_now
from inbox.queries.agents.tool_presentations import body_for_interrupt, declared_body
from inbox.queries.decisions.collaboration import claim_on, comments_on, withdrawable_by
from inbox.queries.decisions.masked_values import (
    MaskedValues,
    masked_values_of_interrupt,
    unseen_sets,
)
from inbox.queries.decisions.repeated_calls import RepeatedCall, repeated_calls
from inbox.queries.decisions.sent_back import SentBack, interrupts_after, sent_back_before
from inbox.queries.people.access import permissions_in, require
from inbox.queries.policies.quorum import Quorum, current_quorum, endorsements_in_force
from inbox.rules.decisions.approvals import takes_approval
from inbox.rules.decisions.change_summary import ChangeSummary, summary_of_decision
from inbox.rules.errors import NotFound
from inbox.rules.people.access import Actor, Permission
from inbox.rules.runs.states import InterruptStatus
from inbox.rules.schema.schemas import DEFAULT_SCHEMAS

#: A run may have a thousand interrupts; a page lists the first ones and counts them all.
SIBLINGS_LISTED = 30


@dataclass(frozen=True)
class InterruptDetail:
    """An interrupt with everything that its page shows."""

    interrupt: Interrupt
    agui_interrupt: dict[str, Any]  #: the AG-UI Interrupt
    schema: dict[str, Any] | None  #: the agent's, else the default of the reason
    args: dict[str, Any] | None  #: the tool call's arguments when the interrupt was created
    decision: Decision | None
    siblings: Sequence[Interrupt]  #: the first interrupts of the run, this one included
    interrupt_count: int  #: the number of interrupts of the run
    closed_count: int  #: the number of them that are closed
    activity: Sequence[AuditEntry]
    may_decide: bool
    claim: Claim | None  #: the current one, with its user
    comments: Sequence[Comment]  #: the latest ones
    may_withdraw: bool  #: the decision in force is the actor's and can be withdrawn now
    withdraw_until: datetime | None  #: None also while other decisions of the set are missing
    unseen: Sequence[str]  #: masked sets of values that the actor has not revealed
    is_seen: bool  #: the actor has opened it with the current view digest
    quorum: Quorum | None = None  #: of an open interrupt for which a policy has slots
    endorsements: Sequence[Endorsement] = ()  #: in force, or part of the decision; with users
    sent_back: Sequence[SentBack] = ()  #: the requests that were sent back before this one
    next_interrupts: Sequence[Interrupt] = ()  #: that follow this one, which was sent back
    repeated_call: RepeatedCall | None = None  #: that was rejected before
    declared_for_tool: Mapping[str, Any] = field(default_factory=dict)  #: by the team, for display
    masked_values: Mapping[str, MaskedValues] = field(default_factory=dict)  #: by name of the set

    @property
    def is_approval(self) -> bool:
        """True if `approved` in the answer approves or denies, whatever the reason."""
        return takes_approval(reason=self.interrupt.reason, schema=self.schema)


def progress_of(rows: Sequence[Interrupt]) -> dict[UUID, tuple[int, int]]:
    """Return the numbers of closed and of all interrupts, by the run ids of these rows."""
    runs = list({row.run_id for row in rows})
    counts = _PROGRESS.all(runs=runs) if runs else []
    return {run: (closed, total) for run, closed, total in counts}


_PROGRESS = Select(
    lambda params: (
        Interrupt.objects.filter(run__pk__in=params.each("runs"))
        .values_list("run")
        .annotate(closed=Count("pk", filter=~Q(status=InterruptStatus.OPEN)), all=Count("pk"))
        .order_by()
    )
)


def listed_decision(interrupt: Interrupt) -> Decision | None:
    """Return the decision in force of an interrupt whose query prefetched it as `standing`."""
    return next(iter(interrupt.standing), None)  # type: ignore[attr-defined]


def listed_changes(decision: Decision | None) -> ChangeSummary:
    """Return the changes made by a decision of a list, empty if they are too large for it."""
    if decision is None or not getattr(decision, "proposed_body", None):
        return ChangeSummary()
    return summary_of_decision(
        interrupt=decision.proposed_body,  # type: ignore[attr-defined]  # by the query of lists
        args=decision.proposed_args,  # type: ignore[attr-defined]
        payload=decision.payload,
    )


def endorsed_changes(row: Interrupt) -> ChangeSummary:
    """Return the changes of those who have approved an open row of a list so far."""
    endorsed = getattr(row, "endorsed_texts", None)
    if endorsed is None:
        return ChangeSummary()
    body, args, payload = endorsed
    return summary_of_decision(interrupt=body, args=args, payload=payload)


def interrupts_of(thread: Thread) -> Sequence[Interrupt]:
    """Return all interrupts of the thread, in the order created."""
    return list(
        Interrupt.objects.filter(thread=thread)
        .select_related("tool_call")
        .prefetch_related(_decisions())
        .order_by("created_at", "run", "position")
    )


def interrupt_for(actor: Actor, interrupt_id: UUID) -> Interrupt:
    """Raises NotFound."""
    row = _INTERRUPT.first(pk=interrupt_id)
    if row is None:
        raise NotFound()
    require(actor, row.team_id, Permission.READ, row.agent_id)
    return row


def detail_for(actor: Actor, interrupt_id: UUID) -> InterruptDetail:
    """Raises NotFound."""
    row = _INTERRUPT_OF_PAGE.first(pk=interrupt_id, me=actor.user_id or 0, now=clock.now())
    if row is None:
        raise NotFound()
    require(actor, row.team_id, Permission.READ, row.agent_id)
    agui_interrupt = json.loads(row.body)
    siblings = _SIBLINGS.all(run=row.run_id)
    decisions = _DECISIONS.all(interrupts=[row.pk, *(sibling.pk for sibling in siblings)])
    in_force = {decision.interrupt_id: decision for decision in decisions}
    for sibling in siblings:
        sibling.standing = [in_force[sibling.pk]] if sibling.pk in in_force else []  # type: ignore[attr-defined]
    decision = in_force.get(row.pk)
    now = database_now()
    allowed = permissions_in(actor, row.team_id, row.agent_id)
    until = withdrawable_by(actor, row, decision) if Permission.DECIDE in allowed else None
    closed_count, interrupt_count = progress_of([row])[row.run_id]
    schema = agui_interrupt.get("responseSchema")
    if schema is None:
        schema = DEFAULT_SCHEMAS.get(row.reason)
    values = masked_values_of_interrupt(row, decision)
    is_open = row.status == InterruptStatus.OPEN
    quorum = current_quorum(row, now) if is_open and row.ruling else None
    return InterruptDetail(
        interrupt=row,
        agui_interrupt=agui_interrupt,
        schema=schema,
        args=json.loads(row.args) if row.args else None,
        decision=decision,
        siblings=siblings,
        interrupt_count=interrupt_count,
        closed_count=closed_count,
        activity=_ACTIVITY.all(interrupt=row.pk, run=row.run_id),
        may_decide=Permission.DECIDE in allowed,
        claim=claim_on(row, now),
        comments=comments_on(row),
        may_withdraw=until is not None and now < until,
        withdraw_until=None if until == NEVER else until,
        unseen=unseen_sets(row, actor.user_id, values) if is_open else (),
        is_seen=_is_seen(actor, row),
        quorum=None if quorum is None or quorum.is_default else quorum,
        endorsements=endorsements_in_force(row) if row.people_needed > 1 else (),
        sent_back=sent_back_before(row),
        next_interrupts=interrupts_after(row, decision),
        repeated_call=repeated_calls([row]).get(row.pk),
        declared_for_tool=declared_body(row),
        masked_values=values,
    )


def _is_seen(actor: Actor, row: Interrupt) -> bool:
    return bool(_VIEWS.all(interrupt=row.pk, user=actor.user_id, view_digest=row.shown_digest))


def _decisions() -> "Prefetch[Any]":
    return Prefetch(
        "decisions",
        queryset=Decision.objects.filter(withdrawn_at=None).select_related("user"),
        to_attr="standing",
    )


_INTERRUPT = Select(lambda params: Interrupt.objects.filter(pk=params.pk))
_INTERRUPT_OF_PAGE = Select(
    lambda params: (
        Interrupt.objects.select_related(
            *("tool_call", "run__thread__agent", "run__resumed_by", "thread__agent"),
            *("claim__user", "assignee__user", "team"),
        )
        .annotate(
            snoozed_until=Subquery(
                Snooze.objects.filter(
                    interrupt=OuterRef("pk"), user=params.me, until__gt=params.now
                ).values("until")
            )
        )
        .defer("search_text")
        .annotate(tool_presentation=body_for_interrupt())
        .filter(pk=params.pk)[:1]
    )
)
_SIBLINGS = Select(
    lambda params: (
        Interrupt.objects.filter(run=params.run)
        .select_related("tool_call")
        .defer("search_text")
        .order_by("position")[:SIBLINGS_LISTED]
    )
)
_DECISIONS = Select(
    lambda params: Decision.objects.filter(
        interrupt__pk__in=params.each("interrupts"), withdrawn_at=None
    ).select_related("user")
)
_ACTIVITY = Select(
    lambda params: (
        AuditEntry.objects.filter(Q(interrupt=params.interrupt) | Q(run=params.run, interrupt=None))
        .select_related("payload")
        .order_by("-pk")[:50]
    )
)
_VIEWS = Select(
    lambda params: InterruptView.objects.filter(
        interrupt=params.interrupt, user=params.user, view_digest=params.view_digest
    ).values_list("pk", flat=True)[:1]
)
