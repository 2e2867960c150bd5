"""Inbox lists: pages of filtered interrupts, similar ones, counts and filter choices."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from functools import lru_cache, reduce
from heapq import merge
from itertools import islice
from operator import and_
from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.db import connection
from django.db.models import Case, Exists, F, IntegerField, OuterRef, Q, QuerySet, Subquery, When
from django.db.models.functions import Coalesce, Length
from django.utils import timezone

from inbox.models import (
    Agent,
    Assignee,
    Claim,
    Decision,
    Endorsement,
    Interrupt,
    InterruptView,
    Snooze,
    Team,
)
from inbox.models.runs.interrupts import NEVER
from inbox.models.statements import Params, Select
from inbox.queries.decisions.collaboration import count_claimed
from inbox.queries.people.access import access_scope, memberships_of, teams_of
from inbox.rules.decisions.list_filters import (
    EXPIRING_SOON,
    InterruptFilter,
    ListState,
    Queue,
    Sort,
)
from inbox.rules.people.access import Actor, Permission
from inbox.rules.runs.states import InterruptStatus

if TYPE_CHECKING:
    from inbox.models import User

#: Badges count up to this number, to read a bounded number of rows.
COUNT_UP_TO = 100
PENDING_UP_TO = 1_000
#: The number of choices of each kind.
NAMES_UP_TO = 50
#: The number of rows of each team that one page of a search reads, of 8,000 characters at most.
MAX_ROWS_SEARCHED = 20_000
#: A list names the changes of decisions whose request and answer are not larger.
MAX_COMPARED_CHARACTERS = 50_000
_CLAIMS_READ = 200
_OPEN = Q(status=InterruptStatus.OPEN)
_STATES = {
    ListState.OPEN: _OPEN,
    ListState.DECIDED: ~_OPEN,
    ListState.EXPIRED: ~_OPEN & Q(status=InterruptStatus.EXPIRED),
    ListState.CANCELLED: ~_OPEN & Q(status=InterruptStatus.CANCELLED),
    ListState.ALL: Q(),
}
#: The columns of a list; the others are large, or not displayed.
_LIST_COLUMNS = (
    *(
        "title",
        "message",
        "tool",
        "reason",
        "status",
        "run__pulled",
        "team",
        "similarity_key",
        "expires_at",
        "due_at",
    ),
    *("created_at", "closed_at", "agent__slug", "thread__title", "people_needed"),
    *("severity", "is_reversible", "endpoint_digest"),
    *("claim__until", "claim__user__username", "claim__user__first_name", "claim__user__last_name"),
    *(f"assignee__user__{name}" for name in ("username", "first_name", "last_name")),
)
_NAMES_OF_ENDORSERS = ("user__username", "user__first_name", "user__last_name")
_FULL_COLUMNS = (
    *("interrupt_id", "run", "thread", "status", "reason", "title", "args", "body"),
    *("view_digest", "endpoint_digest", "expires_at", "created_at", "closed_at"),
    *("people_needed", "endorsed_payload", "files", "restored_at"),
    *("tool_call__name", "tool_call__args", "tool_call__edited_args"),
    *("thread__external_id", "thread__agent__slug"),
    *(f"assignee__user__{name}" for name in ("username", "first_name", "last_name")),
)
_DECISION_COLUMNS = (
    *("interrupt", "status", "payload", "unseen"),
    *("actor_kind", "actor_label", "user", "grant", "created_at", "withdrawn_at"),
)


@dataclass(frozen=True)
class InterruptPage:
    """A page of a list."""

    rows: Sequence[Interrupt]
    after: UUID | None  #: the id after which the next page begins, None at the end
    is_cut: bool  #: the search stopped before the page was full; there may be more rows


@dataclass(frozen=True)
class ListCounts:
    """The counts in the navigation: claims up to MAX_CLAIMED_COUNT, the others to PENDING_UP_TO."""

    pending: int
    claimed: int
    expiring: int
    administers: Sequence[UUID]  #: ids of teams; needs no query of its own
    team: str  #: the slug of the actor's first team by name, "" without a team


@dataclass(frozen=True)
class FilterChoices:
    """The choices of the filters of an actor's lists."""

    agents: Sequence[str]
    tools: Sequence[str]
    reasons: Sequence[str]
    teams: Sequence[tuple[str, str]]  #: slug and name
    decides_in: Sequence[tuple[str, str]]  #: the teams in which the actor may decide
    administers: Sequence[Team]


