"""The lists: a page of what a filter leaves, similar requests, and counts that never scan."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import reduce
from heapq import merge
from itertools import islice
from operator import and_
from typing import Any
from uuid import UUID

from django.db import connection
from django.db.models import OuterRef, Prefetch, Q, QuerySet, Subquery

from inbox.models import Agent, Claim, Decision, Interrupt, Team
from inbox.queries.decisions.collaboration import count_claimed
from inbox.queries.people.access import access_scope, memberships_of
from inbox.rules.decisions.list_filters import (
    EXPIRING_SOON,
    InterruptFilter,
    ListState,
    Sort,
)
from inbox.rules.people.access import Actor, Permission
from inbox.rules.runs.states import InterruptStatus

#: A badge needs no more than this, and counting everything would scan it.
COUNT_UP_TO = 100
#: A list to choose from: whoever asks with a thousand names hides no other list behind them.
NAMES_UP_TO = 50
#: Rows of each team that one page of a search reads; each has at most 8,000 characters.
LOOKED_AT = 20_000
_CLAIMS_READ = 200
_OPEN = Q(status=InterruptStatus.OPEN)
_STATES = {
    ListState.OPEN: _OPEN,
    ListState.DECIDED: ~_OPEN,
    ListState.EXPIRED: ~_OPEN & Q(status=InterruptStatus.EXPIRED),
    ListState.CANCELLED: ~_OPEN & Q(status=InterruptStatus.CANCELLED),
    ListState.ALL: Q(),
}
#: What a list of rows shows; the rest of an interrupt may be large.
_SHOWN = (
    *(
        "title",
        "message",
        "tool",
        "reason",
        "status",
        "run",
        "team",
        "shape",
        "expires_at",
        "due_at",
    ),
    *("created_at", "closed_at", "agent__slug"),
    *("claim__until", "claim__user__username", "claim__user__first_name", "claim__user__last_name"),
)


@dataclass(frozen=True)
class InterruptPage:
    """A part of a list."""

    rows: Sequence[Interrupt]
    after: UUID | None  #: where the next page goes on, None at the end
    is_cut: bool  #: whether a search ended before it had a page: there may be more behind it


@dataclass(frozen=True)
class ListCounts:
    """What stands beside the lists in the rail, each up to COUNT_UP_TO."""

    pending: int
    claimed: int
    expiring: int
    administers: Sequence[UUID]  #: teams; read with the others, so that it costs no query


@dataclass(frozen=True)
class FilterChoices:
    """What the lists of an actor can be narrowed to."""

    agents: Sequence[str]
    tools: Sequence[str]
    reasons: Sequence[str]
    teams: Sequence[tuple[str, str]]  #: slug and name
    decides_in: Sequence[tuple[str, str]]  #: those of the teams in which the actor decides


def list_for(
    actor: Actor,
    wanted: InterruptFilter,
    *,
    now: datetime,
    limit: int = 50,
    after: Interrupt | None = None,
) -> InterruptPage:
    """The rows that the filter leaves of the actor's teams, from the one after `after` on."""
    return _page(actor, wanted, now, limit, after, _to_show)


def full_list_for(
    actor: Actor,
    wanted: InterruptFilter,
    *,
    now: datetime,
    limit: int = 50,
    after: Interrupt | None = None,
) -> InterruptPage:
    """Like `list_for`, with everything that is known of each."""
    return _page(actor, wanted, now, limit, after, _whole)


def counts_for(actor: Actor, *, now: datetime) -> ListCounts:
    """How many wait for the actor's teams, and which of those the actor administers."""
    teams = [(team.pk, allowed) for team, allowed in memberships_of(actor)]
    waiting = Interrupt.objects.filter(_OPEN, team__in=[pk for pk, _ in teams]).order_by()
    soon = waiting.filter(due_at__lte=now + EXPIRING_SOON)
    return ListCounts(
        pending=waiting[:COUNT_UP_TO].count(),
        claimed=count_claimed(actor),
        expiring=soon[:COUNT_UP_TO].count(),
        administers=[pk for pk, allowed in teams if Permission.ADMIN in allowed],
    )


def choices_for(actor: Actor, *, state: ListState) -> FilterChoices:
    """The agents and teams of the actor, and the tools and reasons that occur in the list."""
    teams = memberships_of(actor)[:NAMES_UP_TO]
    found = [team.pk for team, _ in teams]
    agents = Agent.objects.filter(team__in=found).order_by("slug")
    is_open = state is not ListState.DECIDED
    return FilterChoices(
        agents=list(agents.values_list("slug", flat=True)[:NAMES_UP_TO]),
        tools=_names("tool", found, is_open=is_open),
        reasons=_names("reason", found, is_open=is_open),
        teams=[(team.slug, team.name) for team, _ in teams],
        decides_in=[(team.slug, team.name) for team, may in teams if Permission.DECIDE in may],
    )


