"""Putting audit entries into the log, and signing what it is then."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import transaction

from inbox.actions.audit import audit_trail
from inbox.models import AuditBlock, AuditCheckpoint, AuditLeaf, AuditSink
from inbox.models.clock import database_now
from inbox.models.locks import lock_checkpoint_sink
from inbox.queries.audit import trail
from inbox.queries.audit.merkle_nodes import blocks_match, leaves_of_block
from inbox.rules.audit.merkle import (
    BLOCK,
    Frontier,
    leaf_hash,
    root_of,
)
from inbox.rules.audit.signed_checkpoint import SigningKey, checkpoint, read_checkpoint
from inbox.rules.people.access import SWEEPER, Actor

AT_ONCE = 20_000
SINK_AT_ONCE = 20
#: Whoever sends to a sink has it for so long; after a failure it is left alone for a moment.
SINK_LEASE, SINK_PAUSE = timedelta(minutes=5), timedelta(minutes=1)


class LogMismatch(Exception):
    """What would be sealed does not follow from the last checkpoint, or with another key."""


@transaction.atomic(durable=True)
def sign_entries(*, key: SigningKey, also: Collection[int] = ()) -> AuditCheckpoint | None:
    """
    Add the entries that are not in the log, AT_ONCE of them at most, and sign a checkpoint.

    Returns None, and signs nothing, if there are none. One process seals; a second one that tries
    at the same time fails at the constraints, and changes nothing. Leaves that somebody else has
    left are taken away, which an entry tells. It is the entries of the last minutes that are looked
    at, and those with the ids `also`.

    Raises:
        LogMismatch.
    """
    return _seal(key, also=also)


@transaction.atomic(durable=True)
def rebuild_blocks() -> bool:
    """
    Make the roots of blocks anew where they are not those of the log; return whether any was.

    Raises:
        LogMismatch.
    """
    if are_blocks_valid():
        return False
    size = AuditCheckpoint.objects.order_by("-size").values_list("size", flat=True)[0]
    _keep_blocks(
        AuditBlock(number=number, root=root_of(leaves_of_block(number, size)).hex())
        for number in range(size // BLOCK)
    )
    return True


def are_blocks_valid() -> bool:
    """
    Whether the roots of blocks that the database keeps are those of the log.

    Raises:
        LogMismatch: the last checkpoint does not say what they should be.
    """
    last = AuditCheckpoint.objects.order_by("-size").first()
    return last is None or blocks_match(_frontier_of(last))


@transaction.atomic(durable=True)
def rotate_key(*, key: SigningKey, next_key: SigningKey, actor: Actor) -> AuditCheckpoint:
    """
    Sign a checkpoint with both keys, which names the one that signs from now on.

    Whoever trusts the key before trusts what follows it; without that key nobody makes another one
    follow. That it was done is the last entry of its chain, and there is always one to seal.
    """
    audit_trail.record(
        action="audit.key_rotated",
        actor=actor,
        now=database_now(),
        key=key.verifier,
        next_key=next_key.verifier,
    )
    made = _seal(key, next_key)
    if made is None:
        raise RuntimeError("There was an entry to seal.")
    return made


@dataclass(frozen=True)
class CheckpointBatch:
    """Checkpoints for a sink, as (size, note), and until when nobody else sends there."""

    until: datetime
    notes: Sequence[tuple[int, str]]


@transaction.atomic(durable=True)
def claim_sink(*, address: str) -> CheckpointBatch | None:
    """
    The next checkpoints for a sink, and a lease on it; None if there are none.

    None as well while somebody else sends there, or after a failure that is not SINK_PAUSE ago.
    """
    now = database_now()
    AuditSink.objects.get_or_create(address=address)
    sink = lock_checkpoint_sink(address)
    if sink.not_before is not None and sink.not_before > now:
        return None
    later = AuditCheckpoint.objects.filter(size__gt=sink.size).order_by("size")
    taken = list(later.values_list("size", "note")[:SINK_AT_ONCE])
    if not taken:
        return None
    sink.not_before = now + SINK_LEASE
    sink.save(update_fields=["not_before"])
    return CheckpointBatch(sink.not_before, taken)


@transaction.atomic(durable=True)
def record_sent(*, address: str, size: int, until: datetime, is_last: bool) -> datetime | None:
    """
    Keep that a sink has the checkpoint of this size; return until when its lease is now.

    None, and nothing is kept, if the lease was lost to somebody else, who sends from there on; None
    as well behind the last one, which ends it.
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
    """Keep why a sink has no later checkpoint, and leave it alone for a moment."""
    now = database_now()
    sink = lock_checkpoint_sink(address)
    if sink.not_before == until:
        sink.problem, sink.tried_at, sink.not_before = problem[:200], now, now + SINK_PAUSE
        sink.save(update_fields=["problem", "tried_at", "not_before"])


def _seal(
    key: SigningKey, next_key: SigningKey | None = None, *, also: Collection[int] = ()
) -> AuditCheckpoint | None:
    now = database_now()
    last = AuditCheckpoint.objects.order_by("-size").first()
    frontier = _frontier_of(last, key) if last else Frontier()
    _take_strays_away(now)
    fresh = trail.entries_without_leaf(now, also=also, limit=AT_ONCE)
    if not fresh:
        return None
    leaves, blocks = [], []
    for pk, entry_hash in fresh:
        leaves.append(AuditLeaf(position=frontier.size, entry_id=pk))
        root = frontier.append(leaf_hash(entry_hash))
        if root is not None:
            blocks.append(AuditBlock(number=frontier.size // BLOCK - 1, root=root.hex()))
    AuditLeaf.objects.bulk_create(leaves, batch_size=5_000)
    _keep_blocks(blocks)
    return AuditCheckpoint.objects.create(
        size=frontier.size,
        frontier=frontier.to_text(),
        note=checkpoint(
            size=frontier.size, root=frontier.root(), at=now, key=key, next_key=next_key
        ),
        newest_entry=max([pk for pk, _ in fresh] + [last.newest_entry if last else 0]),
        at=now,
    )


def _frontier_of(last: AuditCheckpoint, key: SigningKey | None = None) -> Frontier:
    """Where the log goes on behind its last checkpoint; with a key, if that may sign there."""
    try:
        told, frontier = read_checkpoint(last.note), Frontier.from_text(last.frontier)
    except ValueError as error:
        raise LogMismatch("the last checkpoint cannot be read") from error
    # A log that two keys sign by turns, or that begins anew, convinces nobody ever again.
    if key and not (key.has_signed(last.note) and told.next in ("", key.verifier)):
        raise LogMismatch("the last checkpoint was signed with another key, or names one")
    if (told.size, told.root) != (frontier.size, frontier.root()) or last.size != told.size:
        raise LogMismatch("the last checkpoint does not match its contents")
    return frontier


def _take_strays_away(now: datetime) -> None:
    """Make room where somebody has put leaves of their own: they would stop sealing for ever."""
    found = trail.uncommitted_leaves()
    if found:
        AuditLeaf.objects.filter(position__in=[position for position, _ in found]).delete()
        audit_trail.record(action="audit.leaves_removed", actor=SWEEPER, now=now, leaves=found)


def _keep_blocks(blocks: Iterable[AuditBlock]) -> None:
    """Keep them, in the place of what somebody else may have left under their numbers."""
    AuditBlock.objects.bulk_create(
        blocks, update_conflicts=True, unique_fields=["number"], update_fields=["root"]
    )
