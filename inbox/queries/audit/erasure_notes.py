"""Why payloads are gone that an export should have: the erasures that came after its checkpoint."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Any

from inbox.models import AuditEntry
from inbox.queries.audit.trail import lines_of

Line = dict[str, Any]


def with_erasures(lines: Iterable[Line]) -> Iterator[Line]:
    """
    The lines, and behind them the entries that say why payloads of these are gone.

    Those are not in the log of this size, or not in this part of it, and have no position. Of
    several that say it the first counts: an export does not change with the next erasure.
    """
    gone = _Gone()
    for line in lines:
        gone.take(line)
        yield line
    for chain in gone.chains():
        told = AuditEntry.objects.filter(chain=chain, erases_from__isnull=False).order_by("seq")
        for line in list(lines_of(told)):
            if gone.is_told_by(line):
                gone.take(line)
                yield {**line, "position": None}


class _Gone:
    """The payloads that lines lack and no line says why, as ranges of numbers in their chains."""

    def __init__(self) -> None:
        self._ranges: dict[str, list[tuple[int, int]]] = defaultdict(list)
        self._read: dict[str, set[int]] = defaultdict(set)  # the erasures among the lines

    def chains(self) -> list[str]:
        return sorted(chain for chain, ranges in self._ranges.items() if ranges)

    def is_told_by(self, line: Line) -> bool:
        columns = line["columns"]
        ranges = self._ranges[columns["chain"]]
        is_new = columns["seq"] not in self._read[columns["chain"]]
        return is_new and _without(ranges, *_erased(columns)) != ranges

    def take(self, line: Line) -> None:
        columns = line["columns"]
        chain, seq = columns["chain"], columns["seq"]
        if columns["erases_from"] is not None:
            self._read[chain].add(seq)
            self._ranges[chain] = _without(self._ranges[chain], *_erased(columns))
        if line["payload"] is None:
            ranges = self._ranges[chain]
            first = ranges.pop()[0] if ranges and ranges[-1][1] == seq - 1 else seq
            ranges.append((first, seq))


def _erased(columns: Line) -> tuple[int, int]:
    """What an erasure speaks of: never of itself, nor of what came later."""
    return columns["erases_from"], min(columns["erases_to"] or 0, columns["seq"] - 1)


def _without(ranges: list[tuple[int, int]], first: int, last: int) -> list[tuple[int, int]]:
    """What the ranges have outside of this one."""
    parts = [
        part
        for start, end in ranges
        for part in ((start, min(end, first - 1)), (max(start, last + 1), end))
    ]
    return sorted({(start, end) for start, end in parts if start <= end})
