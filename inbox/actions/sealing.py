"""Putting audit entries into the log, and signing what it is then."""

from collections.abc import Sequence
from datetime import timedelta

from django.db import transaction

from inbox.actions import audit
from inbox.domain.access import Actor
from inbox.domain.merkle import BLOCK, Frontier, leaf_hash
from inbox.domain.notes import SigningKey, checkpoint, read_checkpoint
from inbox.models import AuditBlock, AuditCheckpoint, AuditEntry, AuditLeaf, AuditSink
from inbox.models.clock import database_now

AT_ONCE = 20_000
#: Ids are given before a transaction commits: whoever has one for so long has been thrown out.
LATEST_COMMIT = timedelta(minutes=10)
SINK_AT_ONCE = 20
#: Whoever sends to a sink has it for so long; after a failure it is left alone for a moment.
SINK_LEASE, SINK_PAUSE = timedelta(minutes=5), timedelta(minutes=1)


@transaction.atomic(durable=True)
def seal(*, key: SigningKey) -> AuditCheckpoint | None:
    """
    Add the entries that are not in the log, AT_ONCE of them at most, and sign a checkpoint.

    Returns None, and signs nothing, if there are none. One process seals; a second one that tries
    at the same time fails at the constraints, and changes nothing.

    Raises:
        NotOurLog.
    """
    return _seal(key)


@transaction.atomic(durable=True)
def rotate_key(*, key: SigningKey, next_key: SigningKey, actor: Actor) -> AuditCheckpoint:
    """
    Sign a checkpoint with both keys, which names the one that signs from now on.

    Whoever trusts the key before trusts what follows it; without that key nobody makes another one
    follow. That it was done is the last entry of its chain, and there is always one to seal.
    """
    audit.record(
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


@transaction.atomic(durable=True)
def take_sink(*, address: str) -> Sequence[tuple[int, str]] | None:
    """
    The next checkpoints for a sink, as (size, note), and a lease on it; None if there are none.

    None as well while somebody else sends there, or after a failure that is not SINK_PAUSE ago.
    """
    now = database_now()
    AuditSink.objects.get_or_create(address=address)
    sink = AuditSink.objects.select_for_update().get(address=address)
    if sink.not_before is not None and sink.not_before > now:
        return None
    later = AuditCheckpoint.objects.filter(size__gt=sink.size).order_by("size")
    taken = list(later.values_list("size", "note")[:SINK_AT_ONCE])
    if not taken:
        return None
    sink.not_before = now + SINK_LEASE
    sink.save(update_fields=["not_before"])
    return taken


@transaction.atomic(durable=True)
def record_sent(*, address: str, size: int, problem: str) -> None:
    """Keep that a sink has the checkpoint of this size, or what its problem is."""
    now = database_now()
    sink = AuditSink.objects.select_for_update().get(address=address)
    sink.size, sink.problem, sink.tried_at = max(sink.size, size), problem[:200], now
    sink.not_before = now + SINK_PAUSE if problem else None
    sink.save(update_fields=["size", "problem", "tried_at", "not_before"])


class NotOurLog(Exception):
    """What would be sealed does not follow from the last checkpoint, or with another key."""


def _seal(key: SigningKey, next_key: SigningKey | None = None) -> AuditCheckpoint | None:
    now = database_now()
    last = AuditCheckpoint.objects.order_by("-size").first()
    frontier = Frontier.from_text(last.frontier) if last else Frontier()
    if last is not None:
        told = read_checkpoint(last.note)
        # A log that two keys sign by turns, or that begins anew, convinces nobody ever again.
        if not (told.next == key.verifier if told.next else key.has_signed(last.note)):
            raise NotOurLog("the last checkpoint was signed with another key, or names another one")
        if (told.size, told.root) != (frontier.size, frontier.root()) or last.size != told.size:
            raise NotOurLog("the last checkpoint is not what it says it is")
    long_ago = AuditCheckpoint.objects.filter(at__lt=now - LATEST_COMMIT).order_by("-size").first()
    unsealed = AuditEntry.objects.filter(pk__gt=long_ago.newest_entry if long_ago else 0, leaf=None)
    fresh = list(unsealed.order_by("pk").values_list("pk", "hash")[:AT_ONCE])
    if not fresh:
        return None
    leaves, blocks = [], []
    for pk, entry_hash in fresh:
        leaves.append(AuditLeaf(position=frontier.size, entry_id=pk))
        root = frontier.append(leaf_hash(entry_hash))
        if root is not None:
            blocks.append(AuditBlock(number=frontier.size // BLOCK - 1, root=root.hex()))
    AuditLeaf.objects.bulk_create(leaves, batch_size=5_000)
    AuditBlock.objects.bulk_create(blocks)
    return AuditCheckpoint.objects.create(
        size=frontier.size,
        frontier=frontier.to_text(),
        note=checkpoint(
            size=frontier.size, root=frontier.root(), at=now, key=key, next_key=next_key
        ),
        newest_entry=max([pk for pk, _ in fresh] + [last.newest_entry if last else 0]),
        at=now,
    )
