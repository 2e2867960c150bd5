"""The rows of interrupt lists."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import quote
from uuid import UUID

from django.urls import reverse
from django.utils.formats import date_format
from django.utils.translation import gettext

from inbox.queries.decisions.collaboration import claim_on
from inbox.queries.decisions.inbox_lists import endorsers_of
from inbox.queries.decisions.interrupts import (
    endorsed_changes,
    listed_changes,
    listed_decision,
)
from inbox.rules.decisions.change_summary import ChangeSummary
from inbox.rules.decisions.list_filters import EXPIRING_SOON
from inbox.rules.presentations.changed_title import TitlePart, mark_changes
from inbox.rules.presentations.vocabulary import Severity
from inbox.rules.runs.headings import has_words
from inbox.rules.runs.states import InterruptStatus, Reason
from inbox.rules.text.safe_text import escape_invisible
from inbox.web.base.zones import local
from inbox.web.decisions.decision_labels import decision_label_of
from inbox.web.navigation.rail import bounded
from inbox.web.presentations.risk_labels import reversibility_label, severity_label

if TYPE_CHECKING:
    from inbox.models import Assignee, Claim, Decision, Interrupt


#: Below this an expiry turns from amber to red.
VERY_SOON = timedelta(minutes=2)
#: Below these a row has its deadline, and has it in amber.
_DAY = timedelta(hours=24)
_SOON = timedelta(hours=3)
_WEEK = timedelta(days=7)
#: In the place of an icon: a ring that fills with each approval.
RING = "ring"
#: The most people whose initials are beside a row.
_MAX_FACES = 3


class Face(NamedTuple):
    """The initials of somebody beside a row."""

    user_id: int
    name: str
    about: str  #: "Claimed by Priya"


class Fact(NamedTuple):
    """The one thing worth knowing of a row beside its title and who asks."""

    text: str
    url: str = ""


@dataclass(frozen=True)
class Row:
    """One interrupt in a list; equal rows have equal HTML."""

    pk: UUID
    run_id: UUID
    url: str
    title: str
    title_parts: tuple[TitlePart, ...]  #: with the amounts that people have changed
    agent: str
    message: str  #: "" if it is the title
    at: datetime  #: the expiry of what expires, else the time of the request or of its decision
    time_format: str  #: "left" for an expiry, else "age"
    outcome: str  #: "" while it is open
    changes: ChangeSummary  #: of the decision or of approvals so far, beside those in the title
    state: str  #: the icon's meaning for screen readers
    icon: str
    tone: str
    due: str  #: "bad", "warn", "soon" within two minutes, three hours, a day of the expiry
    progress: str  #: "2 of 3 decided", "" for a run with one interrupt
    approvals: str  #: "1 of 2", "" where one person decides
    approved: int
    people_needed: int
    is_endorsed: bool  #: the current user has approved as one of several
    claimed_by: str  #: "" without a claim
    is_mine: bool  #: claimed by the current user
    is_assigned: bool  #: to the current user
    similar: str  #: "2 similar", "" without other open interrupts like it
    similar_url: str
    faces: tuple[Face, ...]
    can_pick: bool
    is_open: bool
    is_seen: bool  #: the current user has opened it
    is_current: bool
    thread_title: str
    risk: str  #: its name, "" unless it is high
    irreversible: str  #: that it cannot be undone, "" if it can or that is unknown

    @property
    def fact(self) -> Fact | None:
        """The most important of the facts that hold."""
        facts = [
            (self.outcome, Fact(self.outcome)),
            (self.is_endorsed, Fact(gettext("Approved by you"))),
            (self.is_mine, Fact(gettext("Claimed by you"))),
            (
                self.claimed_by,
                Fact(gettext("Claimed by %(who)s") % {"who": escape_invisible(self.claimed_by)}),
            ),
            (self.is_assigned, Fact(gettext("Assigned to you"))),
            (self.risk, Fact(self.risk)),
            (self.irreversible, Fact(self.irreversible)),
            (self.progress, Fact(self.progress)),
            (self.similar, Fact(self.similar, self.similar_url)),
        ]
        return next((fact for holds, fact in facts if holds), None)


@dataclass(frozen=True)
class Fold:
    """Open interrupts of one run, as one row of a list that opens."""

    run_id: UUID
    rows: Sequence[Row]
    progress: str

    @property
    def first(self) -> Row:
        return self.rows[0]

    @property
    def title(self) -> str:
        """The title of the thread, or of the first interrupt without one."""
        return self.first.thread_title or self.first.title

    @property
    def has_current(self) -> bool:
        return any(row.is_current for row in self.rows)

    @property
    def is_seen(self) -> bool:
        return all(row.is_seen for row in self.rows)


@dataclass(frozen=True)
class Entry:
    """One item of a list: a row, the rows of one run, or the title of those that follow."""

    row: Row | None = None
    fold: Fold | None = None
    key: str = ""  #: of a title, for the id of its element
    title: str = ""


def folded(rows: Sequence[Row]) -> list[Entry]:
    """Return the rows with the open ones of one run together, at the place of the first."""
    by_run: dict[UUID, list[Row]] = {}
    for row in rows:
        if row.is_open:
            by_run.setdefault(row.run_id, []).append(row)
    entries: list[Entry] = []
    for row in rows:
        siblings = by_run.get(row.run_id, []) if row.is_open else []
        if len(siblings) < 2:
            entries.append(Entry(row=row))
        elif siblings[0] is row:
            # Said once for all of them.
            parts = [replace(sibling, progress="") for sibling in siblings]
            entries.append(Entry(fold=Fold(row.run_id, parts, row.progress)))
    return entries


def by_deadline(entries: Sequence[Entry], now: datetime) -> list[Entry]:
    """Return the entries with titles by when they are due; one group alone has none."""
    today = local(now).date()
    grouped: list[Entry] = []
    for entry in entries:
        key, title = _deadline_group(entry, now, today)
        if not any(other.key == key for other in grouped):
            grouped.append(Entry(key=key, title=title))
        grouped.append(entry)
    return grouped if sum(bool(entry.key) for entry in grouped) > 1 else list(entries)


def _deadline_group(entry: Entry, now: datetime, today: date) -> tuple[str, str]:
    row = entry.fold.first if entry.fold else entry.row
    if row is None or row.time_format != "left":
        return "due-never", gettext("No deadline")
    if local(row.at).date() <= today:
        return "due-today", gettext("Due today")
    if row.at - now <= _WEEK:
        return "due-week", gettext("This week")
    return "due-later", gettext("Later")


def _due(expires_at: datetime | None, now: datetime) -> str:
    """Return how near an expiry is, in a word of `Row.due`."""
    if expires_at is None or expires_at - now > _DAY:
        return ""
    return urgency(expires_at, now) or ("warn" if expires_at - now <= _SOON else "soon")


def by_day(rows: Sequence[Row], now: datetime) -> list[Entry]:
    """Return the rows with a title before those of each day, in the reader's time zone."""
    entries: list[Entry] = []
    last: date | None = None
    today = local(now).date()
    for row in rows:
        day = local(row.at).date()
        if day != last:
            entries.append(Entry(key=f"day-{day}", title=_day_title(day, today)))
        entries.append(Entry(row=row))
        last = day
    return entries