def list_for(
    actor: Actor,
    filters: InterruptFilter,
    *,
    now: datetime,
    limit: int = 50,
    after: Interrupt | None = None,
) -> InterruptPage:
    """
    Return a page of the interrupts in the actor's scope that match, after the row `after`.

    Open ones that the actor has snoozed are left out, unless they expire soon.
    """
    return _page(actor, filters, now, limit, after, _LIST_ROWS, hides_snoozed=True)


def full_list_for(
    actor: Actor,
    filters: InterruptFilter,
    *,
    now: datetime,
    limit: int = 50,
    after: Interrupt | None = None,
) -> InterruptPage:
    """Return a page like `list_for`, with snoozed ones and all columns that the API returns."""
    return _page(actor, filters, now, limit, after, _FULL_ROWS)


def counts_for(actor: Actor, *, now: datetime) -> ListCounts:
    """Return the counts of the actor's teams, and the teams that the actor administers."""
    teams = memberships_of(actor)
    team_ids = [team.pk for team, _ in teams]
    return ListCounts(
        pending=_count_pending(team_ids, NEVER, actor, now),
        claimed=count_claimed(actor),
        expiring=_count_pending(team_ids, now + EXPIRING_SOON, actor, now),
        administers=[team.pk for team, allowed in teams if Permission.ADMIN in allowed],
        team=teams[0][0].slug if teams else "",
    )


def _count_pending(teams: Sequence[UUID], due_at: datetime, actor: Actor, now: datetime) -> int:
    if not teams:
        return 0
    person = {"me": actor.user_id or 0, "now": now, "soon": now + EXPIRING_SOON}
    return len(_PENDING.all(teams=teams, due_at=due_at, **person))


_PENDING = Select(
    lambda params: (
        Interrupt.objects.filter(
            _not_snoozed(params.me, params.now, params.soon),
            _OPEN,
            team__pk__in=params.each("teams"),
            due_at__lte=params.due_at,
        )
        .order_by()
        .values_list("status", flat=True)[:PENDING_UP_TO]
    )
)


def choices_for(actor: Actor, *, state: ListState) -> FilterChoices:
    """Return the actor's agents and teams, and the tools and reasons of the list's interrupts."""
    teams = memberships_of(actor)[:NAMES_UP_TO]
    team_ids = [team.pk for team, _ in teams]
    is_open = state is not ListState.DECIDED
    return FilterChoices(
        agents=_AGENTS.all(teams=team_ids) if team_ids else [],
        tools=_names("tool", team_ids, is_open=is_open),
        reasons=_names("reason", team_ids, is_open=is_open),
        teams=[(team.slug, team.name) for team, _ in teams],
        decides_in=[(team.slug, team.name) for team, may in teams if Permission.DECIDE in may],
        administers=[team for team, may in teams if Permission.ADMIN in may],
    )


_AGENTS = Select(
    lambda params: (
        Agent.objects.filter(team__pk__in=params.each("teams"))
        .order_by("slug")
        .values_list("slug", flat=True)[:NAMES_UP_TO]
    )
)


def similar_count(interrupt: Interrupt) -> int:
    """Return the number of other open interrupts like this one in its team, up to COUNT_UP_TO."""
    return similar_to(interrupt).exclude(pk=interrupt.pk)[:COUNT_UP_TO].count()


