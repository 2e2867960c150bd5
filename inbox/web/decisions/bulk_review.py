"""Groups of similar interrupts: their common values, and a column for each difference."""

import json
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.urls import reverse
from django.utils.translation import gettext

from inbox.queries.decisions.collaboration import claim_on
from inbox.rules.decisions.bulk import (
    MAX_VALUE_CHARACTERS,
    MAX_VALUES,
    METADATA,
    bulk_obstacle,
    bulk_values,
    value_text,
)
from inbox.rules.decisions.similarity import differing_paths
from inbox.rules.runs.states import InterruptStatus
from inbox.rules.schema.mask_agui import secrets_of_arguments
from inbox.rules.schema.secrets import NAMES, NumberedMasks, without_mask_numbers
from inbox.rules.text.safe_text import escape_invisible
from inbox.web.base.translate import say
from inbox.web.decisions.decision_labels import verdict_of
from inbox.web.decisions.list_rows import urgency

_BEGINNING = 200
#: With more columns than this, a group is displayed as lists instead of a table.
_MOST_COLUMNS = 4


@dataclass(frozen=True)
class Cell:
    """One value with its path in the arguments."""

    place: str
    text: str
    is_absent: bool = False
    is_cut: bool = False


@dataclass(frozen=True)
class Item:
    """One interrupt on the review page."""

    key: str
    box: str  #: the value of its check box: the id and the view digest
    url: str
    title: str
    message: str  #: the agent's message, "" if it equals the title
    asked_at: datetime
    expires_at: datetime | None
    urgency: str
    claimed_by: str
    is_mine: bool
    cells: Sequence[Cell]
    blocked: str  #: the reason that it cannot be selected, "" if it can
    is_ticked: bool


@dataclass(frozen=True)
class Group:
    """Interrupts with the same similarity key; common values are listed once."""

    tool: str
    agent: str
    team: str
    common: Sequence[Cell]
    columns: Sequence[str]
    items: Sequence[Item]

    @property
    def is_table(self) -> bool:
        return len(self.items) > 1 and len(self.columns) <= _MOST_COLUMNS


def groups_of(
    rows: Iterable[Any], *, me: int | None, now: datetime, ticked: Collection[UUID] = ()
) -> list[Group]:
    """Group similar interrupts, in the order of each group's first one."""
    groups: dict[Any, list[Any]] = {}
    for row in rows:
        groups.setdefault(
            (row.team_id, row.similarity_key) if row.similarity_key else row.pk, []
        ).append(row)
    return [_group(group, me, now, ticked) for group in groups.values()]


def why_not(row: Any, *, me: int | None, now: datetime) -> str:
    """Return the reason that the interrupt cannot be decided in bulk, "" if it can."""
    verdict = verdict_of(row, next(iter(row.standing), None), me)
    claim = claim_on(row, now)
    reasons = (
        (verdict is not None, f"{verdict.short}." if verdict else ""),
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
    return say(obstacle) if obstacle else ""


def _group(rows: list[Any], me: int | None, now: datetime, ticked: Collection[UUID]) -> Group:
    # Numbered masks let differing secrets compare as different.
    masks = NumberedMasks(secrets_of_arguments(rows[0].body))
    values = [_values(row, masks) for row in rows]
    places = list(dict.fromkeys(place for paths in values for place in paths))
    columns = differing_paths(values) if len(rows) > 1 else places
    common = [place for place in places if place not in columns]
    first = rows[0]
    return Group(
        tool=escape_invisible(first.tool or first.reason),
        agent=first.agent.slug,
        team=first.team.name,
        common=[_cell(values[0], place) for place in common],
        columns=[_label(place) for place in columns],
        items=[
            _item(row, [_cell(value, place) for place in columns], me, now, ticked)
            for row, value in zip(rows, values, strict=True)
        ],
    )


def _item(
    row: Any, cells: list[Cell], me: int | None, now: datetime, ticked: Collection[UUID]
) -> Item:
    blocked = why_not(row, me=me, now=now)
    claim = claim_on(row, now)
    title, message = escape_invisible(row.title), escape_invisible(_asked(row).get("message") or "")
    return Item(
        key=str(row.pk),
        box=f"{row.pk}:{row.shown_digest}",
        url=reverse("interrupt", args=[row.pk]),
        title=title,
        message="" if message == title else message[:MAX_VALUE_CHARACTERS],
        asked_at=row.created_at,
        expires_at=row.expires_at if row.status == InterruptStatus.OPEN else None,
        urgency=urgency(row.expires_at, now),
        claimed_by=claim.user.display_name if claim else "",
        is_mine=claim is not None and claim.user_id == me,
        cells=cells[:MAX_VALUES],
        blocked=blocked,
        is_ticked=not blocked and row.pk in ticked,
    )


def _asked(row: Any) -> dict[str, Any]:
    interrupt: dict[str, Any] = json.loads(row.body)
    return interrupt


def _values(row: Any, masks: NumberedMasks | None = None) -> dict[str, Any]:
    """Return the values to compare by path, masked if `masks` is given."""
    args = json.loads(row.args) if row.args else {}
    metadata = _asked(row).get("metadata")
    if masks is not None:
        args, metadata = masks.hidden(args), NAMES.masked(metadata)
    return bulk_values(args, metadata)


def _label(place: str) -> str:
    return gettext("Metadata") if place == METADATA else escape_invisible(place)


def _cell(values: dict[str, Any], place: str) -> Cell:
    if place not in values:
        return Cell(_label(place), "", is_absent=True)
    text = without_mask_numbers(value_text(values[place]))
    is_cut = len(text) > MAX_VALUE_CHARACTERS
    return Cell(_label(place), text[:_BEGINNING] if is_cut else text, is_cut=is_cut)
