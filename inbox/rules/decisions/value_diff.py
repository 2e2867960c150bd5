"""Differences between two JSON values, with word diffs of texts."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import groupby, islice, zip_longest
from typing import Any

from diff_match_patch.diff_match_patch import diff_match_patch

from inbox.rules.decisions.consent import canonical_json

#: Time limits for the diff of one text, and of all texts of two values; when they are used up, the
#: diff is coarser. A page may show hundreds of long texts.
SECONDS, SECONDS_IN_ALL = 0.25, 1.0
#: The limit for each text after the total is used up; 0 would mean no limit.
_MIN_SECONDS = 0.003
#: Texts with fewer pairs of words need no limit.
_FEW_PAIRS = 2_500
#: The number of changes that are listed.
MAX_CHANGES = 500
#: Shorter texts of one line are shown as a whole, before and after.
SHORT_CHARACTERS = 40

#: Types whose equal values are the same JSON.
_PLAIN = (str, int, bool)
_WORDS = re.compile(r"\w+|\s|[^\w\s]")


class ChangeKind(StrEnum):
    ADDED = "added"
    REMOVED = "removed"
    CHANGED = "changed"


@dataclass(frozen=True)
class Piece:
    """A piece of a text: unchanged (""), inserted ("ins") or deleted ("del")."""

    tag: str
    text: Any  #: words of a text, or a value that is not a text


@dataclass(frozen=True)
class Change:
    """A difference at a path of keys and indexes from the root."""

    path: tuple[str | int, ...]
    kind: ChangeKind
    pieces: Sequence[Piece]


class _TimeBudget:
    """The time budget for the diffs of all texts of two values."""

    def __init__(self) -> None:
        self._left = SECONDS_IN_ALL

    def seconds_for(self, pairs: int) -> float:
        """Return the time limit for one diff: at most a quarter of the remaining budget."""
        if pairs <= _FEW_PAIRS:
            return SECONDS
        seconds = min(SECONDS, self._left / 4)
        self._left -= seconds
        return max(_MIN_SECONDS, seconds)


def is_short(value: Any) -> bool:
    """Return True for a value that is easier to read whole than as a diff of words."""
    if isinstance(value, str):
        return len(value) <= SHORT_CHARACTERS and "\n" not in value
    return value is None or isinstance(value, bool | int | float)


def changes_between(before: Any, after: Any) -> list[Change]:
    """
    Return up to MAX_CHANGES differences between two values, in the order of `before`.

    Items of an array are matched by value, so that an insertion at the front is one change.
    """
    return list(islice(_walk(before, after, (), _TimeBudget()), MAX_CHANGES))


def _walk(
    before: Any, after: Any, path: tuple[str | int, ...], budget: _TimeBudget
) -> Iterator[Change]:
    if type(before) is type(after) and type(before) in _PLAIN and before == after:
        return  # most values; their canonical texts cost a hundred times more
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        yield from _walk_objects(before, after, path, budget)
    elif isinstance(before, list) and isinstance(after, list):
        yield from _walk_arrays(before, after, path, budget)
    elif isinstance(before, str) and isinstance(after, str):
        if before != after:
            is_whole = is_short(before) and is_short(after)
            pieces = _whole_texts(before, after) if is_whole else word_pieces(before, after, budget)
            yield Change(path, ChangeKind.CHANGED, pieces)
    elif canonical_json(before) != canonical_json(after):
        yield Change(path, ChangeKind.CHANGED, [Piece("del", before), Piece("ins", after)])


def _walk_objects(
    before: Mapping[str, Any],
    after: Mapping[str, Any],
    path: tuple[str | int, ...],
    budget: _TimeBudget,
) -> Iterator[Change]:
    for key, value in before.items():
        if key in after:
            yield from _walk(value, after[key], (*path, key), budget)
        else:
            yield Change((*path, key), ChangeKind.REMOVED, [Piece("del", value)])
    for key, value in after.items():
        if key not in before:
            yield Change((*path, key), ChangeKind.ADDED, [Piece("ins", value)])


def _walk_arrays(
    before: Sequence[Any], after: Sequence[Any], path: tuple[str | int, ...], budget: _TimeBudget
) -> Iterator[Change]:
    old, new = [canonical_json(item) for item in before], [canonical_json(item) for item in after]
    at = {"del": 0, "ins": 0}
    for is_same, group in groupby(_diff(old, new, budget), lambda piece: not piece[0]):
        if is_same:
            count_same = sum(len(items) for _, items in group)
            at = {side: start + count_same for side, start in at.items()}
            continue
        # Deleted and inserted items at the same index are reported as changed items.
        count = {"del": 0, "ins": 0}
        for side, items in group:
            count[side] += len(items)
        pairs = zip_longest(*(range(at[side], at[side] + count[side]) for side in at))
        for old_at, new_at in pairs:
            if new_at is None:
                yield Change((*path, old_at), ChangeKind.REMOVED, [Piece("del", before[old_at])])
            elif old_at is None:
                yield Change((*path, new_at), ChangeKind.ADDED, [Piece("ins", after[new_at])])
            else:
                yield from _walk(before[old_at], after[new_at], (*path, new_at), budget)
        at = {side: start + count[side] for side, start in at.items()}


def differing_lines(before: str, after: str) -> tuple[frozenset[int], frozenset[int]]:
    """Return the numbers, from 0, of the lines that only one of two texts has."""
    at, only = {"del": 0, "ins": 0}, {"del": set[int](), "ins": set[int]()}
    for tag, lines in _diff(before.split("\n"), after.split("\n"), _TimeBudget()):
        for side in [tag] if tag else at:
            if tag:
                only[side].update(range(at[side], at[side] + len(lines)))
            at[side] += len(lines)
    return frozenset(only["del"]), frozenset(only["ins"])


def _whole_texts(before: str, after: str) -> list[Piece]:
    return [Piece(tag, text) for tag, text in (("del", before), ("ins", after)) if text]


def word_pieces(before: str, after: str, budget: "_TimeBudget | None" = None) -> list[Piece]:
    """Return the word diff of two texts; it is coarser when the time budget is used up."""
    return [
        Piece(tag, "".join(words))
        for tag, words in _diff(
            _WORDS.findall(before), _WORDS.findall(after), budget or _TimeBudget()
        )
    ]


def _diff(
    before: Sequence[str], after: Sequence[str], budget: _TimeBudget
) -> list[tuple[str, list[str]]]:
    """Return the diff of two sequences of texts, each encoded as one character for the engine."""
    codes: dict[str, str] = {}

    def encode(words: Sequence[str]) -> str:
        for word in words:
            if word not in codes:
                number = len(codes)
                # Skip the surrogates, which are not characters.
                codes[word] = chr(number if number < 0xD800 else number + 0x800)
        return "".join(codes[word] for word in words)

    old, new = encode(before), encode(after)
    engine = diff_match_patch()
    engine.Diff_Timeout = budget.seconds_for(len(old) * len(new))
    diffs = engine.diff_main(old, new, False)
    engine.diff_cleanupSemantic(diffs)
    words = {code: word for word, code in codes.items()}
    tags = {engine.DIFF_EQUAL: "", engine.DIFF_DELETE: "del", engine.DIFF_INSERT: "ins"}
    return [(tags[operation], [words[code] for code in text]) for operation, text in diffs]
