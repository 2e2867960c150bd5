"""Groups of similar interrupts: their common values, and a column for each difference."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.utils.translation import gettext

from inbox.forms.values import is_same_json
from inbox.queries.decisions.collaboration import claim_on
from inbox.queries.decisions.interrupts import listed_decision
from inbox.rules.decisions.bulk import (
    MAX_VALUE_CHARACTERS,
    MAX_VALUES,
    bulk_obstacle,
    value_text,
)
from inbox.rules.decisions.change_summary import ChangeSummary, summary_of_decision
from inbox.rules.decisions.similarity import differing_paths, flatten_arguments
from inbox.rules.presentations.changed_title import TitlePart, mark_changes
from inbox.rules.presentations.metadata_values import metadata_values, risk_of
from inbox.rules.presentations.reasons import reason_name
from inbox.rules.presentations.values import Look, ValueView
from inbox.rules.presentations.vocabulary import DeclaredFact, present_of
from inbox.rules.runs.headings import has_words
from inbox.rules.runs.states import InterruptStatus
from inbox.rules.schema.mask_agui import secrets_of_arguments
from inbox.rules.schema.secrets import NAMES, NumberedMasks, without_mask_numbers
from inbox.rules.text.safe_text import escape_invisible
from inbox.web.base.numbers import amount_text
from inbox.web.base.translate import translate
from inbox.web.decisions.decision_labels import decision_label_of
from inbox.web.decisions.list_rows import urgency
from inbox.web.presentations.request_facts import fact_view, scalar_views
from inbox.web.presentations.risk_labels import (
    reversibility_label,
    severity_label,
    severity_tone,
    step_label,
    with_author,
)

if TYPE_CHECKING:
    from inbox.models import Interrupt


_EXCERPT_CHARACTERS = 200
#: More than the metadata of a request that can be ticked may have: 1,000 characters of JSON.
_MAX_FACTS = 200
#: With more columns than this, a group is displayed as lists instead of a table.
_MAX_COLUMNS = 6
#: A text that is a number is no other JSON value: it is displayed as on the request's page.
_NUMBER = re.compile(r"-?[0-9][0-9.,eE+-]*")


@dataclass(frozen=True)
class Cell:
    """One value with its path in the arguments."""

    path: str
    text: str
    is_absent: bool = False
    is_cut: bool = False
    is_number: bool = False
    tone: str = ""  #: of a risk: "bad", "warn", "line"
    was: str = ""  #: the proposed value, of one that somebody has changed


@dataclass(frozen=True)
class Column:
    """A value that differs, in a table of similar interrupts."""

    path: str
    is_number: bool  #: in each row that has it


@dataclass(frozen=True)
class Item:
    """One interrupt on the review page."""

    interrupt: Interrupt
    title_parts: Sequence[TitlePart]
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
    columns: Sequence[Column]
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
    arguments = [_argument_cells(row, masks) for row in rows]
    values = [_values(row.current_args, masks) for row in rows]
    facts = [_facts(row) for row in rows]
    columns = [*_columns(values), *_changed_otherwise(arguments)]
    columns, fact_columns = list(dict.fromkeys(columns)), _columns(facts)
    fact_cells = [_fact_cells(row, texts) for row, texts in zip(rows, facts, strict=True)]
    first = rows[0]
    cells = [
        [*_cells(own, columns)[:MAX_VALUES], *_cells(beside, fact_columns)[:_MAX_FACTS]]
        for own, beside in zip(arguments, fact_cells, strict=True)
    ]
    return Group(
        tool=escape_invisible(first.tool),
        reason=escape_invisible(translate(reason_name(first.reason))),
        agent=first.agent.slug,
        team=first.team.name,
        common=[*_common(arguments, columns), *_common(fact_cells, fact_columns)],
        columns=[
            Column(column[0].path, all(cell.is_number or cell.is_absent for cell in column))
            for column in zip(*cells, strict=True)
        ],
        items=[_item(row, own, me, now, selected) for row, own in zip(rows, cells, strict=True)],
    )


def _argument_cells(row: Interrupt, masks: NumberedMasks) -> dict[str, Cell]:
    """Return the arguments that an approval would allow now, with those that were changed."""
    current, proposed = _values(row.current_args, masks), _values(row.args, masks)
    interrupt = _agui_interrupt(row)
    views = scalar_views(row, interrupt, current)
    views_before = scalar_views(row, interrupt, proposed) if current != proposed else {}
    cells = {}
    for path, value in current.items():
        cell = _cell(current, path, views)
        if path in proposed and not is_same_json(proposed[path], value):
            cell = replace(cell, was=_cell(proposed, path, views_before).text)
        cells[path] = cell
    return cells


def _columns(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the paths that differ; those of a single request all do."""
    return differing_paths(rows) if len(rows) > 1 else list(rows[0])


def _changed_otherwise(rows: Sequence[Mapping[str, Cell]]) -> list[str]:
    """Return the paths that people changed in some rows, or from different values."""
    paths = rows[0]
    return [path for path in paths if len({row[path].was for row in rows if path in row}) > 1]