def _day_title(day: date, today: date) -> str:
    if day == today:
        return gettext("Today")
    if day == today - timedelta(days=1):
        return gettext("Yesterday")
    return date_format(day, "DATE_FORMAT")


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
    allows open ones to be selected for a bulk decision.
    """
    rows: list[Row] = []
    url, similar_url = _url_by_id(page), _url_by_id("similar")
    list_parameter = f"?list={quote(query, safe='')}" if query else ""
    for interrupt in interrupts:
        decision = listed_decision(interrupt)
        label = decision_label_of(interrupt, decision, me)
        is_open = interrupt.status == InterruptStatus.OPEN
        tone = urgency(interrupt.expires_at, now) if is_open else ""
        claim = claim_on(interrupt, now) if is_open else None
        is_mine = claim is not None and claim.user_id == me
        assignee: Assignee | None = getattr(interrupt, "assignee", None)
        is_assigned = is_open and assignee is not None and assignee.user_id == me
        state, icon = _state(
            interrupt, is_expiring=bool(tone), is_claimed=claim is not None, is_assigned=is_assigned
        )
        decided, total = progress.get(interrupt.run_id, (0, 1))
        expires_at = interrupt.expires_at if is_open else None
        is_current = interrupt.pk == current
        similar = _similar(interrupt) if is_open else ""
        changes = endorsed_changes(interrupt) if is_open else listed_changes(decision)
        title = mark_changes(interrupt.title, changes)
        row = Row(
            pk=interrupt.pk,
            run_id=interrupt.run_id,
            url=url.format(interrupt.pk) + suffix,
            title=interrupt.title,
            title_parts=title.parts,
            agent=interrupt.agent.slug,
            message="" if has_words(interrupt.title, interrupt.message) else interrupt.message,
            at=expires_at or interrupt.closed_at or interrupt.created_at,
            time_format="left" if expires_at else "age",
            outcome=label.short if label else "",
            changes=title.changes,
            state=label.word if label else state,
            icon=label.icon if label else icon,
            tone=label.tone if label else tone or ("me" if is_mine or is_assigned else "quiet"),
            due=_due(expires_at, now),
            progress=_progress(decided, total) if is_open and total > 1 else "",
            approvals=_approvals(interrupt) if is_open else "",
            approved=len(endorsers_of(interrupt)) if is_open else 0,
            people_needed=interrupt.people_needed,
            is_endorsed=is_open and any(user.pk == me for user in endorsers_of(interrupt)),
            claimed_by=claim.user.display_name if claim else "",
            is_mine=is_mine,
            is_assigned=is_assigned,
            similar=similar,
            similar_url=similar_url.format(interrupt.pk) + list_parameter if similar else "",
            faces=_faces(interrupt, claim, decision),
            can_pick=may_pick and is_open,
            is_open=is_open,
            is_seen=is_current or not is_open or interrupt.is_seen,  # type: ignore[attr-defined]
            is_current=is_current,
            thread_title=interrupt.thread.title,
            risk=_risk(interrupt) if is_open else "",
            irreversible=_irreversible(interrupt) if is_open else "",
        )
        rows.append(row)
    return rows


def _state(
    interrupt: Interrupt, *, is_expiring: bool, is_claimed: bool, is_assigned: bool
) -> tuple[str, str]:
    """Return the state of an open interrupt in a word, and its icon: docs/inbox.md lists them."""
    if is_expiring:
        return gettext("Expiring"), "timer"
    if is_claimed:
        return gettext("Claimed"), "circle-user"
    if is_assigned:
        return gettext("Assigned to you"), "circle-user"
    if interrupt.people_needed > 1:
        return gettext("Pending"), RING
    if not interrupt.tool and interrupt.reason != Reason.CONFIRMATION:
        return gettext("Question"), "circle-question-mark"
    return gettext("Pending"), "circle-dashed"


def _faces(
    interrupt: Interrupt, claim: Claim | None, decision: Decision | None
) -> tuple[Face, ...]:
    """Return who has claimed, approved or decided the interrupt, or its assignee, each once."""
    people: list[tuple[int, str, str]] = []
    assignee: Assignee | None = getattr(interrupt, "assignee", None)
    if claim is not None:
        people.append((claim.user_id, claim.user.display_name, gettext("Claimed by %(who)s")))
    if assignee is not None and decision is None:
        people.append(
            (assignee.user_id, assignee.user.display_name, gettext("Assigned to %(who)s"))
        )
    people += [
        (user.pk, user.display_name, gettext("Approved by %(who)s"))
        for user in endorsers_of(interrupt)
    ]
    if decision is not None and decision.user_id is not None:
        people.append((decision.user_id, decision.actor_label, gettext("Decided by %(who)s")))
    faces = {
        user_id: Face(user_id, name, text % {"who": escape_invisible(name)})
        for user_id, name, text in reversed(people)
    }
    return tuple(reversed(faces.values()))[:_MAX_FACES]


def _risk(interrupt: Interrupt) -> str:
    """Return the name of a risk that reviewers have to see in the list."""
    if interrupt.severity not in (Severity.HIGH, Severity.CRITICAL):
        return ""
    return severity_label(interrupt.severity, interrupt.author)


def _irreversible(interrupt: Interrupt) -> str:
    if interrupt.is_reversible is not False:
        return ""
    return reversibility_label(False, interrupt.author)


def _similar(interrupt: Interrupt) -> str:
    count: int = interrupt.similar_count  # type: ignore[attr-defined]  # by the query
    # The same msgid as in the templates.
    return gettext("%(count)s similar") % {"count": bounded(count)} if count else ""


def _url_by_id(name: str) -> str:
    """Return the URL of a page with `{}` for the id, so that it is resolved once for a list."""
    any_id = UUID(int=0)
    return reverse(name, args=[any_id]).replace(str(any_id), "{}")


def _approvals(interrupt: Interrupt) -> str:
    if interrupt.people_needed < 2:
        return ""
    count = len(endorsers_of(interrupt))
    return gettext("%(count)s of %(total)s") % {"count": count, "total": interrupt.people_needed}


def _progress(decided: int, total: int) -> str:
    # The same msgid as in the templates.
    return gettext("%(decided)s of %(total)s decided") % {"decided": decided, "total": total}
