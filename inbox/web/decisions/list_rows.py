"""The rows of interrupt lists."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING
from urllib.parse import quote
from uuid import UUID

from django.urls import reverse
from django.utils.translation import gettext

from inbox.queries.decisions.collaboration import claim_on
from inbox.queries.decisions.inbox_lists import endorsers_of
from inbox.queries.decisions.interrupts import listed_changes, listed_decision
from inbox.rules.decisions.change_summary import ChangeSummary
from inbox.rules.decisions.list_filters import EXPIRING_SOON
from inbox.rules.runs.states import InterruptStatus
from inbox.web.decisions.decision_labels import decision_label_of

if TYPE_CHECKING:
    from inbox.models import Interrupt


#: Below this the expiry badge turns from amber to red.
VERY_SOON = timedelta(minutes=2)


@dataclass(frozen=True)
class Row:
    """One interrupt in a list; equal rows have equal HTML."""

    pk: UUID
    url: str
    title: str
    tool: str  #: or the reason, without a tool
    agent: str
    message: str  #: "" if it is the title
    at: datetime
    outcome: str  #: "" while it is open
    changes: ChangeSummary  #: made by the decision
    state: str  #: the icon's meaning for screen readers
    icon: str
    tone: str
    expires_at: datetime | None  #: None unless it expires soon
    progress: str  #: "2 of 3 decided", "" for a run with one interrupt
    approvals: str  #: "1 of 2 approved", "" where one person decides
    is_endorsed: bool  #: the current user has approved as one of several
    claimed_by: str  #: "" without a claim
    is_mine: bool  #: claimed by the current user
    similar_url: str  #: of the similar open interrupts, "" without any
    can_pick: bool
    is_open: bool
    is_current: bool


def urgency(expires_at: datetime | None, now: datetime) -> str:
    """The tone of an expiry: "bad" in the last two minutes, "warn" in the last ten, else ""."""
    if expires_at is None or expires_at - now > EXPIRING_SOON:
        return ""
    return "bad" if expires_at - now <= VERY_SOON else "warn"


def rows_of(
    interrupts: Iterable[Interrupt],
    *,
    progress: Mapping[UUID, tuple[int, int]],
    me: int | None,
    now: datetime,
    current: UUID | None = None,
    suffix: str = "",
    query: str = "",
    may_pick: bool = False,
    page: str = "interrupt",
) -> list[Row]:
    """
    Build the rows; `progress` has the numbers of decided and of all interrupts by run.

    `suffix` is the query appended to the URLs of interrupts, `query` the list's filter; `may_pick`
    allows open ones to be selected for a bulk decision. Only the first of similar interrupts links
    to all of them.
    """
    rows: list[Row] = []
    similarity_keys: set[str] = set()
    for interrupt in interrupts:
        decision = listed_decision(interrupt)
        label = decision_label_of(interrupt, decision, me)
        is_open = interrupt.status == InterruptStatus.OPEN
        tone = urgency(interrupt.expires_at, now)
        claim = claim_on(interrupt, now) if is_open else None
        is_mine = claim is not None and claim.user_id == me
        state, icon = gettext("Pending"), "circle-dashed"
        if claim:
            state, icon = gettext("Claimed"), "circle-user"
        if tone:
            state, icon = gettext("Expiring"), "timer"
        decided, total = progress.get(interrupt.run_id, (0, 1))
        has_similar = (
            is_open
            and interrupt.similar is not None  # type: ignore[attr-defined]  # by the query
            and interrupt.similarity_key not in similarity_keys
        )
        row = Row(
            pk=interrupt.pk,
            url=reverse(page, args=[interrupt.pk]) + suffix,
            title=interrupt.title,
            tool=interrupt.tool or interrupt.reason,
            agent=interrupt.agent.slug,
            message="" if interrupt.message == interrupt.title else interrupt.message,
            at=interrupt.closed_at or interrupt.created_at,
            outcome=label.short if label else "",
            changes=listed_changes(decision),
            state=label.word if label else state,
            icon=label.icon if label else icon,
            tone=label.tone if label else tone or ("me" if is_mine else "quiet"),
            expires_at=interrupt.expires_at if is_open and tone else None,
            progress=_progress(decided, total) if is_open and total > 1 else "",
            approvals=_approvals(interrupt) if is_open else "",
            is_endorsed=is_open and me in endorsers_of(interrupt),
            claimed_by=claim.user.display_name if claim else "",
            is_mine=is_mine,
            similar_url=_similar_url(interrupt, query) if has_similar else "",
            can_pick=may_pick and is_open,
            is_open=is_open,
            is_current=interrupt.pk == current,
        )
        similarity_keys.add(interrupt.similarity_key)
        rows.append(row)
    return rows


def _similar_url(interrupt: Interrupt, query: str) -> str:
    url = reverse("similar", args=[interrupt.pk])
    return f"{url}?list={quote(query, safe='')}" if query else url


def _approvals(interrupt: Interrupt) -> str:
    if interrupt.people_needed < 2:
        return ""
    count = len(endorsers_of(interrupt))
    # The same msgid as in the templates.
    text = gettext("%(count)s of %(total)s approved")
    return text % {"count": count, "total": interrupt.people_needed}


def _progress(decided: int, total: int) -> str:
    # The same msgid as in the templates.
    return gettext("%(decided)s of %(total)s decided") % {"decided": decided, "total": total}
