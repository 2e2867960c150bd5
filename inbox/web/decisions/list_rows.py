"""The rows of interrupt lists."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING
from uuid import UUID

from django.urls import reverse
from django.utils.translation import gettext

from inbox.queries.decisions.collaboration import claim_on
from inbox.queries.decisions.interrupts import listed_decision
from inbox.rules.decisions.list_filters import EXPIRING_SOON
from inbox.rules.runs.states import InterruptStatus
from inbox.web.decisions.decision_labels import DecisionLabel, decision_label_of

if TYPE_CHECKING:
    from inbox.models import Claim, Interrupt


#: Below this the expiry badge turns from amber to red.
VERY_SOON = timedelta(minutes=2)


@dataclass(frozen=True)
class Row:
    """One interrupt in a list."""

    interrupt: Interrupt
    url: str
    decision_label: DecisionLabel | None  #: None while it is open
    state: str  #: the icon's meaning for screen readers
    icon: str
    tone: str
    expires_at: datetime | None  #: None unless it expires soon
    progress: str  #: "2 of 3 decided", "" for a run with one interrupt
    claim: Claim | None
    is_mine: bool  #: claimed by the current user
    has_similar: bool  #: links to the similar open interrupts
    can_pick: bool
    is_current: bool

    @property
    def is_open(self) -> bool:
        return self.interrupt.status == InterruptStatus.OPEN


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
    may_pick: bool = False,
    page: str = "interrupt",
) -> list[Row]:
    """
    Build the rows; `progress` has the numbers of decided and of all interrupts by run.

    `suffix` is the query appended to the URLs of interrupts; `may_pick` allows open ones to be
    selected for a bulk decision. Only the first of similar interrupts links to all of them.
    """
    rows: list[Row] = []
    similarity_keys: set[str] = set()
    for interrupt in interrupts:
        label = decision_label_of(interrupt, listed_decision(interrupt), me)
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
        has_similar = interrupt.similar is not None  # type: ignore[attr-defined]  # by the query
        row = Row(
            interrupt=interrupt,
            url=reverse(page, args=[interrupt.pk]) + suffix,
            decision_label=label,
            state=label.word if label else state,
            icon=label.icon if label else icon,
            tone=label.tone if label else tone or ("me" if is_mine else "quiet"),
            expires_at=interrupt.expires_at if is_open and tone else None,
            progress=_progress(decided, total) if is_open and total > 1 else "",
            claim=claim,
            is_mine=is_mine,
            has_similar=is_open and has_similar and interrupt.similarity_key not in similarity_keys,
            can_pick=may_pick and is_open,
            is_current=interrupt.pk == current,
        )
        similarity_keys.add(interrupt.similarity_key)
        rows.append(row)
    return rows


def _progress(decided: int, total: int) -> str:
    # The same msgid as in the templates.
    return gettext("%(decided)s of %(asked)s decided") % {"decided": decided, "asked": total}
