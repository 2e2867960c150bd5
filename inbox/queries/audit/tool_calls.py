"""Tool calls: search, and the details of one call with its audit entries."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, tzinfo
from functools import reduce
from operator import and_, or_
from uuid import UUID

from django.db.models import Exists, OuterRef, Prefetch, Q, QuerySet

from inbox.models import (
    Agent,
    ApiKey,
    AuditEntry,
    Decision,
    Endorsement,
    Interrupt,
    Team,
    ToolCall,
    User,
)
from inbox.queries.audit.call_counts import count_calls, counted_since
from inbox.queries.decisions.inbox_lists import NAMES_UP_TO
from inbox.queries.decisions.merge_pages import search
from inbox.queries.people.access import access_scope, permissions_in, require
from inbox.queries.people.members import teams_with_access
from inbox.rules.audit.audit_filters import (
    UNDECIDED,
    CallFilter,
    first_id_after,
    first_id_of,
)
from inbox.rules.errors import NotFound
from inbox.rules.people.access import Actor, Permission
from inbox.rules.schema.mask_agui import secrets_of_arguments
from inbox.rules.schema.secrets import NAMES

#: The number of entries about one call on its page; the history of the thread has all.
MAX_LISTED = 200
#: The number of entries that the call is compared with, of EVIDENCE and of others.
MAX_COMPARED = 2_000
#: The number of the latest calls of a team or an agent that are counted by day.
MAX_COUNTED = 50_000
#: The actions that record what was proposed, approved, executed and returned. Only agents and
#: reviewers cause them, so nobody else can push them out of the comparison.
EVIDENCE = (
    "interrupt.opened",
    "interrupt.resolved",
    "interrupt.cancelled",
    "interrupt.expired",
    "decision.withdrawn",
    "tool.started",
    "tool.settled",
)


@dataclass(frozen=True)
class ToolCallPage:
    """A page of tool calls, the latest first."""

    rows: Sequence[ToolCall]
    after: UUID | None  #: the id after which the next page begins, None at the end
    is_cut: bool  #: the search stopped before the page was full; there may be more rows


@dataclass(frozen=True)
class ToolCallDetail:
    """A tool call with its interrupts and audit entries."""

    call: ToolCall
    interrupts: Sequence[Interrupt]  #: each with its decision in force in the list `standing`
    entries: Sequence[AuditEntry]  #: the first MAX_LISTED, in order
    compared: Sequence[AuditEntry]  #: the last ones of EVIDENCE and of others, in order
    is_all: bool  #: `compared` has all entries
    may_reveal: bool  #: the actor may unmask values


@dataclass(frozen=True)
class DailyCounts:
    """Numbers of tool calls by day, and by verdict, BY_RULE or DENIED_BY_RULE."""

    by_day: Mapping[date, Counter[str]]
    since: date  #: the first day that is counted


def tool_calls_for(
    actor: Actor,
    filters: CallFilter,
    *,
    limit: int = 50,
    after: UUID | None = None,
    zone: tzinfo = UTC,
) -> ToolCallPage:
    """
    Return a page of the calls in the actor's scope that match, after the id `after`.

    `zone` is that of the days.
    """
    parts, condition = _parts(actor, filters)
    page = search(
        [_within_days(part, filters, zone) for part in parts],
        condition,
        limit=limit,
        after=after,
        load=lambda ids: [row for row in _load(ids) if _has_words(row, filters.words)],
    )
    return ToolCallPage(page.rows, after=page.after, is_cut=page.is_cut)


def count_by_day(
    actor: Actor, filters: CallFilter, days: Sequence[date], zone: tzinfo = UTC
) -> DailyCounts:
    """
    Return the numbers of calls that match on these days; the days of the filter do not count.

    Words do not count either: they may occur in masked values only.
    """
    parts, condition = _parts(actor, replace(filters, text=""))
    parts = [part.filter(condition) for part in parts]
    since = max((counted_since(part, days, MAX_COUNTED, zone) for part in parts), default=days[0])
    counts = count_calls(parts, [day for day in days if day >= since], zone=zone)
    by_day: dict[date, Counter[str]] = {day: Counter() for day in days}
    for day, kind, number in counts:
        by_day[day][kind] += number
    return DailyCounts(by_day, since)


def tool_calls_with_id(actor: Actor, text: str, call_id: UUID | None) -> Sequence[UUID]:
    """Return up to two calls in the actor's scope with this AG-UI toolCallId or database id."""
    teams, agent_id = access_scope(actor)
    has_id = Q(tool_call_id=text) if call_id is None else Q(tool_call_id=text) | Q(pk=call_id)
    rows = ToolCall.objects.filter(has_id, team__in=teams)
    if agent_id is not None:
        rows = rows.filter(agent=agent_id)
    return list(rows.values_list("pk", flat=True)[:2])


