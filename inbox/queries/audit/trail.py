"""The audit trail as the verifier reads it: one mapping for each entry, a line of an export."""

from array import array
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Exists, F, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce

from inbox.models import AuditCheckpoint, AuditEntry, AuditLeaf
from inbox.queries.audit.merkle_nodes import InclusionPaths
from inbox.rules.audit.audit_entry import SYSTEM_CHAIN, format_time

_REPEATED = ("chain", "seq", "action", "at", "team", "thread", "run", "interrupt", "tool_call")
_FIELDS = (
    *("body", "hash", "leaf", "payload", "payload__salt", "payload__text"),
    *(*_REPEATED, "actor_kind", "actor_id", "erases_from", "erases_to"),
)
_IDS = ("chain", "team", "thread", "run", "interrupt", "tool_call")
#: Rows that are made Python values at once: a few milliseconds in which no other thread runs.
_CHUNK = 250
#: Entries that are read at once to be signed.
UNSIGNED_AT_ONCE = 5_000
#: Ids are assigned before commit; transactions that are open for longer are terminated.
_LATEST_COMMIT = timedelta(minutes=10)
_HAS_NO_LEAF = ~Exists(AuditLeaf.objects.filter(entry=OuterRef("pk")))
#: The number of lines of a part that are read in one query.
_PART_CHUNK = 500


def log_lines(size: int | None = None) -> Iterator[dict[str, Any]]:
    """Yield all entries: those in the log by position, then the others unless `size` is given."""
    entries = AuditEntry.objects.all()
    if size is not None:
        yield from lines_of(entries.filter(leaf__position__lt=size).order_by("leaf__position"))
        return
    # Read these first: an entry that gets its leaf meanwhile would be missing from both reads.
    without_leaf = _array(entries.filter(leaf=None).order_by("pk").values_list("pk", flat=True))
    last_position = -1
    for line in lines_of(entries.filter(leaf__isnull=False).order_by("leaf__position")):
        last_position = line["position"]
        yield line
    is_new = Q(leaf=None) | Q(leaf__position__gt=last_position)
    for first in range(0, len(without_leaf), _PART_CHUNK):
        rows = entries.filter(is_new, pk__in=list(without_leaf[first : first + _PART_CHUNK]))
        for line in list(lines_of(rows.order_by("pk"))):
            yield {**line, "position": None}


def positions_of(entries: "QuerySet[AuditEntry]", size: int) -> Sequence[int]:
    """Return the positions of these entries in the log of this size, in order."""
    rows = entries.filter(leaf__position__lt=size).order_by("leaf__position")
    return _array(rows.values_list("leaf__position", flat=True))


def entries_at(positions: Sequence[int]) -> "Iterator[QuerySet[AuditEntry]]":
    """Yield the entries at these positions, in order, _PART_CHUNK at a time."""
    for first in range(0, len(positions), _PART_CHUNK):
        chunk = list(positions[first : first + _PART_CHUNK])
        yield AuditEntry.objects.filter(leaf__position__in=chunk).order_by("leaf__position")


def lines_with_paths(positions: Sequence[int], size: int) -> Iterator[dict[str, Any]]:
    """
    Yield the entries at these positions in the log of this size, each with its inclusion path.

    No query is open between two lines, so the consumer may be slow.
    """
    paths = InclusionPaths(size)
    for entries in entries_at(positions):
        for line in list(lines_of(entries)):
            yield {**line, "path": [node.hex() for node in paths.to(line["position"])]}


def checkpoint_notes() -> list[str]:
    """Return the signed notes of all checkpoints, by size."""
    return list(AuditCheckpoint.objects.order_by("size").values_list("note", flat=True))


def uncommitted_leaves() -> list[tuple[int, int]]:
    """
    Return up to 100 leaves that no checkpoint commits to, as (position, entry).

    Leaves and their checkpoint are written in one transaction, so there should be none. One query,
    because a checkpoint may be added between two.
    """
    last = AuditCheckpoint.objects.order_by("-size").values("size")[:1]
    leaves = AuditLeaf.objects.filter(position__gte=Coalesce(Subquery(last), 0))
    return list(leaves.order_by("position").values_list("position", "entry")[:100])


def entries_without_leaf(now: datetime, *, after: int | None = None) -> list[tuple[int, str]]:
    """
    Return up to UNSIGNED_AT_ONCE entries without a leaf, as (id, hash), the oldest first.

    These are the entries of the last minutes with ids greater than `after`.
    """
    rows = AuditEntry.objects.filter(_HAS_NO_LEAF)
    for limit in (after, _settled_id(now)):
        rows = rows if limit is None else rows.filter(pk__gt=limit)
    return list(rows.order_by("pk").values_list("pk", "hash")[:UNSIGNED_AT_ONCE])


def late_entries(now: datetime) -> list[tuple[int, str]]:
    """
    Return up to UNSIGNED_AT_ONCE entries without a leaf that are too old to get one regularly.

    Reads an index of all entries: one second for a million.
    """
    settled_id = _settled_id(now)
    if settled_id is None:
        return []
    # "+ 0" makes SQLite scan an index instead of the table with all its columns.
    numbered = AuditEntry.objects.annotate(number=F("pk") + 0)
    late = numbered.filter(_HAS_NO_LEAF, number__lte=settled_id).order_by()
    # The hashes by a second query: they are not in the index.
    numbers = list(late.values_list("pk", flat=True)[:UNSIGNED_AT_ONCE])
    return list(AuditEntry.objects.filter(pk__in=numbers).order_by("pk").values_list("pk", "hash"))


def _settled_id(now: datetime) -> int | None:
    """Return the id up to which no transaction can add an entry any more; None if unknown."""
    checkpoints = AuditCheckpoint.objects.filter(at__lt=now - _LATEST_COMMIT).order_by("-size")
    return checkpoints.values_list("newest_entry", flat=True).first()


def key_rotations() -> list[str]:
    """Return the notes of the checkpoints that name the next signing key, by size."""
    entries = AuditEntry.objects.filter(chain=SYSTEM_CHAIN, action="audit.key_rotated")
    if not entries.exists():  # avoids a scan of all checkpoints
        return []
    checkpoints = AuditCheckpoint.objects.filter(note__contains="\nnext ").order_by("size")
    return list(checkpoints.values_list("note", flat=True))


def _array(numbers: Any) -> Sequence[int]:
    """Return integers of 8 bytes: there may be a million."""
    return array("q", numbers.iterator(chunk_size=_CHUNK))


def lines_of(entries: "QuerySet[AuditEntry]") -> Iterator[dict[str, Any]]:
    """Yield the lines of these entries, in the order of the query."""
    for values in entries.values_list(*_FIELDS).iterator(chunk_size=_CHUNK):
        yield _line(*values)


def _line(
    body: str,
    entry_hash: str,
    position: int | None,
    payload_id: int | None,
    salt: str | None,
    text: str | None,
    *repeated: Any,
) -> dict[str, Any]:
    columns = dict(zip(_FIELDS[6:], repeated, strict=True))
    for name in _IDS:
        if columns[name] is not None:
            columns[name] = str(columns[name])
    if isinstance(columns["at"], datetime):  # SQLite stores any value in the column
        columns["at"] = format_time(columns["at"])
    return {
        "position": position,
        "hash": entry_hash,
        "body": body,
        "columns": columns,
        "payload": None if payload_id is None else {"salt": salt, "text": text},
    }
