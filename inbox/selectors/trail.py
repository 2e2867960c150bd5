"""The audit trail as its verifier reads it: one mapping an entry, as exports have it a line."""

from array import array
from collections.abc import Iterator, Sequence
from typing import Any

from django.db.models import QuerySet

from inbox.domain.merkle import BLOCK, inclusion_path, leaf_hash, root_of
from inbox.domain.trail import moment
from inbox.models import AuditBlock, AuditCheckpoint, AuditEntry, AuditLeaf

_REPEATED = ("chain", "seq", "action", "at", "team", "thread", "run", "interrupt", "tool_call")
_FIELDS = (
    *("body", "hash", "leaf", "payload", "payload__salt", "payload__text"),
    *(*_REPEATED, "actor_kind", "actor_id", "erases_from", "erases_to"),
)
_IDS = ("chain", "team", "thread", "run", "interrupt", "tool_call")
_CHUNK = 5_000
#: So many lines of a part are read at once, between which no query is open.
_PART_CHUNK = 500


def log_lines(size: int | None = None) -> Iterator[dict[str, Any]]:
    """Every entry: those that are in the log by their position, then the others, if no `size`."""
    entries = AuditEntry.objects.all()
    if size is not None:
        yield from _lines(entries.filter(leaf__position__lt=size).order_by("leaf__position"))
        return
    # First, because one that is sealed while the others are read would be among neither.
    unsealed = {line["hash"]: line for line in _lines(entries.filter(leaf=None).order_by("pk"))}
    for line in _lines(entries.filter(leaf__isnull=False).order_by("leaf__position")):
        unsealed.pop(line["hash"], None)
        yield line
    yield from unsealed.values()


def places_of(entries: "QuerySet[AuditEntry]", size: int) -> Sequence[int]:
    """Where those of the entries are that are among the first `size` of the log, in its order."""
    sealed = entries.filter(leaf__position__lt=size).order_by("leaf__position")
    # As numbers of eight bytes: there may be a million of them.
    return array("q", sealed.values_list("leaf__position", flat=True).iterator(chunk_size=_CHUNK))


def at_places(places: Sequence[int]) -> "Iterator[QuerySet[AuditEntry]]":
    """The entries at these places in the log, in its order and a bounded number at a time."""
    for first in range(0, len(places), _PART_CHUNK):
        some = list(places[first : first + _PART_CHUNK])
        yield AuditEntry.objects.filter(leaf__position__in=some).order_by("leaf__position")


def part_lines(places: Sequence[int], size: int) -> Iterator[dict[str, Any]]:
    """
    The entries at these places among the first `size` of the log, each with its path there.

    Between two lines no query is open, so that whoever gets them may take their time.
    """
    paths = Paths(size)
    for entries in at_places(places):
        for line in list(_lines(entries)):
            yield {**line, "path": [node.hex() for node in paths.to(line["position"])]}


class Paths:
    """Inclusion paths in the log of a size, of which little is read."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._blocks = self._roots()
        self._of_block: tuple[int, list[bytes], list[bytes]] = (-1, [], [])

    def to(self, position: int) -> list[bytes]:
        """The siblings on the way from a leaf to the root, the lowest first."""
        block, place = divmod(position, BLOCK)
        if self._of_block[0] != block:
            above = inclusion_path(block, self._blocks)
            self._of_block = (block, self._leaves(block), above)
        _, leaves, above = self._of_block
        return inclusion_path(place, leaves) + above

    def _roots(self) -> list[bytes]:
        whole, rest = divmod(self._size, BLOCK)
        blocks = AuditBlock.objects.filter(number__lt=whole).order_by("number")
        roots = [bytes.fromhex(root) for root in blocks.values_list("root", flat=True)]
        return [*roots, root_of(self._leaves(whole))] if rest else roots

    def _leaves(self, block: int) -> list[bytes]:
        first, behind = block * BLOCK, min((block + 1) * BLOCK, self._size)
        leaves = AuditLeaf.objects.filter(position__gte=first, position__lt=behind)
        hashes = leaves.order_by("position").values_list("entry__hash", flat=True)
        return [leaf_hash(one) for one in hashes]


def notes() -> list[str]:
    """The signed checkpoints that the database has, in their order."""
    return list(AuditCheckpoint.objects.order_by("size").values_list("note", flat=True))


def _lines(entries: "QuerySet[AuditEntry]") -> Iterator[dict[str, Any]]:
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
    columns["at"] = moment(columns["at"])
    return {
        "position": position,
        "hash": entry_hash,
        "body": body,
        "columns": columns,
        "payload": None if paid is None else {"salt": salt, "text": text},
    }
