"""The audit trail as its verifier reads it: one mapping an entry, as exports have it a line."""

from array import array
from collections.abc import Collection, Iterator, Sequence
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Exists, F, OuterRef, QuerySet, Subquery
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
_CHUNK = 5_000
#: Ids are given before a transaction commits: whoever has one for so long has been thrown out.
_LATEST_COMMIT = timedelta(minutes=10)
_HAS_NO_LEAF = ~Exists(AuditLeaf.objects.filter(entry=OuterRef("pk")))
#: So many lines of a part are read at once, between which no query is open.
_PART_CHUNK = 500


def log_lines(size: int | None = None) -> Iterator[dict[str, Any]]:
    """Every entry: those that are in the log by their position, then the others, if no `size`."""
    entries = AuditEntry.objects.all()
    if size is not None:
        yield from lines_of(entries.filter(leaf__position__lt=size).order_by("leaf__position"))
        return
    # First, because one that is sealed while the others are read would be among neither.
    unsealed = {line["hash"]: line for line in lines_of(entries.filter(leaf=None).order_by("pk"))}
    for line in lines_of(entries.filter(leaf__isnull=False).order_by("leaf__position")):
        unsealed.pop(line["hash"], None)
        yield line
    yield from unsealed.values()


def positions_of(entries: "QuerySet[AuditEntry]", size: int) -> Sequence[int]:
    """Where those of the entries are that are among the first `size` of the log, in its order."""
    sealed = entries.filter(leaf__position__lt=size).order_by("leaf__position")
    # As numbers of eight bytes: there may be a million of them.
    return array("q", sealed.values_list("leaf__position", flat=True).iterator(chunk_size=_CHUNK))


def entries_at(places: Sequence[int]) -> "Iterator[QuerySet[AuditEntry]]":
    """The entries at these places in the log, in its order and a bounded number at a time."""
    for first in range(0, len(places), _PART_CHUNK):
        some = list(places[first : first + _PART_CHUNK])
        yield AuditEntry.objects.filter(leaf__position__in=some).order_by("leaf__position")


def lines_with_paths(places: Sequence[int], size: int) -> Iterator[dict[str, Any]]:
    """
    The entries at these places among the first `size` of the log, each with its path there.

    Between two lines no query is open, so that whoever gets them may take their time.
    """
    paths = InclusionPaths(size)
    for entries in entries_at(places):
        for line in list(lines_of(entries)):
            yield {**line, "path": [node.hex() for node in paths.to(line["position"])]}


def checkpoint_notes() -> list[str]:
    """The signed checkpoints that the database has, in their order."""
    return list(AuditCheckpoint.objects.order_by("size").values_list("note", flat=True))


def uncommitted_leaves() -> list[tuple[int, int]]:
    """
    Leaves that no checkpoint commits to, as (position, entry), 100 at most: sealing leaves none.

    In one query: between two, a checkpoint and its leaves may come.
    """
    last = AuditCheckpoint.objects.order_by("-size").values("size")[:1]
    behind = AuditLeaf.objects.filter(position__gte=Coalesce(Subquery(last), 0))
    return list(behind.order_by("position").values_list("position", "entry")[:100])


def entries_without_leaf(
    now: datetime, *, also: Collection[int], most: int
) -> list[tuple[int, str]]:
    """
    Entries that have no leaf, as (id, hash), the oldest first.

    Those of the last minutes, and those with the ids `also`.
    """
    settled = _settled_to(now)
    fresh = AuditEntry.objects.filter(_HAS_NO_LEAF).order_by("pk").values_list("pk", "hash")
    if settled is None:
        return list(fresh[:most])
    # Two queries: for one with an OR, SQLite reads all entries while nobody else can write.
    late = fresh.filter(pk__in=also, pk__lte=settled)
    return [*late, *fresh.filter(pk__gt=settled)[:most]][:most]


def late_entries(now: datetime) -> list[int]:
    """
    The ids of entries that have no leaf and are too old, by their ids, to get one by themselves.

    5,000 of them at most. Reads an index of all entries: a second for a million.
    """
    settled = _settled_to(now)
    if settled is None:
        return []
    # Without "+ 0" SQLite finds the ids in the table, and reads whatever else is there.
    numbered = AuditEntry.objects.annotate(number=F("pk") + 0)
    late = numbered.filter(_HAS_NO_LEAF, number__lte=settled).order_by()
    return list(late.values_list("pk", flat=True)[:_CHUNK])


def _settled_to(now: datetime) -> int | None:
    """The id up to which no transaction can add an entry any more; None if that is not known."""
    points = AuditCheckpoint.objects.filter(at__lt=now - _LATEST_COMMIT).order_by("-size")
    return points.values_list("newest_entry", flat=True).first()


def key_rotations() -> list[str]:
    """The checkpoints that name another key, by which the first key leads to the last."""
    changed = AuditEntry.objects.filter(chain=SYSTEM_CHAIN, action="audit.key_rotated")
    if not changed.exists():  # a million checkpoints are read else, for nothing
        return []
    found = AuditCheckpoint.objects.filter(note__contains="\nnext ").order_by("size")
    return list(found.values_list("note", flat=True))


def lines_of(entries: "QuerySet[AuditEntry]") -> Iterator[dict[str, Any]]:
    """The lines of these entries, in the order of the query."""
    for values in entries.values_list(*_FIELDS).iterator(chunk_size=_CHUNK):
        yield _line(*values)


def _line(
    body: str,
    entry_hash: str,
    position: int | None,
    paid: int | None,
    salt: str | None,
    text: str | None,
    *repeated: Any,
) -> dict[str, Any]:
    columns = dict(zip(_FIELDS[6:], repeated, strict=True))
    for name in _IDS:
        if columns[name] is not None:
            columns[name] = str(columns[name])
    if isinstance(columns["at"], datetime):  # SQLite keeps whatever somebody has put there
        columns["at"] = format_time(columns["at"])
    return {
        "position": position,
        "hash": entry_hash,
        "body": body,
        "columns": columns,
        "payload": None if paid is None else {"salt": salt, "text": text},
    }
