"""The matches of an actor's command bar: requests, runs, agents, people and groups."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import and_, or_
from uuid import UUID

from django.db.models import Q

from inbox.models import Agent, Group, Interrupt, Membership, Run, Thread
from inbox.queries.agents.agents import agents_for
from inbox.queries.decisions.merge_pages import search
from inbox.queries.people.access import teams_of
from inbox.queries.runs.threads import HEAVY_OF_THREADS
from inbox.rules.decisions.list_filters import InterruptFilter
from inbox.rules.people.access import Actor
from inbox.rules.runs.states import InterruptStatus
from inbox.rules.text.ids import read_id

#: The number of matches of each kind.
MAX_MATCHES = 5
#: A person may be in many teams.
_MEMBERSHIPS_READ = 200


@dataclass(frozen=True)
class Matches:
    """The first matches of each kind, all in the actor's teams."""

    requests: Sequence[Interrupt] = ()  #: open ones first, the latest of both first
    threads: Sequence[Thread] = ()  #: those of runs, the latest first
    agents: Sequence[Agent] = ()
    people: Sequence[Membership] = ()  #: one for each person
    groups: Sequence[Group] = ()


def matches_for(actor: Actor, text: str) -> Matches:
    """Return what has all words of the text, or is the request, thread or run with this id."""
    words, teams = InterruptFilter(text=text).words, teams_of(actor)
    if not words or not teams:
        return Matches()
    agents = agents_for(actor)
    if searched_id := read_id(text.strip()):
        return _with_id(teams, searched_id, _has_address(text, agents))
    return Matches(
        requests=_requests(teams, words, agents),
        threads=_threads(teams, words, agents, text),
        agents=[row for row in agents if all(word in row.slug for word in words)][:MAX_MATCHES],
        people=_people(teams, words),
        groups=_groups(teams, words),
    )


def _with_id(teams: Sequence[UUID], searched_id: UUID, has_address: Q) -> Matches:
    requests = Interrupt.objects.filter(pk=searched_id, team__in=teams)
    # The run is read first: a join would go through all threads of the teams.
    ids = [searched_id, *Run.objects.filter(pk=searched_id).values_list("thread", flat=True)]
    threads = Thread.objects.filter(Q(pk__in=ids) | has_address, team__in=teams)
    return Matches(
        requests=_load_requests(list(requests.values_list("pk", flat=True))),
        threads=_load_threads(list(threads.values_list("pk", flat=True)[:MAX_MATCHES])),
    )


def _has_address(text: str, agents: Sequence[Agent]) -> Q:
    """Return the condition that a thread has this AG-UI threadId, which pages show."""
    return Q(agent__in=[agent.pk for agent in agents], external_id=text.strip())


def _requests(
    teams: Sequence[UUID], words: Sequence[str], agents: Sequence[Agent]
) -> list[Interrupt]:
    has_words = _each(words, lambda word: Q(search_text__contains=word) | _named(word, agents))
    is_open = Q(status=InterruptStatus.OPEN)
    waiting = [Interrupt.objects.filter(is_open, team=team) for team in teams]
    rows = [*search(waiting, has_words, limit=MAX_MATCHES, after=None, load=_load_requests).rows]
    if limit := MAX_MATCHES - len(rows):
        # No index has the decided ones in the order of ids.
        everything = [Interrupt.objects.filter(team=team) for team in teams]
        is_match = ~is_open & has_words
        rows += search(everything, is_match, limit=limit, after=None, load=_load_requests).rows
    return rows


def _threads(
    teams: Sequence[UUID], words: Sequence[str], agents: Sequence[Agent], text: str
) -> Sequence[Thread]:
    has_words = _each(words, lambda word: Q(title__icontains=word) | _named(word, agents))
    is_match = has_words | _has_address(text, agents)
    parts = [Thread.objects.filter(team=team) for team in teams]
    return search(parts, is_match, limit=MAX_MATCHES, after=None, load=_load_threads).rows


def _people(teams: Sequence[UUID], words: Sequence[str]) -> list[Membership]:
    lookups = [f"user__{name}__icontains" for name in ("first_name", "last_name", "username")]
    has_words = _each(words, lambda word: reduce(or_, (Q(**{key: word}) for key in lookups)))
    rows = Membership.objects.filter(has_words, team__in=teams, user__is_active=True)
    rows = rows.select_related("user", "team").order_by("user__first_name", "user", "team__name")
    people: dict[int, Membership] = {}
    for row in rows[:_MEMBERSHIPS_READ]:
        people.setdefault(row.user_id, row)
    return list(people.values())[:MAX_MATCHES]


def _groups(teams: Sequence[UUID], words: Sequence[str]) -> list[Group]:
    rows = Group.objects.filter(_each(words, lambda word: Q(name__icontains=word)), team__in=teams)
    return list(rows.select_related("team").order_by("name", "pk")[:MAX_MATCHES])


def _each(words: Sequence[str], condition: Callable[[str], Q]) -> Q:
    return reduce(and_, map(condition, words))


def _named(word: str, agents: Sequence[Agent]) -> Q:
    """Return the condition that the agent's name has this word, without a join of all rows."""
    return Q(agent__in=[agent.pk for agent in agents if word in agent.slug])


def _load_requests(ids: Sequence[UUID]) -> list[Interrupt]:
    columns = ("title", "status", "agent__slug")
    rows = Interrupt.objects.select_related("agent").only(*columns).in_bulk(ids)
    return [rows[pk] for pk in ids if pk in rows]


def _load_threads(ids: Sequence[UUID]) -> list[Thread]:
    rows = Thread.objects.select_related("agent").defer(*HEAVY_OF_THREADS).in_bulk(ids)
    return [rows[pk] for pk in ids if pk in rows]
