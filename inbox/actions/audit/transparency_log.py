"""Appending audit entries to the transparency log, and signing checkpoints."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import transaction

from inbox.actions.audit import audit_trail
from inbox.models import AuditBlock, AuditCheckpoint, AuditLeaf, CheckpointSink
from inbox.models.locks import lock_checkpoint_sink
from inbox.platform.clock import database_now
from inbox.queries.audit import trail
from inbox.queries.audit.merkle_nodes import blocks_match, leaves_of_block
from inbox.rules.audit.merkle import BLOCK, Frontier, leaf_hash, root_of
from inbox.rules.audit.signed_checkpoint import SigningKey, checkpoint, read_checkpoint
from inbox.rules.people.access import SWEEPER, Actor

#: Entries of one checkpoint: writers of SQLite wait for about 10 ms while it is signed.
AT_ONCE = 500
SINK_AT_ONCE = 20
#: The lease of the process that sends to a sink, and the pause after a failure.
SINK_LEASE, SINK_PAUSE = timedelta(minutes=5), timedelta(minutes=1)


class LogMismatch(Exception):
    """The log cannot continue the last checkpoint; `code` is in PROBLEMS of the verifier."""

    def __init__(self, code: str, problem: str) -> None:
        super().__init__(problem)
        self.code = code


@transaction.atomic(durable=True)
def sign_entries(*, key: SigningKey, entries: Sequence[tuple[int, str]]) -> AuditCheckpoint:
    """
    Append entries that are not in the log, as (id, hash), and sign a checkpoint.

    A concurrent call for the same entries fails at the constraints and changes nothing.

    Raises:
        LogMismatch.
    """
    return _append_and_sign(key, entries)


@transaction.atomic(durable=True)
def remove_uncommitted_leaves() -> None:
    """Delete leaves after the last checkpoint, whose positions block new ones; record that."""
    leaves = trail.uncommitted_leaves()
    if leaves:
        AuditLeaf.objects.filter(position__in=[position for position, _ in leaves]).delete()
        audit_trail.record("audit.leaves_removed", SWEEPER, database_now(), leaves=leaves)


def check_last_checkpoint(key: SigningKey) -> int:
    """
    Return the size of the log if this key may continue it.

    Raises:
        LogMismatch.
    """
    last = AuditCheckpoint.objects.order_by("-size").first()
    return _frontier_of(last, key).size if last else 0


@transaction.atomic(durable=True)
def rebuild_blocks() -> bool:
    """
    Rebuild the stored roots of blocks if they are wrong; return whether they were.

    Raises:
        LogMismatch.
    """
    if are_blocks_valid():
        return False
    size = AuditCheckpoint.objects.order_by("-size").values_list("size", flat=True)[0]
    _store_blocks(
        AuditBlock(number=number, root=root_of(leaves_of_block(number, size)).hex())
        for number in range(size // BLOCK)
    )
    return True


def are_blocks_valid() -> bool:
    """
    Return whether the stored roots of blocks match the log.

    Raises:
        LogMismatch: the last checkpoint cannot be used.
    """
    last = AuditCheckpoint.objects.order_by("-size").first()
    return last is None or blocks_match(_frontier_of(last))


@transaction.atomic(durable=True)
def rotate_key(*, key: SigningKey, next_key: SigningKey, actor: Actor) -> AuditCheckpoint:
    """
    Sign a checkpoint with both keys that names the next key.

    Verifiers that trust the old key then trust the new one; only the old key can name it. The audit
    entry about the rotation is part of this checkpoint.
    """
    audit_trail.record(
        "audit.key_rotated", actor, database_now(), key=key.verifier, next_key=next_key.verifier
    )
    now = database_now()
    return _append_and_sign(key, trail.entries_without_leaf(now), next_key)


@dataclass(frozen=True)
class CheckpointBatch:
    """Checkpoints for a sink, as (size, note), and the end of the lease on the sink."""

    until: datetime
    notes: Sequence[tuple[int, str]]


@transaction.atomic(durable=True)
def claim_sink(*, address: str) -> CheckpointBatch | None:
    """
    Lease a sink, and return its next checkpoints; None if there are none.

    Also None while another process has the lease, and for SINK_PAUSE after a failure.
    """
    now = database_now()
    CheckpointSink.objects.get_or_create(address=address)
    sink = lock_checkpoint_sink(address)
    if sink.not_before is not None and sink.not_before > now:
        return None
    later = AuditCheckpoint.objects.filter(size__gt=sink.size).order_by("size")
    notes = list(later.values_list("size", "note")[:SINK_AT_ONCE])
    if not notes:
        return None
    sink.not_before = now + SINK_LEASE
    sink.save(update_fields=["not_before"])
    return CheckpointBatch(sink.not_before, notes)


@transaction.atomic(durable=True)
def record_sent(*, address: str, size: int, until: datetime, is_last: bool) -> datetime | None:
    """
    Record that a sink has the checkpoint of this size; return the new end of the lease.

    Return None without recording if the lease was lost, and None after the last checkpoint, which
    ends the lease.
    """
    now = database_now()
    sink = lock_checkpoint_sink(address)
    if sink.not_before != until:
        return None
    sink.size, sink.problem, sink.tried_at = size, "", now
    sink.not_before = None if is_last else now + SINK_LEASE
    sink.save(update_fields=["size", "problem", "tried_at", "not_before"])
    return sink.not_before


@transaction.atomic(durable=True)
def record_failure(*, address: str, problem: str, until: datetime) -> None:
    """Record why sending to a sink failed, and pause it for SINK_PAUSE."""
    now = database_now()
    sink = lock_checkpoint_sink(address)
    if sink.not_before == until:
        sink.problem, sink.tried_at, sink.not_before = problem[:200], now, now + SINK_PAUSE
        sink.save(update_fields=["problem", "tried_at", "not_before"])


def _append_and_sign(
    key: SigningKey, entries: Sequence[tuple[int, str]], next_key: SigningKey | None = None
) -> AuditCheckpoint:
    now = database_now()
    last = AuditCheckpoint.objects.order_by("-size").first()
    frontier = _frontier_of(last, key) if last else Frontier()
    leaves, blocks = [], []
    for pk, entry_hash in entries:
        leaves.append(AuditLeaf(position=frontier.size, entry_id=pk))
        root = frontier.append(leaf_hash(entry_hash))
        if root is not None:
            blocks.append(AuditBlock(number=frontier.size // BLOCK - 1, root=root.hex()))
    AuditLeaf.objects.bulk_create(leaves, batch_size=5_000)
    _store_blocks(blocks)
    return AuditCheckpoint.objects.create(
        size=frontier.size,
        frontier=frontier.to_text(),
        note=checkpoint(
            size=frontier.size, root=frontier.root(), at=now, key=key, next_key=next_key
        ),
        newest_entry=max([pk for pk, _ in entries] + [last.newest_entry if last else 0]),
        at=now,
    )


def _frontier_of(last: AuditCheckpoint, key: SigningKey | None = None) -> Frontier:
    """Return the Merkle frontier at the last checkpoint; check that `key` may sign after it."""
    try:
        parsed, frontier = read_checkpoint(last.note), Frontier.from_text(last.frontier)
    except ValueError as error:
        raise LogMismatch("checkpoint_unreadable", "the last checkpoint cannot be read") from error
    # A log that is restarted or signed by another key can no longer be verified.
    if key and not (key.has_signed(last.note) and parsed.next in ("", key.verifier)):
        raise LogMismatch(
            "other_key", "the last checkpoint was signed with another key, or names one"
        )
    if (parsed.size, parsed.root) != (frontier.size, frontier.root()) or last.size != parsed.size:
        raise LogMismatch("checkpoint_differs", "the last checkpoint does not match its contents")
    return frontier


def _store_blocks(blocks: Iterable[AuditBlock]) -> None:
    """Store blocks, replacing rows with the same numbers."""
    AuditBlock.objects.bulk_create(
        blocks, update_conflicts=True, unique_fields=["number"], update_fields=["root"]
    )