def similar_to(interrupt: Interrupt) -> "QuerySet[Interrupt]":
    """Return the open interrupts of the team with the same similarity key, itself included."""
    if not interrupt.similarity_key:
        return Interrupt.objects.none()
    return Interrupt.objects.filter(
        _OPEN, team=interrupt.team_id, similarity_key=interrupt.similarity_key
    ).order_by("due_at", "pk")


# -- one page -------------------------------------------------------------------------------------


def _page(
    actor: Actor,
    filters: InterruptFilter,
    now: datetime,
    limit: int,
    after: Interrupt | None,
    statement: "Select[Interrupt]",
    *,
    hides_snoozed: bool = False,
) -> InterruptPage:
    column, ascending = _order(filters)
    unfiltered = InterruptFilter(state=filters.state, sort=filters.sort)
    hides_snoozed &= filters.is_open and not filters.snoozed
    bound: tuple[Any, ...] | None = None
    # An index is ordered within one team, so the pages of several teams are merged. Rows are loaded
    # by id, so that the planner cannot join all rows before it takes the first ones.
    if after is None and filters == unfiltered and actor.agent_id is None:
        first_keys = _first_keys(unfiltered, limit + 1, hides_snoozed)
        person = {"me": actor.user_id or 0, "now": now, "soon": now + EXPIRING_SOON}
        pages: list[Any] = [first_keys.all(team=team, **person) for team in teams_of(actor)]
    else:
        teams, rows = _matching(actor, filters, now)
        rows = rows.order_by(*_ordering(column, ascending=ascending))
        if hides_snoozed:
            rows = rows.filter(_not_snoozed(actor.user_id or 0, now, now + EXPIRING_SOON))
        if after is not None:
            rows = rows.filter(_after_row(after, column, ascending=ascending))
        words = [Q(search_text__contains=word) for word in filters.words]
        bound = _bound(rows, teams, column, ascending=ascending) if words else None
        if bound is not None:
            rows = rows.filter(_up_to(bound, column, ascending=ascending))
        rows = rows.filter(*words)
        pages = [
            rows.filter(team=team).values_list(*_columns(column))[: limit + 1] for team in teams
        ]
    keys = list(islice(merge(*pages, reverse=not ascending), limit + 1))
    is_cut = bound is not None and len(keys) <= limit
    last = keys[limit - 1] if len(keys) > limit else bound
    return InterruptPage(
        _load(statement, [key[-1] for key in keys[:limit]], actor, is_open=filters.is_open),
        after=last[-1] if last is not None else None,
        is_cut=is_cut,
    )


@lru_cache(maxsize=100)
def _first_keys(
    unfiltered: InterruptFilter, limit: int, hides_snoozed: bool
) -> Select[tuple[Any, ...]]:
    column, ascending = _order(unfiltered)
    rows = Interrupt.objects.filter(_STATES[unfiltered.state])
    rows = rows.order_by(*_ordering(column, ascending=ascending))

    def queryset(params: Params) -> "QuerySet[Interrupt, tuple[Any, ...]]":
        listed = rows.filter(team=params.team)
        if hides_snoozed:
            listed = listed.filter(_not_snoozed(params.me, params.now, params.soon))
        return listed.values_list(*_columns(column))[:limit]

    return Select(queryset)


def _not_snoozed(user: Any, now: Any, soon: Any) -> Q:
    """Return the condition for what a person has not snoozed, or what expires soon."""
    snoozes = Snooze.objects.filter(interrupt=OuterRef("pk"), user=user, until__gt=now)
    return Q(due_at__lte=soon) | ~Q(Exists(snoozes))


