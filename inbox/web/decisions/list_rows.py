"""The rows of interrupt lists."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.urls import reverse
from django.utils.translation import gettext

from inbox.queries.decisions.collaboration import claim_on
from inbox.rules.decisions.list_filters import EXPIRING_SOON
from inbox.rules.runs.states import InterruptStatus
from inbox.rules.text.safe_text import escape_invisible
from inbox.web.decisions.decision_labels import verdict_of

#: Below this the expiry badge turns from amber to red.
VERY_SOON = timedelta(minutes=2)


@dataclass(frozen=True)
class Row:
    """One interrupt in a list."""

    id: str
    key: str  #: of the interrupt
    url: str
    title: str
    said: str  #: the agent's message, "" if it equals the title
    tool: str
    agent: str
    at: datetime
    state: str  #: the icon's meaning for screen readers
    icon: str
    tone: str
    tag: str  #: the outcome; "" while it is open
    expires_at: datetime | None  #: None unless it expires soon
    progress: str  #: "2 of 3 decided", "" for a run with one interrupt
    claimed_by: str  #: the name of the reviewer, or ""
    is_mine: bool  #: claimed by the current user
    similar_url: str  #: "" without similar open interrupts
    can_pick: bool
    is_current: bool
    is_done: bool


def urgency(expires_at: datetime | None, now: datetime) -> str:
    """The tone of an expiry: "bad" in the last two minutes, "warn" in the last ten, else ""."""
    if expires_at is None or expires_at - now > EXPIRING_SOON:
        return ""
    return "bad" if expires_at - now <= VERY_SOON else "warn"


def rows_of(
    interrupts: Iterable[Any],
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
    rows, similarity_keys = [], set()
    for item in interrupts:
        row = _row(item, *progress.get(item.run_id, (0, 1)), me, now)
        if item.similarity_key in similarity_keys:
            row = replace(row, similar_url="")
        similarity_keys.add(item.similarity_key)
        url = reverse(page, args=[item.pk]) + suffix
        can_pick = may_pick and not row.is_done
        rows.append(replace(row, url=url, is_current=item.pk == current, can_pick=can_pick))
    return rows


def _row(item: Any, decided: int, total: int, me: int | None, now: datetime) -> Row:
    verdict = verdict_of(item, next(iter(item.standing), None), me)
    tone = urgency(item.expires_at, now)
    is_open = item.status == InterruptStatus.OPEN
    claim = claim_on(item, now) if is_open else None
    by_me = claim is not None and claim.user_id == me
    state, icon = gettext("Pending"), "circle-dashed"
    if claim:
        state, icon = gettext("Claimed"), "circle-user"
    if tone:
        state, icon = gettext("Expiring"), "timer"
    quiet = "me" if by_me else "quiet"
    return Row(
        id=f"row-{item.pk}",
        key=str(item.pk),
        url="",
        title=escape_invisible(item.title),
        said=escape_invisible(item.message) if item.message != item.title else "",
        tool=escape_invisible(item.tool or item.reason),
        agent=item.agent.slug,
        at=item.created_at if is_open else item.closed_at,
        state=verdict.word if verdict else state,
        icon=verdict.icon if verdict else icon,
        tone=verdict.tone if verdict else (tone or quiet),
        tag=verdict.short if verdict else "",
        expires_at=item.expires_at if is_open and tone else None,
        progress=_progress(decided, total) if is_open and total > 1 else "",
        claimed_by=claim.user.display_name if claim else "",
        is_mine=by_me,
        similar_url=reverse("similar", args=[item.pk]) if is_open and item.similar else "",
        can_pick=False,
        is_current=False,
        is_done=not is_open,
    )


def _progress(decided: int, total: int) -> str:
    # The same msgid as in the templates.
    return gettext("%(decided)s of %(asked)s decided") % {"decided": decided, "asked": total}
