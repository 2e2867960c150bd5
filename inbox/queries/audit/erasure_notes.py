"""Erasure entries that explain the missing payloads of an export."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Any

from inbox.models import AuditEntry
from inbox.queries.audit.trail import lines_of

Line = dict[str, Any]


def with_erasures(lines: Iterable[Line]) -> Iterator[Line]:
    """
    Yield the lines, then the later entries that record the erasure of their payloads.

    The added entries are not in this part of the log and have no position. If several entries
    record the same erasure, the first one is used, so a later erasure does not change an export.
    """
    missing = _MissingPayloads()
    for line in lines:
        missing.add(line)
        yield line
    for chain in missing.chains():
        erasures = AuditEntry.objects.filter(chain=chain, erases_from__isnull=False)
        for line in list(lines_of(erasures.order_by("seq"))):
            if missing.is_explained_by(line):
                missing.add(line)
                yield {**line, "position": None}


class _MissingPayloads:
    """Missing payloads without an erasure entry among the lines, as ranges of seq by chain."""

    def __init__(self) -> None:
        self._ranges: dict[str, list[tuple[int, int]]] = defaultdict(list)
        self._read: dict[str, set[int]] = defaultdict(set)  # the erasures among the lines

    def chains(self) -> list[str]:
        return sorted(chain for chain, ranges in self._ranges.items() if ranges)

    def is_explained_by(self, line: Line) -> bool:
        columns = line["columns"]
        ranges = self._ranges[columns["chain"]]
        is_new = columns["seq"] not in self._read[columns["chain"]]
        return is_new and _without(ranges, *_erased_range(columns)) != ranges

    def add(self, line: Line) -> None:
        columns = line["columns"]
        chain, seq = columns["chain"], columns["seq"]
        if columns["erases_from"] is not None:
            self._read[chain].add(seq)
            self._ranges[chain] = _without(self._ranges[chain], *_erased_range(columns))
        if line["payload"] is None:
            ranges = self._ranges[chain]
            first = ranges.pop()[0] if ranges and ranges[-1][1] == seq - 1 else seq
            ranges.append((first, seq))


def _erased_range(columns: Line) -> tuple[int, int]:
    """Return the range of an erasure, which ends before the erasure entry itself."""
    return columns["erases_from"], min(columns["erases_to"] or 0, columns["seq"] - 1)


def _without(ranges: list[tuple[int, int]], first: int, last: int) -> list[tuple[int, int]]:
    """Return the ranges without first..last."""
    parts = [
        part
        for start, end in ranges
        for part in ((start, min(end, first - 1)), (max(start, last + 1), end))
    ]
    return sorted({(start, end) for start, end in parts if start <= end})
