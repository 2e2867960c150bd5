"""The audit trail of teams: searching its entries, and what an export of it has."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from functools import reduce
from operator import and_, or_
from uuid import UUID

from django.db.models import Q, QuerySet

from inbox.models import AuditEntry, Team, Thread
from inbox.queries.decisions.masked_values import about_entry, interrupt_bodies_by_id
from inbox.queries.decisions.merge_pages import search
from inbox.queries.people.access import (
    access_scope,
    permissions_in,
    require,
    teams_of,
)
from inbox.queries.people.teams import team_to_change
from inbox.queries.runs.threads import thread_for
from inbox.rules.audit.audit_filters import UNDECIDED, EntryFilter
from inbox.rules.people.access import Actor, Permission
from inbox.rules.schema.mask_agui import masked_detail
from inbox.rules.text.messages import TranslatableMessage


@dataclass(frozen=True)
class AuditEntryPage:
    """A part of what was found, the latest first; it may be empty, with more behind it."""

    rows: Sequence[AuditEntry]
    after: int | None  #: the id where the next page goes on, None at the end


@dataclass(frozen=True)
class ExportScope:
    """What is exported: the trail of a team, or of one of its threads."""

    team: Team
    thread: Thread | None


def entries_for(
    actor: Actor, wanted: EntryFilter, *, limit: int = 50, after: int | None = None
) -> AuditEntryPage:
    """
    The entries about threads of the actor's teams, or of an agent of these, that the filter leaves.

    Those about the teams themselves, their members, keys and webhooks, are for administrators.
    """
    teams, only = access_scope(actor)
    if wanted.team:
        found = Team.objects.filter(pk__in=teams, slug=wanted.team)
        teams = list(found.values_list("pk", flat=True))
    leading, rest = _conditions(wanted)
    administered = teams_of(actor, Permission.ADMIN)
    if not set(teams) <= set(administered):
        rest &= Q(thread__isnull=False) | Q(team__in=administered)
    if only is not None:
        rest &= Q(thread__agent=only)
    parts = [AuditEntry.objects.filter(one, team=team) for team in teams for one in leading]
    page = search(
        parts,
        rest,
        limit=limit,
        after=after,
        show=lambda ids: _saying(wanted.words, _shown(ids)),
    )
    return AuditEntryPage(page.rows, page.after)


def export_scope(actor: Actor, wanted: EntryFilter) -> ExportScope:
    """
    What the actor may export: they read all of it, and administer the team.

    Raises:
        NotFound, Forbidden.
        InvalidValue: neither a thread nor a team is named, and the actor administers several.
    """
    if wanted.thread:
        thread = thread_for(actor, wanted.thread)
        team = thread.team
    else:
        thread, team = None, _team_for(actor, wanted.team)
    require(actor, team.pk, Permission.READ)
    require(actor, team.pk, Permission.ADMIN)
    return ExportScope(team, thread)


def _team_for(actor: Actor, slug: str) -> Team:
    problem = TranslatableMessage("You administer several teams. Choose one.")
    return Team.objects.get(pk=team_to_change(actor, slug, if_several=problem))


def may_export(actor: Actor, team_id: UUID) -> bool:
    return {Permission.READ, Permission.ADMIN} <= set(permissions_in(actor, team_id))


def exported_entries(whose: ExportScope, wanted: EntryFilter) -> "QuerySet[AuditEntry]":
    """The entries of a trail that the filter leaves, in no order."""
    leading, rest = _conditions(wanted)
    entries = AuditEntry.objects.filter(reduce(or_, leading), rest, team=whose.team)
    return entries.filter(chain=whose.thread.pk) if whose.thread else entries


# -- what a filter means --------------------------------------------------------------------------


def _conditions(wanted: EntryFilter) -> tuple[list[Q], Q]:
    """What leads into an index beside the team, several where it is in parts; and what is left."""
    leading, rest = [Q()], reduce(and_, map(_holds, wanted.words), _about(wanted))
    if wanted.by:
        leading = [Q(actor_kind=kind, actor_id=wanted.by) for kind in wanted.kinds]
    if wanted.action:
        rest &= Q(action=wanted.action) if wanted.by else Q()
        leading = leading if wanted.by else [Q(action=wanted.action)]
    if wanted.thread:
        leading = [one & Q(chain=wanted.thread) for one in leading]
    return leading, rest


def _about(wanted: EntryFilter) -> Q:
    """The conditions that have no index."""
    about = Q()
    if wanted.agent:
        about &= Q(thread__agent__slug=wanted.agent)
    if wanted.tool:
        about &= Q(tool_call__name=wanted.tool) | Q(interrupt__tool_call__name=wanted.tool)
    if wanted.verdict:
        verdict = "" if wanted.verdict == UNDECIDED else wanted.verdict
        about &= Q(tool_call__verdict=verdict) | Q(interrupt__tool_call__verdict=verdict)
    if wanted.since:
        about &= Q(at__gte=_begin_of(wanted.since))
    if wanted.until and wanted.until < date.max:
        about &= Q(at__lt=_begin_of(wanted.until + timedelta(days=1)))
    return about


def _begin_of(day: date) -> datetime:
    return datetime.combine(day, time.min, UTC)


def _holds(word: str) -> Q:
    """That a word occurs, in capitals or not (on SQLite as far as it is ASCII)."""
    return Q(payload__text__icontains=word) | Q(action__icontains=word)


def _saying(words: Sequence[str], rows: Sequence[AuditEntry]) -> Sequence[AuditEntry]:
    """Those that have the words where no mask is: nobody finds out a secret by searching for it."""
    if not words:
        return rows
    asked = interrupt_bodies_by_id(rows)
    return [row for row in rows if all(word.casefold() in _shown_of(row, asked) for word in words)]


def _shown_of(entry: AuditEntry, asked: Mapping[UUID, Sequence[str]]) -> str:
    told = entry.told
    masked = {**told, "detail": masked_detail(told["detail"], *about_entry(entry, asked))}
    # As payloads are written, also where somebody has put in what could not have been written.
    text = json.dumps(masked, ensure_ascii=False, separators=(",", ":"))
    return f"{entry.action}\n{text}".casefold()


def _shown(ids: Sequence[int]) -> list[AuditEntry]:
    rows = AuditEntry.objects.filter(pk__in=ids).select_related("payload", "team")
    return list(rows.order_by("-pk"))
