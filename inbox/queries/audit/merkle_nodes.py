"""Stored nodes of the Merkle tree of the transparency log, and inclusion paths."""

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
    """Inclusion paths in the log of a size; reads one block of leaves at a time."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._blocks = self._roots()
        self._of_block: tuple[int, list[bytes], list[bytes]] = (-1, [], [])

    def to(self, position: int) -> list[bytes]:
        """Return the siblings on the path from a leaf to the root, the lowest first."""
        block, index = divmod(position, BLOCK)
        if self._of_block[0] != block:
            above = inclusion_path(block, self._blocks)
            self._of_block = (block, leaves_of_block(block, self._size), above)
        _, leaves, above = self._of_block
        return inclusion_path(index, leaves) + above

    def _roots(self) -> list[bytes]:
        full_blocks, remainder = divmod(self._size, BLOCK)
        last = [root_of(leaves_of_block(full_blocks, self._size))] if remainder else []
        with suppress(ValueError):
            roots = stored_block_roots(full_blocks) + last
            note = AuditCheckpoint.objects.values_list("note", flat=True).get(size=self._size)
            if (
                len(roots) == full_blocks + len(last)
                and root_of(roots) == read_checkpoint(note).root
            ):
                return roots
        # Tampered blocks must not make valid entries fail: compute the roots from the leaves.
        return [root_of(leaves_of_block(block, self._size)) for block in range(full_blocks)] + last


def stored_block_roots(full_blocks: int) -> list[bytes]:
    """
    Return the stored roots of the first blocks.

    Raises:
        ValueError: a stored root is not hexadecimal.
    """
    blocks = AuditBlock.objects.filter(number__gte=0, number__lt=full_blocks).order_by("number")
    return [bytes.fromhex(root) for root in blocks.values_list("root", flat=True)]


def leaves_of_block(block: int, size: int) -> list[bytes]:
    """Return the leaves of a block in the log of this size."""
    start, end = block * BLOCK, min((block + 1) * BLOCK, size)
    leaves = AuditLeaf.objects.filter(position__gte=start, position__lt=end)
    hashes = leaves.order_by("position").values_list("entry__hash", flat=True)
    return [_leaf(entry_hash) for entry_hash in hashes]


def blocks_match(frontier: Frontier) -> bool:
    """Return whether the stored blocks are those of the log with this frontier."""
    full_blocks = frontier.size >> BLOCK_LEVEL
    with suppress(ValueError):
        stored = Frontier()
        for root in stored_block_roots(full_blocks):
            stored.append(root)
        # The first roots of the frontier cover complete blocks, the others part of a block.
        return (
            stored.size == full_blocks and stored.roots == frontier.roots[: full_blocks.bit_count()]
        )
    return False


def _leaf(entry_hash: str) -> bytes:
    try:
        return leaf_hash(entry_hash)
    except ValueError:
        return bytes(32)  # a tampered hash matches no leaf
