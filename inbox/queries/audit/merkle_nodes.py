"""The Merkle tree over the log, as far as the database keeps it: blocks of 256 leaves and paths."""

from contextlib import suppress

from inbox.models import AuditBlock, AuditCheckpoint, AuditLeaf
from inbox.rules.audit.merkle import (
    BLOCK,
    BLOCK_LEVEL,
    Frontier,
    inclusion_path,
    leaf_hash,
    root_of,
)
from inbox.rules.audit.signed_checkpoint import read_checkpoint


class InclusionPaths:
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
            self._of_block = (block, leaves_of_block(block, self._size), above)
        _, leaves, above = self._of_block
        return inclusion_path(place, leaves) + above

    def _roots(self) -> list[bytes]:
        whole, rest = divmod(self._size, BLOCK)
        last = [root_of(leaves_of_block(whole, self._size))] if rest else []
        with suppress(ValueError):
            roots = stored_block_roots(whole) + last
            note = AuditCheckpoint.objects.values_list("note", flat=True).get(size=self._size)
            if len(roots) == whole + len(last) and root_of(roots) == read_checkpoint(note).root:
                return roots
        # Whoever has changed what is kept shall not make true entries look forged.
        return [root_of(leaves_of_block(block, self._size)) for block in range(whole)] + last


def stored_block_roots(whole: int) -> list[bytes]:
    """
    The roots of the first blocks, as the database has them.

    Raises:
        ValueError: one is none.
    """
    blocks = AuditBlock.objects.filter(number__gte=0, number__lt=whole).order_by("number")
    return [bytes.fromhex(root) for root in blocks.values_list("root", flat=True)]


def leaves_of_block(block: int, size: int) -> list[bytes]:
    """The leaves of a block of the log of this size."""
    first, behind = block * BLOCK, min((block + 1) * BLOCK, size)
    leaves = AuditLeaf.objects.filter(position__gte=first, position__lt=behind)
    hashes = leaves.order_by("position").values_list("entry__hash", flat=True)
    return [_leaf(one) for one in hashes]


def blocks_match(frontier: Frontier) -> bool:
    """Whether the blocks are those of the log that has this frontier."""
    whole = frontier.size >> BLOCK_LEVEL
    with suppress(ValueError):
        made = Frontier()
        for root in stored_block_roots(whole):
            made.append(root)
        # The frontier goes on below whole blocks: its first roots are over these.
        return made.size == whole and made.roots == frontier.roots[: whole.bit_count()]
    return False


def _leaf(entry_hash: str) -> bytes:
    try:
        return leaf_hash(entry_hash)
    except ValueError:
        return bytes(32)  # what somebody has put there is in no log
