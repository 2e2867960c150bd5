"""Groups of similar interrupts: their common values, and a column for each difference."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.utils.translation import gettext

from inbox.forms.number_format import number_format
from inbox.queries.decisions.collaboration import claim_on
from inbox.queries.decisions.interrupts import listed_decision
from inbox.rules.decisions.bulk import (
    MAX_VALUE_CHARACTERS,
    MAX_VALUES,
    METADATA,
    bulk_obstacle,
    bulk_values,
    value_text,
)
from inbox.rules.decisions.similarity import differing_paths
from inbox.rules.presentations.reasons import reason_name
from inbox.rules.presentations.values import Look, ValueView
from inbox.rules.runs.headings import has_words
from inbox.rules.runs.states import InterruptStatus
from inbox.rules.schema.mask_agui import secrets_of_arguments
from inbox.rules.schema.secrets import NAMES, NumberedMasks, without_mask_numbers
from inbox.rules.text.safe_text import escape_invisible
from inbox.web.base.translate import translate
from inbox.web.decisions.decision_labels import decision_label_of
from inbox.web.decisions.list_rows import urgency
from inbox.web.presentations.request_facts import scalar_views

if TYPE_CHECKING:
    from inbox.models import Interrupt


_EXCERPT_CHARACTERS = 200
#: With more columns than this, a group is displayed as lists instead of a table.
_MAX_COLUMNS = 4


@dataclass(frozen=True)
class Cell:
    """One value with its path in the arguments."""

    path: str
    text: str
    is_absent: bool = False
    is_cut: bool = False


@dataclass(frozen=True)
class Item:
    """One interrupt on the review page."""

    interrupt: Interrupt
    message: str  #: the agent's message, "" if it equals the title
    expires_at: datetime | None
    urgency: str
    is_mine: bool
    cells: Sequence[Cell]
    obstacle: str  #: the reason that it cannot be selected, "" if it can
    is_selected: bool


@dataclass(frozen=True)
class Group:
    """Interrupts with the same similarity key; common values are listed once."""

    tool: str  #: "" if no tool is called
    reason: str  #: its name in words
    agent: str
    team: str
    common: Sequence[Cell]
    columns: Sequence[str]
    items: Sequence[Item]

    @property
    def is_table(self) -> bool:
        return len(self.items) > 1 and len(self.columns) <= _MAX_COLUMNS


def groups_of(
    rows: Iterable[Interrupt], *, me: int | None, now: datetime, selected: Collection[UUID] = ()
) -> list[Group]:
    """Group similar interrupts, in the order of each group's first one."""
    groups: dict[object, list[Interrupt]] = {}
    for row in rows:
        groups.setdefault(
            (row.team_id, row.similarity_key) if row.similarity_key else row.pk, []
        ).append(row)
    return [_group(group, me, now, selected) for group in groups.values()]


def bulk_obstacle_for(row: Interrupt, *, me: int | None, now: datetime) -> str:
    """Return the reason that the interrupt cannot be decided in bulk, "" if it can."""
    decision_label = decision_label_of(row, listed_decision(row), me)
    claim = claim_on(row, now)
    reasons = (
        (decision_label is not None, f"{decision_label.short}." if decision_label else ""),
        (not row.may_decide, gettext("View only. Reviewers and admins of this team can decide.")),
        (
            row.expires_at is not None and row.expires_at <= now,
            gettext("The request has expired."),
        ),
        (
            claim is not None and claim.user_id != me,
            gettext("Claimed by {who}.").format(who=claim.user.display_name) if claim else "",
        ),
    )
    reason = next((words for applies, words in reasons if applies), "")
    if reason:
        return reason
    obstacle = bulk_obstacle(row.bulk_candidate())
    return translate(obstacle) if obstacle else ""


def _group(
    rows: list[Interrupt], me: int | None, now: datetime, selected: Collection[UUID]
) -> Group:
    # Numbered masks let differing secrets compare as different.
    masks = NumberedMasks(secrets_of_arguments(rows[0].body))
    values = [_values(row, masks) for row in rows]
    views = [
        scalar_views(row, _agui_interrupt(row), value)
        for row, value in zip(rows, values, strict=True)
    ]
    all_paths = list(dict.fromkeys(path for paths in values for path in paths))
    columns = differing_paths(values) if len(rows) > 1 else all_paths
    common = [path for path in all_paths if path not in columns]
    first = rows[0]
    return Group(
        tool=escape_invisible(first.tool),
        reason=escape_invisible(translate(reason_name(first.reason))),
        agent=first.agent.slug,
        team=first.team.name,
        common=[_cell(values[0], path, views[0]) for path in common],
        columns=[_label(path) for path in columns],
        items=[
            _item(row, [_cell(value, path, number_views) for path in columns], me, now, selected)
            for row, value, number_views in zip(rows, values, views, strict=True)
        ],
    )


def _item(
    row: Interrupt, cells: list[Cell], me: int | None, now: datetime, selected: Collection[UUID]
) -> Item:
    obstacle = bulk_obstacle_for(row, me=me, now=now)
    claim = claim_on(row, now)
    message = _agui_interrupt(row).get("message") or ""
    message = "" if has_words(row.title, message) else message
    return Item(
        interrupt=row,
        message=escape_invisible(message)[:MAX_VALUE_CHARACTERS],
        expires_at=row.expires_at if row.status == InterruptStatus.OPEN else None,
        urgency=urgency(row.expires_at, now),
        is_mine=claim is not None and claim.user_id == me,
        cells=cells[:MAX_VALUES],
        obstacle=obstacle,
        is_selected=not obstacle and row.pk in selected,
    )


def _agui_interrupt(row: Interrupt) -> dict[str, Any]:
    interrupt: dict[str, Any] = json.loads(row.body)
    return interrupt


def _values(row: Interrupt, masks: NumberedMasks | None = None) -> dict[str, Any]:
    """Return the values to compare by path, masked if `masks` is given."""
    args = json.loads(row.args) if row.args else {}
    metadata = _agui_interrupt(row).get("metadata")
    if masks is not None:
        args, metadata = masks.hidden(args), NAMES.masked(metadata)
    return bulk_values(args, metadata)


def _label(path: str) -> str:
    return gettext("Metadata") if path == METADATA else escape_invisible(path)


def _cell(values: dict[str, Any], path: str, views: Mapping[str, ValueView]) -> Cell:
    if path not in values:
        return Cell(_label(path), "", is_absent=True)
    view = views.get(path)
    if view is not None and view.look in (Look.NUMBER, Look.MONEY):
        number = number_format().write_grouped(view.text)
        return Cell(_label(path), f"{number} {view.unit}" if view.unit else number)
    text = without_mask_numbers(value_text(values[path]))
    is_cut = len(text) > MAX_VALUE_CHARACTERS
    return Cell(_label(path), text[:_EXCERPT_CHARACTERS] if is_cut else text, is_cut=is_cut)
