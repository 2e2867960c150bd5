"""The Merkle tree of RFC 6962 (section 2.1) over the hashes of audit entries."""

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

EMPTY_ROOT = hashlib.sha256().digest()
#: Nodes of this height are kept, so that a proof reads few leaves: 2^8 of them make a block.
BLOCK_LEVEL = 8
BLOCK = 1 << BLOCK_LEVEL


def leaf_hash(entry_hash: str) -> bytes:
    """The leaf of an entry; the leaf's data is its hash, 32 bytes."""
    return hashlib.sha256(b"\x00" + bytes.fromhex(entry_hash)).digest()


def node_hash(left: bytes, right: bytes) -> bytes:
    return hashlib.sha256(b"\x01" + left + right).digest()


@dataclass
class Frontier:
    """
    A tree that only grows: the roots of its complete subtrees, the largest and oldest first.

    That is all one needs to add leaves and to name the root, however many leaves there are.
    """

    size: int = 0
    roots: list[bytes] = field(default_factory=list)

    def append(self, leaf: bytes) -> bytes | None:
        """Add a leaf; return the root of the block that it completes, if it does."""
        self.size += 1
        node, height, block = leaf, 0, None
        while self.size >> height & 1 == 0:
            node, height = node_hash(self.roots.pop(), node), height + 1
            if height == BLOCK_LEVEL:
                block = node
        self.roots.append(node)
        return block

    def root(self) -> bytes:
        """The root of the whole tree."""
        if not self.roots:
            return EMPTY_ROOT
        *larger, whole = self.roots
        for left in reversed(larger):
            whole = node_hash(left, whole)
        return whole

    def to_text(self) -> str:
        return " ".join([str(self.size), *(root.hex() for root in self.roots)])

    @classmethod
    def from_text(cls, text: str) -> "Frontier":
        size, *roots = text.split()
        return cls(int(size), [bytes.fromhex(root) for root in roots])


def root_of(nodes: Iterable[bytes]) -> bytes:
    """The root of the tree whose leaves, or complete subtrees of one size, are these."""
    frontier = Frontier()
    for node in nodes:
        frontier.append(node)
    return frontier.root()


def inclusion_path(position: int, leaves: Sequence[bytes]) -> list[bytes]:
    """The siblings on the way from a leaf to the root, the lowest first (RFC 6962, 2.1.1)."""
    return list(_path(position, leaves))


def _path(position: int, leaves: Sequence[bytes]) -> Iterator[bytes]:
    if len(leaves) <= 1:
        return
    middle = 1 << (len(leaves) - 1).bit_length() - 1
    if position < middle:
        yield from _path(position, leaves[:middle])
        yield root_of(leaves[middle:])
    else:
        yield from _path(position - middle, leaves[middle:])
        yield root_of(leaves[:middle])
