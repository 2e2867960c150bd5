"""The trail of tool calls: finding them, and all that is known of one."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from operator import and_, or_
from uuid import UUID

from django.db.models import Prefetch, Q, QuerySet

from inbox.models import Agent, ApiKey, AuditEntry, Decision, Interrupt, Team, ToolCall, User
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

#: The entries about one call that its page shows; the history of the thread has all.
ENTRIES = 200
#: How many entries the call is compared with: of those that can prove something, and of others.
COMPARED = 2_000
#: The actions that say what was proposed, approved, executed and returned. Only agents and people
#: who decide cause them, so nobody else can push them out of the comparison.
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
    """A part of what was found, the latest first."""

    rows: Sequence[ToolCall]
    after: UUID | None  #: where the next page goes on, None at the end
    is_cut: bool  #: whether there may be less on this page than a page holds, and more behind it


@dataclass(frozen=True)
class ToolCallDetail:
    """All that is known of a call."""

    call: ToolCall
    interrupts: Sequence[Interrupt]  #: each with the `standing` decision in a list
    entries: Sequence[AuditEntry]  #: the first that the trail says of it, in order
    compared: Sequence[AuditEntry]  #: the last with evidence, and the last of others, in order
    is_all: bool  #: whether there are no others
    may_reveal: bool  #: whether masks can be taken away for this actor


def tool_calls_for(
    actor: Actor, wanted: CallFilter, *, limit: int = 50, after: UUID | None = None
) -> ToolCallPage:
    """The calls of the actor's teams that the filter leaves, from behind the id `after` on."""
    parts, rest = _parts(actor, wanted)
    found = search(
        [_within(part, wanted) for part in parts],
        rest,
        limit=limit,
        after=after,
        show=lambda ids: [row for row in _shown(ids) if _says(row, wanted.words)],
    )
    return ToolCallPage(found.rows, after=found.after, is_cut=found.is_cut)


def tool_calls_with_id(actor: Actor, text: str, call_id: UUID | None) -> Sequence[UUID]:
    """The calls of the actor's teams that have this id, ours or the agent's; two at most."""
    teams, only = access_scope(actor)
    named = Q(tool_call_id=text) if call_id is None else Q(tool_call_id=text) | Q(pk=call_id)
    found = ToolCall.objects.filter(named, team__in=teams)
    if only is not None:
        found = found.filter(agent=only)
    return list(found.values_list("pk", flat=True)[:2])


def tool_call_detail(actor: Actor, call_id: UUID) -> ToolCallDetail:
    """
    One call, with its questions and what the trail says of it.

    Raises:
        NotFound, Forbidden.
    """
    call = ToolCall.objects.select_related("agent", "team").filter(pk=call_id).first()
    if call is None:
        raise NotFound()
    require(actor, call.team_id, Permission.READ, call.agent_id)
    asked = list(_asked(Interrupt.objects.filter(tool_call=call)))
    about = Q(tool_call=call) | Q(interrupt__in=[one.pk for one in asked])
    entries = AuditEntry.objects.filter(about, chain=call.thread_id).select_related("payload")
    evidence = list(entries.filter(action__in=EVIDENCE).order_by("-seq")[: COMPARED + 1])
    others = list(entries.exclude(action__in=EVIDENCE).order_by("-seq")[: COMPARED + 1])
    compared = [*evidence[:COMPARED], *others[:COMPARED]]
    allowed = permissions_in(actor, call.team_id)
    return ToolCallDetail(
        call=call,
        interrupts=asked,
        entries=list(entries.order_by("seq")[:ENTRIES]),
        compared=sorted(compared, key=lambda entry: entry.seq),
        is_all=len(compared) == len(evidence) + len(others),
        may_reveal=Permission.DECIDE in allowed and actor.user_id is not None,
    )


def deciders_for(actor: Actor) -> list[tuple[str, str]]:
    """Who may have decided something in the actor's teams: the `by` of a filter, and a name."""
    teams, _ = access_scope(actor)
    people = User.objects.filter(memberships__team__in=teams).distinct().order_by("username")
    keys = ApiKey.objects.filter(team__in=teams).order_by("name")
    found = [(str(user.pk), user.display_name) for user in people[:NAMES_UP_TO]]
    return found + [(str(key.pk), key.name) for key in keys[:NAMES_UP_TO]]


