"""The Merkle tree of RFC 6962 (section 2.1) over the hashes of audit entries."""

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

EMPTY_ROOT = hashlib.sha256().digest()
#: Nodes of this height are stored, so that a proof reads few leaves: a block has 2^8 leaves.
BLOCK_LEVEL = 8
BLOCK = 1 << BLOCK_LEVEL


def leaf_hash(entry_hash: str) -> bytes:
    """Return the leaf of an entry; its data is the hash, 32 bytes."""
    return hashlib.sha256(b"\x00" + bytes.fromhex(entry_hash)).digest()


def node_hash(left: bytes, right: bytes) -> bytes:
    return hashlib.sha256(b"\x01" + left + right).digest()


@dataclass
class Frontier:
    """
    The roots of a growing tree's complete subtrees, the largest and oldest first.

    They suffice to add leaves and to compute the root.
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
        if not self.roots:
            return EMPTY_ROOT
        *larger, node = self.roots
        for left in reversed(larger):
            node = node_hash(left, node)
        return node

    def to_text(self) -> str:
        return " ".join([str(self.size), *(root.hex() for root in self.roots)])

    @classmethod
    def from_text(cls, text: str) -> "Frontier":
        size, *roots = text.split()
        return cls(int(size), [bytes.fromhex(root) for root in roots])


def root_of(nodes: Iterable[bytes]) -> bytes:
    """Return the root of the tree with these leaves, or complete subtrees of one size."""
    frontier = Frontier()
    for node in nodes:
        frontier.append(node)
    return frontier.root()


def inclusion_path(position: int, leaves: Sequence[bytes]) -> list[bytes]:
    """Return the siblings on the path from a leaf to the root, lowest first (RFC 6962, 2.1.1)."""
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