def _load(
    statement: "Select[Interrupt]", ids: Sequence[UUID], actor: Actor, *, is_open: bool
) -> Sequence[Interrupt]:
    """Return the rows with these ids, in this order, each with its decision as `standing`."""
    rows = {row.pk: row for row in statement.all(ids=ids, me=actor.user_id or 0)} if ids else {}
    # Open interrupts have no decision in force.
    decisions = _DECISIONS.all(interrupts=ids) if ids and not is_open else []
    by_interrupt = {decision.interrupt_id: [decision] for decision in decisions}
    shared = [pk for pk, row in rows.items() if is_open and row.people_needed > 1]
    endorsers: dict[UUID, list[User]] = {}
    if shared:
        in_force = Endorsement.objects.filter(
            interrupt__in=shared, withdrawn_at=None, voided_at=None
        ).order_by("pk")
        of_people = in_force.select_related("user").only("interrupt", *_NAMES_OF_ENDORSERS)
        for endorsement in of_people:
            endorsers.setdefault(endorsement.interrupt_id, []).append(endorsement.user)
    endorsed_texts = _endorsed_texts(list(endorsers))
    for pk, row in rows.items():
        row.endorsers = endorsers.get(pk, [])  # type: ignore[attr-defined]
        row.endorsed_texts = endorsed_texts.get(pk)  # type: ignore[attr-defined]
        row.standing = by_interrupt.get(pk, [])  # type: ignore[attr-defined]  # as prefetched
    return [rows[pk] for pk in ids if pk in rows]


def _endorsed_texts(ids: Sequence[UUID]) -> dict[UUID, tuple[str, str | None, str]]:
    """Return body, arguments and endorsed answer of rows that are small enough to compare."""
    if not ids:
        return {}
    size = Length("endorsed_payload") + Length("body") + Coalesce(Length("args"), 0)
    rows = Interrupt.objects.filter(pk__in=ids, endorsed_payload__isnull=False)
    rows = rows.annotate(size=size).filter(size__lte=MAX_COMPARED_CHARACTERS)
    texts = rows.values_list("pk", "body", "args", "endorsed_payload")
    return {pk: (body, args, payload or "") for pk, body, args, payload in texts}


def endorsers_of(row: Interrupt) -> "Sequence[User]":
    """Return the users whose endorsements are in force, of a row of a list."""
    return getattr(row, "endorsers", ())


def _order(filters: InterruptFilter) -> tuple[str, bool]:
    """Return the column that the list is sorted by before the id, and whether it ascends."""
    if filters.sort is Sort.DUE:
        return "due_at", True
    return "closed_at" if filters.is_closed else "", filters.sort is Sort.OLD


def _ordering(column: str, *, ascending: bool) -> list[str]:
    return [name if ascending else f"-{name}" for name in _columns(column)]


def _columns(column: str) -> list[str]:
    # Ids sort by creation time.
    return [column, "pk"] if column else ["pk"]


def _after_row(row: Interrupt, column: str, *, ascending: bool) -> Q:
    """Return the condition for rows after this one; all rows if it has left the list."""
    operator = "gt" if ascending else "lt"
    is_later_id = Q(**{f"pk__{operator}": row.pk})
    if not column:
        return is_later_id
    value = getattr(row, column)
    if value is None:
        return Q()
    # The first condition is the start of the index range; the others exclude earlier ties.
    is_later = Q(**{f"{column}__{operator}": value}) | is_later_id
    return Q(**{f"{column}__{operator}e": value}) & is_later


def _bound(
    rows: "QuerySet[Interrupt]", teams: Sequence[UUID], column: str, *, ascending: bool
) -> tuple[Any, ...] | None:
    """
    Return the key of the last row that one page searches for words, None if it searches all rows.

    There is no index on words: without a bound, a search without matches reads every row.
    """
    last = slice(MAX_ROWS_SEARCHED - 1, MAX_ROWS_SEARCHED)
    pages = [rows.filter(team=team).values_list(*_columns(column))[last] for team in teams]
    keys: list[tuple[Any, ...]] = [key for page in pages for key in page]
    if not keys:
        return None
    return min(keys) if ascending else max(keys)