def _common(rows: Sequence[Mapping[str, Cell]], columns: Collection[str]) -> list[Cell]:
    return [cell for path, cell in rows[0].items() if path not in columns]


def _cells(cells: Mapping[str, Cell], columns: Iterable[str]) -> list[Cell]:
    absent = (Cell(escape_invisible(path), "", is_absent=True) for path in columns)
    return [cells.get(path, cell) for path, cell in zip(columns, absent, strict=True)]


def _fact_cells(row: Interrupt, facts: Mapping[str, str]) -> dict[str, Cell]:
    cells = {label: _text_cell(label, text) for label, text in facts.items()}
    label = gettext("Risk")
    if label in cells:
        cells[label] = replace(cells[label], tone=_risk_tone(row))
    return cells


def _risk_tone(row: Interrupt) -> str:
    interrupt = _agui_interrupt(row)
    risk = risk_of(interrupt, present_of(interrupt))
    return "bad" if risk.is_reversible is False else severity_tone(risk.severity)


def _item(
    row: Interrupt, cells: list[Cell], me: int | None, now: datetime, selected: Collection[UUID]
) -> Item:
    obstacle = bulk_obstacle_for(row, me=me, now=now)
    claim = claim_on(row, now)
    message = _agui_interrupt(row).get("message") or ""
    message = "" if has_words(row.title, message) else message
    return Item(
        interrupt=row,
        title_parts=_title_parts(row),
        message=escape_invisible(message)[:MAX_VALUE_CHARACTERS],
        expires_at=row.expires_at if row.status == InterruptStatus.OPEN else None,
        urgency=urgency(row.expires_at, now),
        is_mine=claim is not None and claim.user_id == me,
        cells=cells,
        obstacle=obstacle,
        is_selected=not obstacle and row.pk in selected,
    )


def _title_parts(row: Interrupt) -> Sequence[TitlePart]:
    changes = ChangeSummary()
    if row.endorsed_payload:
        changes = summary_of_decision(
            interrupt=row.body, args=row.args, payload=row.endorsed_payload
        )
    return mark_changes(row.title, changes).parts


def _agui_interrupt(row: Interrupt) -> dict[str, Any]:
    interrupt: dict[str, Any] = json.loads(row.body)
    return interrupt


def _values(args: str | None, masks: NumberedMasks) -> dict[str, Any]:
    """Return masked arguments to compare by path."""
    return flatten_arguments(masks.hidden(json.loads(args) if args else {}))


def _facts(row: Interrupt) -> dict[str, str]:
    """Return the facts beside the arguments by label, as the page of the request shows them."""
    interrupt = _agui_interrupt(row)
    present = present_of({"metadata": NAMES.masked(interrupt.get("metadata"))})
    risk = risk_of(interrupt, present)
    risk_words = (
        severity_label(risk.severity or "", row.author),
        reversibility_label(risk.is_reversible, row.author),
    )
    derived = [
        (gettext("Risk"), " · ".join(filter(None, risk_words))),
        (gettext("Step"), step_label(present.step, row.author)),
    ]
    declared = [
        (gettext("Title"), escape_invisible(present.title)),
        (gettext("Summary"), escape_invisible(present.summary)),
    ]
    beside = flatten_arguments({**metadata_values(interrupt), **present.others})
    declared += [(path, value_text(value)) for path, value in beside.items()]
    declared += map(_declared, present.facts)
    for part in present.sections:
        declared += [(f"{part.title}: {name}", text) for name, text in map(_declared, part.facts)]
    texts: dict[str, str] = {}
    # Arguments stand beside them: an author outside could give a fact the name of one.
    marked = [(with_author(label, row.author), text) for label, text in declared]
    for label, text in [*derived, *marked]:
        name = escape_invisible(label)
        if text:
            texts[name] = f"{texts[name]}\n{text}" if name in texts else text
    return texts


def _declared(fact: DeclaredFact) -> tuple[str, str]:
    view = fact_view(fact)
    # Lists, tables and truth values have no text.
    return view.label, _view_text(view) or value_text(fact.value)


def _view_text(view: ValueView) -> str:
    if view.look in (Look.NUMBER, Look.MONEY):
        return amount_text(view.text, view.unit)
    return view.text


def _cell(values: Mapping[str, Any], path: str, views: Mapping[str, ValueView]) -> Cell:
    view = views.get(path)
    if view is not None and view.look in (Look.NUMBER, Look.MONEY):
        return Cell(escape_invisible(path), _view_text(view), is_number=True)
    return _text_cell(escape_invisible(path), without_mask_numbers(_plain_text(values[path])))


def _plain_text(value: Any) -> str:
    """Return a text without quotes, also one that is a number; other values are JSON."""
    if isinstance(value, str) and (not value or _NUMBER.fullmatch(value)):
        return value
    return value_text(value)


def _text_cell(label: str, text: str) -> Cell:
    is_cut = len(text) > MAX_VALUE_CHARACTERS
    return Cell(label, text[:_EXCERPT_CHARACTERS] if is_cut else text, is_cut=is_cut)
