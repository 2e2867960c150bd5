"""Interrupts that are reviewed together on one page."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from django.db.models import Prefetch

from inbox.models import Decision, Interrupt
from inbox.queries.agents.tool_presentations import body_for_interrupt
from inbox.queries.decisions.inbox_lists import similar_to
from inbox.queries.people.access import require, teams_of
from inbox.rules.errors import NotFound
from inbox.rules.people.access import Actor, Permission

#: The number of interrupts on one page.
MAX_BULK_INTERRUPTS = 50


@dataclass(frozen=True)
class BulkReview:
    """The interrupts of one page."""

    rows: Sequence[Interrupt]  #: each with `may_decide`, its tool call, claim and run
    more: bool  #: there are more than fit on the page


def bulk_review_for(actor: Actor, interrupt_ids: Sequence[UUID]) -> BulkReview:
    """Return up to MAX_BULK_INTERRUPTS of these that the actor may see, in the order given."""
    return _review(actor, interrupt_ids)


def similar_review_for(actor: Actor, interrupt_id: UUID) -> BulkReview:
    """
    Return an interrupt and the open similar ones in its team, the first to expire first.

    Raises:
        NotFound.
    """
    row = Interrupt.objects.filter(pk=interrupt_id).first()
    if row is None:
        raise NotFound()
    require(actor, row.team_id, Permission.READ, row.agent_id)
    others = similar_to(row).exclude(pk=row.pk)
    ids = others.values_list("pk", flat=True)[:MAX_BULK_INTERRUPTS]
    return _review(actor, [row.pk, *ids])


def _review(actor: Actor, interrupt_ids: Sequence[UUID]) -> BulkReview:
    page_ids = list(dict.fromkeys(interrupt_ids))[:MAX_BULK_INTERRUPTS]
    rows = (
        Interrupt.objects.filter(pk__in=page_ids, team__in=teams_of(actor))
        .select_related("agent", "team", "tool_call", "claim__user", "run__resumed_by")
        .defer("search_text", "run__input", "run__resume", "run__checkpoint", "tool_call__result")
        .annotate(tool_presentation=body_for_interrupt())
        .prefetch_related(
            Prefetch(
                "decisions", queryset=Decision.objects.filter(withdrawn_at=None), to_attr="standing"
            )
        )
    )
    decide_teams = set(teams_of(actor, Permission.DECIDE))
    by_id = {row.pk: row for row in rows}
    for row in by_id.values():
        row.may_decide = row.team_id in decide_teams
    return BulkReview(
        rows=[by_id[pk] for pk in page_ids if pk in by_id],
        more=len(set(interrupt_ids)) > MAX_BULK_INTERRUPTS,
    )
