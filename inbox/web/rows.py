"""The rows of the lists."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.urls import reverse

from inbox.domain.states import InterruptStatus
from inbox.web.shown import visible
from inbox.web.verdicts import verdict_of

#: The last ten minutes before an expiry are amber, the last two are red.
SOON, VERY_SOON = timedelta(minutes=10), timedelta(minutes=2)


@dataclass(frozen=True)
class Row:
    """One interrupt in a list."""

    id: str
    url: str
    title: str
    tool: str
    agent: str
    at: datetime
    state: str  #: in words, for those who do not see the icon
    icon: str
    tone: str
    tag: str  #: what became of it; "" while it is open
    expires_at: datetime | None  #: only when it is soon
    progress: str  #: "2 of 3 decided", "" for a run that asked one thing
    is_current: bool
    is_done: bool


def urgency(expires_at: datetime | None, now: datetime) -> str:
    """The tone of an expiry: "bad" in the last two minutes, "warn" in the last ten, else ""."""
    if expires_at is None or expires_at - now > SOON:
        return ""
    return "bad" if expires_at - now <= VERY_SOON else "warn"


def rows_of(
    interrupts: Iterable[Any],
    *,
    progress: Mapping[UUID, tuple[int, int]],
    me: int | None,
    now: datetime,
    current: UUID | None = None,
    page: str = "interrupt",
) -> list[Row]:
    """Build the rows; `progress` counts (decided, asked) for each run."""
    return [
        _row(item, *progress.get(item.run_id, (0, 1)), me, now, current, page)
        for item in interrupts
    ]


def _row(
    item: Any,
    decided: int,
    asked: int,
    me: int | None,
    now: datetime,
    current: UUID | None,
    page: str,
) -> Row:
    verdict = verdict_of(item, next(iter(item.standing), None), me)
    tone = urgency(item.expires_at, now)
    is_open = item.status == InterruptStatus.OPEN
    return Row(
        id=f"row-{item.pk}",
        url=reverse(page, args=[item.pk]),
        title=visible(item.title),
        tool=visible(item.tool_call.name if item.tool_call else item.reason),
        agent=item.thread.agent.slug,
        at=item.created_at if is_open else item.closed_at,
        state=verdict.word if verdict else ("Expiring" if tone else "Pending"),
        icon=verdict.icon if verdict else ("timer" if tone else "circle-dashed"),
        tone=verdict.tone if verdict else (tone or "quiet"),
        tag=verdict.short if verdict else "",
        expires_at=item.expires_at if is_open and tone else None,
        progress=f"{decided} of {asked} decided" if is_open and asked > 1 else "",
        is_current=item.pk == current,
        is_done=not is_open,
    )
