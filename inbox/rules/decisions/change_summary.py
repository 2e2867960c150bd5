"""A short summary of a reviewer's changes for lists and titles: `amount 310 → 31`."""

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from inbox.rules.decisions.consent import canonical_json
from inbox.rules.decisions.edits import EDITED
from inbox.rules.decisions.value_diff import ChangeKind, is_short
from inbox.rules.runs.proposals import proposal_of
from inbox.rules.schema.mask_agui import secrets_of_arguments
from inbox.rules.schema.schema_walk import json_nodes
from inbox.rules.schema.secrets import NAMES, NumberedMasks, Secrets, is_mask
from inbox.rules.text.safe_text import escape_invisible

#: The changes that a summary names, and those that it counts.
LISTED, COUNTED = 3, 100
_MAX_NAME = 40
_NUMBER = re.compile(r"-?([0-9]+)(?:\.([0-9]+))?")


@dataclass(frozen=True)
class SummaryLine:
    """A changed value; `before` and `after` are set only if both are short and not secret."""

    name: str  #: "amount", "lines / 2 / quantity"; "" for the whole value
    kind: ChangeKind
    before: str = ""
    after: str = ""
    is_number: bool = False  #: both values are JSON numbers
    unit: str = ""
    is_ambiguous: bool = False  #: another value could be written as `before` is


@dataclass(frozen=True)
class ChangeSummary:
    """The first changes, and the number of the others, up to COUNTED."""

    lines: tuple[SummaryLine, ...] = ()
    others: int = 0

    def __bool__(self) -> bool:
        return bool(self.lines) or self.others > 0


def summary_of(before: Any, after: Any, secrets: Secrets = NAMES) -> ChangeSummary:
    """
    Return the differences between two JSON values, in the order of `before`.

    Unlike `changes_between` it compares texts and items of arrays as a whole, so that a list of
    requests can afford it. Secrets have no values; suspicious characters are escaped.
    """
    masks = NumberedMasks(secrets)
    hidden = masks.hidden(before)
    changes = list(islice(_walk(hidden, masks.hidden(after), ()), COUNTED))
    lines = changes[:LISTED]
    if any(line.after for line in lines):
        looks = Counter(_look(_text(node)) for _, node in json_nodes(hidden) if is_short(node))
        lines = [replace(line, is_ambiguous=looks[_look(line.before)] > 1) for line in lines]
    return ChangeSummary(tuple(lines), max(0, len(changes) - LISTED))


def summary_of_decision(*, interrupt: str, args: str | None, payload: str | None) -> ChangeSummary:
    """
    Return the changes that a decision made; all arguments are JSON texts.

    `interrupt` is the AG-UI Interrupt, `args` the proposed arguments of its tool call, `payload`
    the answer.
    """
    answer = json.loads(payload) if payload else None
    if not isinstance(answer, dict) or answer.get("approved") is not True:
        return ChangeSummary()
    secrets = secrets_of_arguments(interrupt)
    if args is not None:
        proposed = json.loads(args)
        return summary_of(proposed, answer.get(EDITED, proposed), secrets)
    proposal = proposal_of(json.loads(interrupt))
    if proposal is None:
        return ChangeSummary()
    return summary_of(dict(proposal.values), proposal.edited_by(answer), secrets)


def _walk(before: Any, after: Any, path: tuple[str | int, ...]) -> Iterator[SummaryLine]:
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        for key, value in before.items():
            if key in after:
                yield from _walk(value, after[key], (*path, key))
            else:
                yield SummaryLine(_name((*path, key)), ChangeKind.REMOVED)
        for key in after:
            if key not in before:
                yield SummaryLine(_name((*path, key)), ChangeKind.ADDED)
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for position, (old, new) in enumerate(zip(before, after, strict=True)):
            yield from _walk(old, new, (*path, position + 1))
    elif canonical_json(before) != canonical_json(after):
        yield _line(path, before, after)


def _line(path: tuple[str | int, ...], before: Any, after: Any) -> SummaryLine:
    values = (before, after)
    is_secret = any(isinstance(value, str) and is_mask(value) for value in values)
    if is_secret or not all(map(is_short, values)):
        return SummaryLine(_name(path), ChangeKind.CHANGED)
    is_number = all(isinstance(value, int | float) for value in values) and not any(
        isinstance(value, bool) for value in values
    )
    old, new = map(_text, values)
    return SummaryLine(_name(path), ChangeKind.CHANGED, old, new, is_number)


def _look(text: str) -> str:
    """Return the same text for numbers of the same digits: 30, "30.00", and 3000 of cents."""
    number = _NUMBER.fullmatch(text)
    return (number[1] + (number[2] or "")).strip("0") or "0" if number else text


def _text(value: Any) -> str:
    if isinstance(value, str):
        return escape_invisible(value) or '""'
    return json.dumps(value)


def _name(path: tuple[str | int, ...]) -> str:
    name = escape_invisible(" / ".join(map(str, path)))
    return name if len(name) <= _MAX_NAME else "…" + name[1 - _MAX_NAME :]