def similar_count(interrupt: Interrupt) -> int:
    """How many others of the same shape are open in the team, up to COUNT_UP_TO."""
    return similar_to(interrupt).exclude(pk=interrupt.pk)[:COUNT_UP_TO].count()


def similar_to(interrupt: Interrupt) -> "QuerySet[Interrupt]":
    """The open ones of its team that have its shape; nothing is like a request without one."""
    if not interrupt.shape:
        return Interrupt.objects.none()
    return Interrupt.objects.filter(_OPEN, team=interrupt.team_id, shape=interrupt.shape).order_by(
        "due_at", "pk"
    )


# -- one page -------------------------------------------------------------------------------------


def _page(
    actor: Actor,
    wanted: InterruptFilter,
    now: datetime,
    limit: int,
    after: Interrupt | None,
    load: Callable[["QuerySet[Interrupt]", InterruptFilter], "QuerySet[Interrupt]"],
) -> InterruptPage:
    teams, rows = _matching(actor, wanted, now)
    column, ascending = _order(wanted)
    order = [name if ascending else f"-{name}" for name in _columns(column)]
    rows = rows.order_by(*order)
    if after is not None:
        rows = rows.filter(_behind(after, column, ascending=ascending))
    words = [Q(search_text__contains=word) for word in wanted.words]
    bound = _bound(rows, teams, column, ascending=ascending) if words else None
    if bound is not None:
        rows = rows.filter(_up_to(bound, column, ascending=ascending))
    rows = rows.filter(*words)
    # An index is in order within a team, so that the pages of several are merged; and rows are only
    # loaded by id, so that no database thinks of joining everything before it takes the first.
    pages = [rows.filter(team=team).values_list(*_columns(column))[: limit + 1] for team in teams]
    keys = list(islice(merge(*pages, reverse=not ascending), limit + 1))
    loaded = load(Interrupt.objects.filter(pk__in=[key[-1] for key in keys[:limit]]), wanted)
    is_cut = bound is not None and len(keys) <= limit
    last = keys[limit - 1] if len(keys) > limit else bound
    return InterruptPage(
        list(loaded.order_by(*order)) if keys else [],
        after=last[-1] if last is not None else None,
        is_cut=is_cut,
    )


def _order(wanted: InterruptFilter) -> tuple[str, bool]:
    """The column that the list is sorted by before the id, and whether it ascends."""
    if wanted.sort is Sort.DUE:
        return "due_at", True
    return "closed_at" if wanted.is_closed else "", wanted.sort is Sort.OLD


def _columns(column: str) -> list[str]:
    # Ids are in the order of the questions' times.
    return [column, "pk"] if column else ["pk"]


def _behind(row: Interrupt, column: str, *, ascending: bool) -> Q:
    """What comes after this row; everything, where it has no place in the list any more."""
    beyond = "gt" if ascending else "lt"
    further = Q(**{f"pk__{beyond}": row.pk})
    if not column:
        return further
    place = getattr(row, column)
    if place is None:
        return Q()
    # The first condition is where the index is entered; the others leave out the rest of a tie.
    return Q(**{f"{column}__{beyond}e": place}) & (Q(**{f"{column}__{beyond}": place}) | further)


def _bound(
    rows: "QuerySet[Interrupt]", teams: Sequence[UUID], column: str, *, ascending: bool
) -> tuple[Any, ...] | None:
    """
    Return the key of the last row in which one page looks for words, None if that is all rows.

    No index knows the words: without a bound, a search for what is not there reads every row. It
    is a number of steps in the index of each team.
    """
    last = slice(LOOKED_AT - 1, LOOKED_AT)
    pages = [rows.filter(team=team).values_list(*_columns(column))[last] for team in teams]
    keys: list[tuple[Any, ...]] = [key for page in pages for key in page]
    if not keys:
        return None
    return min(keys) if ascending else max(keys)


def _up_to(key: tuple[Any, ...], column: str, *, ascending: bool) -> Q:
    """What comes before the row with this key, and that row."""
    before = "lt" if ascending else "gt"
    nearer = Q(**{f"pk__{before}e": key[-1]})
    if not column:
        return nearer
    place = {f"{column}__{before}e": key[0]}
    return Q(**place) & (Q(**{f"{column}__{before}": key[0]}) | nearer)