def tool_call_detail(actor: Actor, call_id: UUID) -> ToolCallDetail:
    """
    Return a call with its interrupts and audit entries.

    Raises:
        NotFound, Forbidden.
    """
    call = ToolCall.objects.select_related("agent", "team", "run").filter(pk=call_id).first()
    if call is None:
        raise NotFound()
    require(actor, call.team_id, Permission.READ, call.agent_id)
    interrupts = list(_with_decisions(Interrupt.objects.filter(tool_call=call)))
    about = Q(tool_call=call) | Q(interrupt__in=[interrupt.pk for interrupt in interrupts])
    entries = AuditEntry.objects.filter(about, chain=call.thread_id).select_related("payload")
    evidence = list(entries.filter(action__in=EVIDENCE).order_by("-seq")[: MAX_COMPARED + 1])
    others = list(entries.exclude(action__in=EVIDENCE).order_by("-seq")[: MAX_COMPARED + 1])
    compared = [*evidence[:MAX_COMPARED], *others[:MAX_COMPARED]]
    allowed = permissions_in(actor, call.team_id)
    return ToolCallDetail(
        call=call,
        interrupts=interrupts,
        entries=list(entries.order_by("seq")[:MAX_LISTED]),
        compared=sorted(compared, key=lambda entry: entry.seq),
        is_all=len(compared) == len(evidence) + len(others),
        may_reveal=Permission.DECIDE in allowed and actor.user_id is not None,
    )


def deciders_for(actor: Actor) -> list[tuple[str, str]]:
    """Return the users and keys of the actor's teams: the `by` of a filter, and a name."""
    teams, _ = access_scope(actor)
    people = User.objects.filter(memberships__team__in=teams).distinct().order_by("username")
    keys = ApiKey.objects.filter(team__in=teams).order_by("name")
    users = [(str(user.pk), user.display_name) for user in people[:NAMES_UP_TO]]
    return users + [(str(key.pk), key.name) for key in keys[:NAMES_UP_TO]]


def agents_and_teams(actor: Actor) -> tuple[list[str], list[tuple[str, str]]]:
    """Return the other choices of a filter: agents by slug, teams by slug and name."""
    teams = [access.team for access in teams_with_access(actor)][:NAMES_UP_TO]
    agents = Agent.objects.filter(team__in=teams).order_by("slug")
    names = list(agents.values_list("slug", flat=True)[:NAMES_UP_TO])
    return names, [(team.slug, team.name) for team in teams]


# -- one page -------------------------------------------------------------------------------------


def _parts(actor: Actor, filters: CallFilter) -> "tuple[list[QuerySet[ToolCall]], Q]":
    """Return querysets that are each in the order of an index, and the other conditions."""
    teams, agent_id = access_scope(actor)
    if filters.team:
        rows = Team.objects.filter(pk__in=teams, slug=filters.team)
        teams = list(rows.values_list("pk", flat=True))
    agents = Agent.objects.filter(team__in=teams)
    if filters.agent:
        agents = agents.filter(slug=filters.agent)
    if agent_id is not None:
        agents = agents.filter(pk=agent_id)
    agent_ids = list(agents.values_list("pk", flat=True)) if filters.agent or agent_id else None
    condition = reduce(and_, map(_has_word, filters.words), Q())
    indexed, *others = [*_indexed(filters), None]
    if indexed is None and agent_ids is not None:
        return [ToolCall.objects.filter(agent=pk) for pk in agent_ids], condition
    if agent_ids is not None:
        condition &= Q(agent__in=agent_ids)
    condition = reduce(and_, filter(None, others), condition)
    return [ToolCall.objects.filter(indexed or Q(), team=team) for team in teams], condition