def _up_to(key: tuple[Any, ...], column: str, *, ascending: bool) -> Q:
    """Return the condition for the row with this key and the rows before it."""
    operator = "lt" if ascending else "gt"
    is_earlier_id = Q(**{f"pk__{operator}e": key[-1]})
    if not column:
        return is_earlier_id
    is_earlier = Q(**{f"{column}__{operator}": key[0]}) | is_earlier_id
    return Q(**{f"{column}__{operator}e": key[0]}) & is_earlier


def _matching(
    actor: Actor, filters: InterruptFilter, now: datetime
) -> tuple[list[UUID], "QuerySet[Interrupt]"]:
    """Return the teams to search, and the rows of all teams that match all but the words."""
    teams, agent_id = access_scope(actor)
    conditions = [_STATES[filters.state]]
    if agent_id is not None:
        conditions.append(Q(agent=agent_id))
    if filters.team:
        teams = list(
            Team.objects.filter(pk__in=teams, slug=filters.team).values_list("pk", flat=True)
        )
    if filters.agent:
        agent = Agent.objects.filter(team__in=teams, slug=filters.agent).first()
        teams = [agent.team_id] if agent else []
        conditions.append(Q(agent=agent))
    exact = ("tool", "reason", "run", "thread", "interrupt_id")
    conditions += [Q(**{name: value}) for name in exact if (value := getattr(filters, name))]
    if filters.mine:
        conditions.append(_own(actor, filters, now))
    if filters.expiring:
        conditions.append(_OPEN & Q(due_at__lte=now + EXPIRING_SOON))
    conditions += _about_person(actor.user_id or 0, filters, now)
    conditions += _days(filters)
    return teams, Interrupt.objects.filter(reduce(and_, conditions))


def _about_person(user_id: int, filters: InterruptFilter, now: datetime) -> list[Q]:
    claims = Claim.objects.filter(interrupt=OuterRef("pk"), until__gt=now)
    assignees = Assignee.objects.filter(interrupt=OuterRef("pk"))
    mine = Exists(claims.filter(user=user_id)) | Exists(assignees.filter(user=user_id))
    somebodys = Exists(claims) | Exists(assignees)
    snoozes = Snooze.objects.filter(user=user_id, until__gt=now)
    conditions = [
        (filters.queue is Queue.MINE, Q(mine)),
        (filters.queue is Queue.TEAM, ~Q(somebodys)),
        (filters.queue is Queue.OTHERS, Q(somebodys) & ~Q(mine)),
        (filters.assigned, Q(assignee__user=user_id)),
        (filters.started, Q(run__requester_user=user_id)),
        (filters.snoozed, Q(pk__in=snoozes.values("interrupt"))),
    ]
    return [condition for is_required, condition in conditions if is_required]


def _days(filters: InterruptFilter) -> list[Q]:
    """Return the conditions for the days, in the time zone that is active."""
    column = "closed_at" if filters.is_closed else "created_at"
    conditions = []
    if filters.since and filters.since > date.min:
        conditions.append(Q(**{f"{column}__gte": _start_of(filters.since)}))
    if filters.until and filters.until < date.max:
        conditions.append(Q(**{f"{column}__lt": _start_of(filters.until + timedelta(days=1))}))
    return conditions


def _start_of(day: date) -> datetime:
    return timezone.make_aware(datetime.combine(day, time()))


def _own(actor: Actor, filters: InterruptFilter, now: datetime) -> Q:
    if actor.user_id is None:
        return Q(pk__in=[])
    claimed = _OPEN & Q(pk__in=_claimed_by(actor, now))
    decided = ~_OPEN & Q(decided_by=actor.user_id)
    if filters.is_open:
        return claimed
    return decided if filters.is_closed else claimed | decided


def _claimed_by(actor: Actor, now: datetime) -> list[UUID]:
    if actor.user_id is None:
        return []
    claims = Claim.objects.filter(user=actor.user_id, until__gt=now).order_by("until")
    return [claim.interrupt_id for claim in claims[:_CLAIMS_READ]]