def agents_and_teams(actor: Actor) -> tuple[list[str], list[tuple[str, str]]]:
    """What else a search can be narrowed to: agents by their names, teams by slug and name."""
    teams = [one.team for one in teams_with_access(actor)][:NAMES_UP_TO]
    agents = Agent.objects.filter(team__in=teams).order_by("slug")
    names = list(agents.values_list("slug", flat=True)[:NAMES_UP_TO])
    return names, [(team.slug, team.name) for team in teams]


# -- one page -------------------------------------------------------------------------------------


def _parts(actor: Actor, wanted: CallFilter) -> "tuple[list[QuerySet[ToolCall]], Q]":
    """Lists that are each in the order of an index and hold what is wanted; and what is left."""
    teams, only = access_scope(actor)
    if wanted.team:
        named = Team.objects.filter(pk__in=teams, slug=wanted.team)
        teams = list(named.values_list("pk", flat=True))
    found = Agent.objects.filter(team__in=teams)
    if wanted.agent:
        found = found.filter(slug=wanted.agent)
    if only is not None:
        found = found.filter(pk=only)
    rest = reduce(and_, map(_holds, wanted.words), Q())
    leading, *others = [*_indexed(wanted), None]
    if leading is None and (wanted.agent or only):
        return [
            ToolCall.objects.filter(agent=pk) for pk in found.values_list("pk", flat=True)
        ], rest
    if wanted.agent or only:
        rest &= Q(agent__in=list(found.values_list("pk", flat=True)))
    rest = reduce(and_, filter(None, others), rest)
    return [ToolCall.objects.filter(leading or Q(), team=team) for team in teams], rest


def _indexed(wanted: CallFilter) -> list[Q]:
    """The conditions that have an index with the team, that which leaves least first."""
    conditions = []
    if wanted.by:
        conditions.append(Q(decided_by=wanted.by))
    if wanted.tool:
        conditions.append(Q(name=wanted.tool))
    if wanted.verdict:
        conditions.append(Q(verdict="" if wanted.verdict == UNDECIDED else wanted.verdict))
    return conditions


def _holds(word: str) -> Q:
    """That a word occurs, in capitals or not (on SQLite as far as it is ASCII)."""
    columns = ("name", "tool_call_id", "args", "edited_args", "result")
    return reduce(or_, (Q(**{f"{column}__icontains": word}) for column in columns))


def _says(call: ToolCall, words: Sequence[str]) -> bool:
    """Whether the words are in what is shown: nobody finds out a secret by searching for it."""
    if not words:
        return True
    args = secrets_of_arguments(*(one.body for one in call.interrupts.all()))
    texts = [call.name, call.tool_call_id, args.json(call.args)]
    texts += [args.json(call.edited_args)] if call.edited_args else []
    texts += [NAMES.json(call.result)] if call.result else []
    said = "\n".join(texts).casefold()
    return all(word.casefold() in said for word in words)


def _within(part: "QuerySet[ToolCall]", wanted: CallFilter) -> "QuerySet[ToolCall]":
    if wanted.since:
        part = part.filter(pk__gte=first_id_of(wanted.since))
    end = first_id_after(wanted.until) if wanted.until else None
    if end is not None:
        part = part.filter(pk__lt=end)
    return part


def _shown(ids: Sequence[UUID]) -> list[ToolCall]:
    rows = ToolCall.objects.filter(pk__in=ids).select_related("agent", "thread")
    rows = rows.defer("thread__messages", "thread__state", "thread__client_messages")
    asked = Prefetch("interrupts", queryset=_asked(Interrupt.objects.all()))
    return list(rows.prefetch_related(asked).order_by("-pk"))


def _asked(rows: "QuerySet[Interrupt]") -> "QuerySet[Interrupt]":
    given = Prefetch(
        "decisions", queryset=Decision.objects.filter(withdrawn_at=None), to_attr="standing"
    )
    return rows.prefetch_related(given).order_by("created_at", "pk")