def _matching(
    actor: Actor, wanted: InterruptFilter, now: datetime
) -> tuple[list[UUID], "QuerySet[Interrupt]"]:
    """The teams to look in, and what the filter leaves of everybody's rows, but for its words."""
    teams, only = access_scope(actor)
    conditions = [_STATES[wanted.state]]
    if only is not None:
        conditions.append(Q(agent=only))
    if wanted.team:
        teams = list(
            Team.objects.filter(pk__in=teams, slug=wanted.team).values_list("pk", flat=True)
        )
    if wanted.agent:
        agent = Agent.objects.filter(team__in=teams, slug=wanted.agent).first()
        teams = [agent.team_id] if agent else []
        conditions.append(Q(agent=agent))
    if wanted.tool:
        conditions.append(Q(tool=wanted.tool))
    if wanted.reason:
        conditions.append(Q(reason=wanted.reason))
    if wanted.mine:
        conditions.append(_mine(actor, wanted, now))
    if wanted.expiring:
        conditions.append(_OPEN & Q(due_at__lte=now + EXPIRING_SOON))
    return teams, Interrupt.objects.filter(reduce(and_, conditions))


def _mine(actor: Actor, wanted: InterruptFilter, now: datetime) -> Q:
    if actor.user_id is None:
        return Q(pk__in=[])
    claimed = _OPEN & Q(pk__in=_claimed_by(actor, now))
    decided = ~_OPEN & Q(decided_by=actor.user_id)
    if wanted.is_open:
        return claimed
    return decided if wanted.is_closed else claimed | decided


def _claimed_by(actor: Actor, now: datetime) -> list[UUID]:
    if actor.user_id is None:
        return []
    claims = Claim.objects.filter(user=actor.user_id, until__gt=now).order_by("until")
    return [claim.interrupt_id for claim in claims[:_CLAIMS_READ]]


def _to_show(rows: "QuerySet[Interrupt]", wanted: InterruptFilter) -> "QuerySet[Interrupt]":
    alike = Interrupt.objects.filter(_OPEN, team=OuterRef("team"), shape=OuterRef("shape"))
    # In order, because without one PostgreSQL reads the table until it meets a row like this.
    other = alike.exclude(pk=OuterRef("pk")).exclude(shape="").order_by("due_at", "pk").values("pk")
    rows = rows.select_related("agent", "claim__user").only(*_SHOWN)
    rows = rows.annotate(similar=Subquery(other[:1]))
    return _with_decisions(rows, wanted)


def _whole(rows: "QuerySet[Interrupt]", wanted: InterruptFilter) -> "QuerySet[Interrupt]":
    rows = rows.select_related("tool_call", "thread__agent", "claim__user")
    heavy = ("thread__messages", "thread__state", "thread__client_messages")
    rows = rows.defer("search_text", "tool_call__result", *heavy)
    return _with_decisions(rows, wanted)


def _with_decisions(rows: "QuerySet[Interrupt]", wanted: InterruptFilter) -> "QuerySet[Interrupt]":
    decisions = Decision.objects.filter(withdrawn_at=None)
    if wanted.is_open:
        # What is open has no decision that stands: that need not be read.
        decisions = decisions.none()
    return rows.prefetch_related(Prefetch("decisions", queryset=decisions, to_attr="standing"))


# -- what can be chosen ---------------------------------------------------------------------------


def _names(column: str, teams: Sequence[UUID], *, is_open: bool) -> list[str]:
    found = {name for team in teams for name in _names_in(column, team, is_open=is_open)}
    # A name with hidden characters would be taken for another one.
    return sorted(name for name in found if name.isprintable())[:NAMES_UP_TO]


def _names_in(column: str, team: UUID, *, is_open: bool) -> list[str]:
    """
    The names that occur, each found by one step in the index to the next greater one.

    `distinct()` would read every row.
    """
    # The condition is that of the index, letter for letter.
    condition = "status = 'open'" if is_open else "NOT (status = 'open')"
    of_team = f"FROM inbox_interrupt WHERE team_id = %s AND {condition}"  # constants
    # Not MIN(): without statistics SQLite takes another index for it, and reads all of that.
    after = f"SELECT {column} {of_team} AND {column} > {{}} ORDER BY {column} LIMIT 1"
    first, following = after.format("''"), after.format("names.name")
    statement = (
        f"WITH RECURSIVE names(name) AS (SELECT ({first}) UNION ALL "  # noqa: S608
        f"SELECT ({following}) FROM names WHERE names.name IS NOT NULL) "
        f"SELECT name FROM names WHERE name IS NOT NULL LIMIT {NAMES_UP_TO}"
    )
    key = team if connection.vendor == "postgresql" else team.hex
    with connection.cursor() as cursor:
        cursor.execute(statement, [key, key])
        return [name for (name,) in cursor.fetchall()]