def _indexed(filters: CallFilter) -> list[Q]:
    """Return the conditions that have an index with the team, the most selective one first."""
    conditions = []
    if filters.by:
        conditions.append(Q(decided_by=filters.by))
    if filters.tool:
        conditions.append(Q(name=filters.tool))
    if filters.verdict:
        conditions.append(Q(verdict="" if filters.verdict == UNDECIDED else filters.verdict))
    return conditions


def _has_word(word: str) -> Q:
    """Return the condition that a word occurs, ignoring case (on SQLite, of ASCII only)."""
    columns = ("name", "tool_call_id", "args", "edited_args", "result")
    titles = Interrupt.objects.filter(
        Q(title__icontains=word) | Q(message__icontains=word), tool_call=OuterRef("pk")
    )
    people = Decision.objects.filter(
        interrupt__tool_call=OuterRef("pk"), actor_label__icontains=word, withdrawn_at=None
    )
    of_people = ("first_name", "last_name", "username")
    names = reduce(or_, [Q(**{f"user__{column}__icontains": word}) for column in of_people])
    endorsers = Endorsement.objects.filter(
        names, decision__interrupt__tool_call=OuterRef("pk"), decision__withdrawn_at=None
    )
    conditions = [Q(**{f"{column}__icontains": word}) for column in columns]
    return reduce(or_, [*conditions, *(Q(Exists(rows)) for rows in (titles, people, endorsers))])


def _has_words(call: ToolCall, words: Sequence[str]) -> bool:
    """Return whether the words occur outside of masks: a search must not reveal secrets."""
    if not words:
        return True
    args = secrets_of_arguments(*(interrupt.body for interrupt in call.interrupts.all()))
    texts = [call.name, call.tool_call_id, args.json(call.args)]
    for row in call.interrupts.all():
        texts += [row.title, row.message]
        for decision in row.standing:  # type: ignore[attr-defined]  # prefetched
            endorsers = [endorsement.user for endorsement in decision.endorsements.all()]
            texts += [decision.actor_label, *(user.display_name for user in endorsers)]
    texts += [args.json(call.edited_args)] if call.edited_args else []
    texts += [NAMES.json(call.result)] if call.result else []
    text = "\n".join(texts).casefold()
    return all(word.casefold() in text for word in words)


def _within_days(
    part: "QuerySet[ToolCall]", filters: CallFilter, zone: tzinfo
) -> "QuerySet[ToolCall]":
    if filters.since:
        part = part.filter(pk__gte=first_id_of(filters.since, zone))
    end = first_id_after(filters.until, zone) if filters.until else None
    if end is not None:
        part = part.filter(pk__lt=end)
    return part


def _load(ids: Sequence[UUID]) -> list[ToolCall]:
    rows = ToolCall.objects.filter(pk__in=ids).select_related("agent", "thread", "run")
    rows = rows.defer("thread__messages", "thread__state", "thread__client_messages")
    interrupts = Prefetch("interrupts", queryset=_with_decisions(Interrupt.objects.all()))
    return list(rows.prefetch_related(interrupts).order_by("-pk"))


def _with_decisions(rows: "QuerySet[Interrupt]") -> "QuerySet[Interrupt]":
    in_force = Decision.objects.filter(withdrawn_at=None).prefetch_related(
        Prefetch("endorsements", Endorsement.objects.select_related("user").order_by("created_at"))
    )
    decisions = Prefetch("decisions", queryset=in_force, to_attr="standing")
    return rows.prefetch_related(decisions).order_by("created_at", "pk")