def _list_rows(params: Params) -> "QuerySet[Interrupt]":
    similar = Interrupt.objects.filter(
        _OPEN, team=OuterRef("team"), similarity_key=OuterRef("similarity_key")
    )
    similar = similar.exclude(pk=OuterRef("pk")).exclude(similarity_key="")
    # Ordered so that PostgreSQL uses the index; otherwise it scans the table for a match.
    first = similar.order_by("due_at", "pk").values("pk")[:COUNT_UP_TO]
    views = InterruptView.objects.filter(interrupt=OuterRef("pk"), user=params.me)
    rows = Interrupt.objects.filter(pk__in=params.each("ids"))
    rows = rows.select_related("agent", "thread", "run", "claim__user", "assignee__user")
    rows = rows.only(*_LIST_COLUMNS)
    return rows.annotate(similar_count=_CountOf(first), is_seen=Exists(views))


class _CountOf(Subquery):
    """The number of rows of a limited subquery; an aggregate would read all rows."""

    template = "(SELECT COUNT(*) FROM (%(subquery)s) counted)"
    output_field = IntegerField()


_LIST_ROWS = Select(_list_rows)
_FULL_ROWS = Select(
    lambda params: (
        Interrupt.objects.filter(pk__in=params.each("ids"))
        .select_related("tool_call", "thread__agent", "assignee__user")
        .only(*_FULL_COLUMNS)
    )
)
#: Answers that may have edits, of interrupts that are small enough to compare in a list.
_MAY_BE_EDITED = (
    Q(payload__contains='"editedArgs"')
    | Q(payload__contains='"modifications"')
    | Q(interrupt__reason__startswith="langgraph:")
) & Q(size__lte=MAX_COMPARED_CHARACTERS)
_DECISIONS = Select(
    lambda params: (
        Decision.objects.filter(withdrawn_at=None, interrupt__pk__in=params.each("interrupts"))
        .only(*_DECISION_COLUMNS)
        .annotate(
            size=Length("payload")
            + Length("interrupt__body")
            + Coalesce(Length("interrupt__args"), 0),
        )
        .annotate(
            proposed_body=Case(When(_MAY_BE_EDITED, then=F("interrupt__body"))),
            proposed_args=Case(When(_MAY_BE_EDITED, then=F("interrupt__args"))),
        )
    )
)


# -- filter choices -------------------------------------------------------------------------------


def _names(column: str, teams: Sequence[UUID], *, is_open: bool) -> list[str]:
    names = {name for team in teams for name in _names_in(column, team, is_open=is_open)}
    # A name with invisible characters could be mistaken for another one.
    return sorted(name for name in names if name.isprintable())[:NAMES_UP_TO]


def _names_in(column: str, team: UUID, *, is_open: bool) -> list[str]:
    """
    Return the distinct values of a column, with one index lookup for each.

    `distinct()` would read every row.
    """
    # The same text as the condition of the partial index.
    condition = "status = 'open'" if is_open else "NOT (status = 'open')"
    of_team = f"FROM inbox_interrupt WHERE team_id = %s AND {condition}"  # constants
    # Not MIN(): without statistics SQLite scans another index for it.
    after = f"SELECT {column} {of_team} AND {column} > {{}} ORDER BY {column} LIMIT 1"
    first, following = after.format("''"), after.format("names.name")
    statement = (
        f"WITH RECURSIVE names(name) AS (SELECT ({first}) UNION ALL "  # noqa: S608
        f"SELECT ({following}) FROM names WHERE names.name IS NOT NULL) "
        f"SELECT name FROM names WHERE name IS NOT NULL LIMIT {NAMES_UP_TO}"
    )
    team_id = team if connection.vendor == "postgresql" else team.hex
    with connection.cursor() as cursor:
        cursor.execute(statement, [team_id, team_id])
        return [name for (name,) in cursor.fetchall()]
