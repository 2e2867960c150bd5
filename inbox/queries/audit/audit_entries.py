"""Audit entries of teams: search, and the contents of an export."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from functools import reduce
from operator import and_, or_
from uuid import UUID

from django.db.models import Q, QuerySet

from inbox.models import AuditEntry, Team, Thread
from inbox.queries.audit.deleted_threads import thread_of_trail
from inbox.queries.decisions.masked_values import bodies_of_entry, interrupt_bodies_by_id
from inbox.queries.decisions.merge_pages import search
from inbox.queries.people.access import (
    access_scope,
    permissions_in,
    require,
    teams_of,
)
from inbox.queries.people.teams import team_to_change
from inbox.rules.audit.audit_filters import UNDECIDED, EntryFilter
from inbox.rules.people.access import Actor, Permission
from inbox.rules.schema.mask_agui import masked_detail
from inbox.rules.text.messages import TranslatableMessage

#: Of requests only the headings are searched and displayed.
_HEAVY = tuple(
    f"interrupt__{name}" for name in ("args", "body", "files", "search_text", "endorsed_payload")
)


@dataclass(frozen=True)
class AuditEntryPage:
    """A page of entries, the latest first; it may be empty although more follow."""

    rows: Sequence[AuditEntry]
    after: int | None  #: the id after which the next page begins, None at the end


@dataclass(frozen=True)
class ExportScope:
    """The audit trail of a team, or of one of its threads."""

    team: Team
    thread: Thread | None


def entries_for(
    actor: Actor, filters: EntryFilter, *, limit: int = 50, after: int | None = None
) -> AuditEntryPage:
    """
    Return a page of the entries that match the filter, about threads in the actor's scope.

    Entries about teams, members, keys and webhooks are for the team's administrators.
    """
    teams, agent_id = access_scope(actor)
    if filters.team:
        rows = Team.objects.filter(pk__in=teams, slug=filters.team)
        teams = list(rows.values_list("pk", flat=True))
    indexed, condition = _conditions(filters)
    administered = teams_of(actor, Permission.ADMIN)
    if not set(teams) <= set(administered):
        condition &= Q(thread__isnull=False) | Q(team__in=administered)
    if agent_id is not None:
        condition &= Q(thread__agent=agent_id)
    parts = [AuditEntry.objects.filter(part, team=team) for team in teams for part in indexed]
    page = search(
        parts,
        condition,
        limit=limit,
        after=after,
        load=lambda ids: _with_words(filters.words, _load(ids)),
    )
    return AuditEntryPage(page.rows, page.after)


def export_scope(actor: Actor, filters: EntryFilter) -> ExportScope:
    """
    Return the trail that the actor exports; requires READ and ADMIN in the team.

    Raises:
        NotFound, Forbidden.
        InvalidValue: neither a thread nor a team is named, and the actor administers several.
    """
    if filters.thread:
        thread = thread_of_trail(actor, filters.thread)
        team = thread.team
    else:
        thread, team = None, _team_for(actor, filters.team)
    require(actor, team.pk, Permission.READ)
    require(actor, team.pk, Permission.ADMIN)
    return ExportScope(team, thread)


def _team_for(actor: Actor, slug: str) -> Team:
    problem = TranslatableMessage("You administer several teams. Choose one.")
    return Team.objects.get(pk=team_to_change(actor, slug, if_several=problem))


def may_export(actor: Actor, team_id: UUID) -> bool:
    return {Permission.READ, Permission.ADMIN} <= set(permissions_in(actor, team_id))


def exported_entries(scope: ExportScope, filters: EntryFilter) -> "QuerySet[AuditEntry]":
    """Return the entries of a trail that match the filter, unordered."""
    indexed, condition = _conditions(filters)
    entries = AuditEntry.objects.filter(reduce(or_, indexed), condition, team=scope.team)
    return entries.filter(chain=scope.thread.pk) if scope.thread else entries


# -- filter conditions ----------------------------------------------------------------------------


def _conditions(filters: EntryFilter) -> tuple[list[Q], Q]:
    """Return alternatives that each have an index with the team, and the other conditions."""
    indexed, condition = [Q()], reduce(and_, map(_has_word, filters.words), _unindexed(filters))
    if filters.by:
        indexed = [Q(actor_kind=kind, actor_id=filters.by) for kind in filters.kinds]
    if filters.action:
        condition &= Q(action=filters.action) if filters.by else Q()
        indexed = indexed if filters.by else [Q(action=filters.action)]
    if filters.thread:
        indexed = [part & Q(chain=filters.thread) for part in indexed]
    return indexed, condition


def _unindexed(filters: EntryFilter) -> Q:
    """Return the conditions that have no index."""
    condition = Q()
    if filters.agent:
        condition &= Q(thread__agent__slug=filters.agent)
    if filters.tool:
        condition &= Q(tool_call__name=filters.tool) | Q(interrupt__tool_call__name=filters.tool)
    if filters.verdict:
        verdict = "" if filters.verdict == UNDECIDED else filters.verdict
        condition &= Q(tool_call__verdict=verdict) | Q(interrupt__tool_call__verdict=verdict)
    if filters.since:
        condition &= Q(at__gte=_start_of(filters.since))
    if filters.until and filters.until < date.max:
        condition &= Q(at__lt=_start_of(filters.until + timedelta(days=1)))
    return condition


def _start_of(day: date) -> datetime:
    return datetime.combine(day, time.min, UTC)


def _has_word(word: str) -> Q:
    """Return the condition that a word occurs, ignoring case (on SQLite, of ASCII only)."""
    heading = Q(interrupt__title__icontains=word) | Q(interrupt__message__icontains=word)
    return Q(payload__text__icontains=word) | Q(action__icontains=word) | heading


def _with_words(words: Sequence[str], rows: Sequence[AuditEntry]) -> Sequence[AuditEntry]:
    """Return the entries with the words outside of masks: a search must not reveal secrets."""
    if not words:
        return rows
    bodies = interrupt_bodies_by_id(rows)
    return [row for row in rows if all(word.casefold() in _text_of(row, bodies) for word in words)]


def _text_of(entry: AuditEntry, bodies: Mapping[UUID, Sequence[str]]) -> str:
    payload = entry.content
    detail = masked_detail(payload["detail"], *bodies_of_entry(entry, bodies))
    # The same separators as in stored payloads, also for payloads that were tampered with.
    text = json.dumps({**payload, "detail": detail}, ensure_ascii=False, separators=(",", ":"))
    row = entry.interrupt
    heading = f"{row.title}\n{row.message}" if row else ""
    return f"{entry.action}\n{heading}\n{text}".casefold()


def _load(ids: Sequence[int]) -> list[AuditEntry]:
    rows = AuditEntry.objects.filter(pk__in=ids).select_related("payload", "team", "interrupt")
    return list(rows.defer(*_HEAVY).order_by("-pk"))
