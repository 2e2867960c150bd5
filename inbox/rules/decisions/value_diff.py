"""What differs between two JSON values, down to the words inside long texts."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import groupby
from typing import Any

from diff_match_patch.diff_match_patch import diff_match_patch

from inbox.rules.decisions.consent import canonical_json

#: A comparison of two texts ends after this long with a coarser answer, and so do all comparisons
#: of two values together: one page may show hundreds of long texts that differ.
SECONDS, SECONDS_IN_ALL = 0.25, 1.0
#: For each text that is left when the time is used up; 0 would be no limit at all.
_LEAST_SECONDS = 0.003
#: So few pairs of words are compared in less than that anyway.
_FEW_PAIRS = 2_500
#: More differences than this are counted, not listed.
MAX_CHANGES = 500

_WORDS = re.compile(r"\w+|\s|[^\w\s]")


class ChangeKind(StrEnum):
    ADDED = "added"
    REMOVED = "removed"
    CHANGED = "changed"


@dataclass(frozen=True)
class Piece:
    """A stretch of text that stayed (""), came ("ins") or went ("del")."""

    tag: str
    text: Any  #: words of a text, or a whole value that is no text


@dataclass(frozen=True)
class Change:
    """One place that differs; `path` are keys and positions from the root."""

    path: tuple[str | int, ...]
    kind: ChangeKind
    pieces: Sequence[Piece]


class _Patience:
    """How long the texts of two values may be compared, all of them together."""

    def __init__(self) -> None:
        self._left = SECONDS_IN_ALL

    def seconds_for(self, pairs: int) -> float:
        """For a comparison of so many pairs of words: a quarter of what is left."""
        if pairs <= _FEW_PAIRS:
            return SECONDS
        seconds = min(SECONDS, self._left / 4)
        self._left -= seconds
        return max(_LEAST_SECONDS, seconds)


def changes_between(before: Any, after: Any) -> list[Change]:
    """
    Every place in which `after` differs from `before`, in the order of `before`; at most MOST.

    Items of an array are matched by what they are, so that one more at the front is one change.
    """
    found: list[Change] = []
    for change in _walk(before, after, (), _Patience()):
        found.append(change)
        if len(found) == MAX_CHANGES:
            break
    return found


def _walk(
    before: Any, after: Any, path: tuple[str | int, ...], patience: _Patience
) -> Iterator[Change]:
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        yield from _walk_objects(before, after, path, patience)
    elif isinstance(before, list) and isinstance(after, list):
        yield from _walk_arrays(before, after, path, patience)
    elif isinstance(before, str) and isinstance(after, str):
        if before != after:
            yield Change(path, ChangeKind.CHANGED, word_pieces(before, after, patience))
    elif canonical_json(before) != canonical_json(after):
        yield Change(path, ChangeKind.CHANGED, [Piece("del", before), Piece("ins", after)])


def _walk_objects(
    before: Mapping[str, Any],
    after: Mapping[str, Any],
    path: tuple[str | int, ...],
    patience: _Patience,
) -> Iterator[Change]:
    for key, value in before.items():
        if key in after:
            yield from _walk(value, after[key], (*path, key), patience)
        else:
            yield Change((*path, key), ChangeKind.REMOVED, [Piece("del", value)])
    for key, value in after.items():
        if key not in before:
            yield Change((*path, key), ChangeKind.ADDED, [Piece("ins", value)])


def _walk_arrays(
    before: Sequence[Any], after: Sequence[Any], path: tuple[str | int, ...], patience: _Patience
) -> Iterator[Change]:
    old, new = [canonical_json(item) for item in before], [canonical_json(item) for item in after]
    at = {"del": 0, "ins": 0}
    for is_same, group in groupby(_diff(old, new, patience), lambda piece: not piece[0]):
        if is_same:
            kept = sum(len(items) for _, items in group)
            at = {side: start + kept for side, start in at.items()}
            continue
        # What went and what came in the same place is one item that changed, as far as both go.
        count = {"del": 0, "ins": 0}
        for side, items in group:
            count[side] += len(items)
        for step in range(max(count.values())):
            yield from _walk_pair(before, after, at, count, step, path, patience)
        at = {side: start + count[side] for side, start in at.items()}


def _walk_pair(
    before: Sequence[Any],
    after: Sequence[Any],
    at: Mapping[str, int],
    count: Mapping[str, int],
    step: int,
    path: tuple[str | int, ...],
    patience: _Patience,
) -> Iterator[Change]:
    old, new = at["del"] + step, at["ins"] + step
    if step >= count["ins"]:
        yield Change((*path, old), ChangeKind.REMOVED, [Piece("del", before[old])])
    elif step >= count["del"]:
        yield Change((*path, new), ChangeKind.ADDED, [Piece("ins", after[new])])
    else:
        yield from _walk(before[old], after[new], (*path, new), patience)


def word_pieces(before: str, after: str, patience: "_Patience | None" = None) -> list[Piece]:
    """What stayed, went and came between two texts, by words; coarsely once patience is used up."""
    return [
        Piece(tag, "".join(words))
        for tag, words in _diff(
            _WORDS.findall(before), _WORDS.findall(after), patience or _Patience()
        )
    ]


def _diff(
    before: Sequence[str], after: Sequence[str], patience: _Patience
) -> list[tuple[str, list[str]]]:
    """Compare two sequences of texts; each text stands as one character while they are compared."""
    tokens: list[str] = []
    known: dict[str, str] = {}

    def spelled(words: Sequence[str]) -> str:
        for word in words:
            if word not in known:
                # Beyond the surrogates, which are no characters.
                known[word] = chr(len(tokens) if len(tokens) < 0xD800 else len(tokens) + 0x800)
                tokens.append(word)
        return "".join(known[word] for word in words)

    old, new = spelled(before), spelled(after)
    engine = diff_match_patch()
    engine.Diff_Timeout = patience.seconds_for(len(old) * len(new))
    found = engine.diff_main(old, new, False)
    engine.diff_cleanupSemantic(found)
    words = {char: word for word, char in known.items()}
    tags = {engine.DIFF_EQUAL: "", engine.DIFF_DELETE: "del", engine.DIFF_INSERT: "ins"}
    return [(tags[sort], [words[char] for char in text]) for sort, text in found]
