"""Verification of the audit trail in this database, its leaves, blocks and checkpoints."""

from collections.abc import Iterable
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.db import DataError, OperationalError
from django.db.models import Max

from inbox.actions.audit.transparency_log import LogMismatch, are_blocks_valid
from inbox.models import AuditCheckpoint, AuditEntry
from inbox.platform.clock import database_now
from inbox.platform.timers import Pacer
from inbox.queries.audit import trail
from inbox.queries.audit.erasure_notes import with_erasures
from inbox.transparency_log.reconciliation import add_differences
from tools.audit_verifier import UNREADABLE, Key, Verifier

Report = dict[str, Any]

#: A clock that was set back by less than this is not reported.
CLOCK_TOLERANCE = timedelta(minutes=1)


def verify_all(
    key: Key | None,
    outside: Iterable[str] = (),
    *,
    with_rows: bool = False,
    pacer: Pacer | None = None,
) -> Report:
    """
    Verify every entry; `outside` are copies of checkpoints from elsewhere.

    `with_rows` also compares the entries with the rows that they describe. The report
    (docs/audit.md) has a `verdict` (intact, tampered or unknown), `findings`, and `doubts`, the
    reasons for unknown.
    """
    verifier = Verifier(key)
    verifier.trust(trail.checkpoint_notes(), outside)
    _feed(verifier, trail.log_lines(), pacer)
    for position, entry in trail.uncommitted_leaves():
        verifier.find("position", "never_signed", position=position, entry=entry)
    try:
        if not are_blocks_valid():
            verifier.find("blocks", "blocks_differ")
    except LogMismatch as problem:
        verifier.find("checkpoints", problem.code)
    if with_rows:
        add_differences(verifier)
    return _report(verifier)


def verify_chain(key: Key | None, outside: Iterable[str], *, chain: UUID) -> Report:
    """Verify the entries of a thread or a team that are in the log."""
    entries = AuditEntry.objects.filter(chain=chain)
    verifier = _verify_part(key, outside, entries)
    if entries.count() != (entries.aggregate(last=Max("seq"))["last"] or 0):
        verifier.find("chain", "chain_incomplete", chain=chain)
    add_differences(verifier, chain)
    return _report(verifier)


def verify_range(
    key: Key | None, outside: Iterable[str], *, first: int, last: int, pacer: Pacer | None = None
) -> Report:
    """Verify a range of positions in the log, from 0, both ends included."""
    entries = AuditEntry.objects.filter(leaf__position__range=(first, last))
    verifier = _verify_part(key, outside, entries, pacer)
    own = verifier.own
    if own and verifier.sealed < min(last + 1, own.size) - first:
        verifier.find(
            "positions", "positions_missing", first=first, last=last, count=verifier.sealed
        )
    return _report(verifier)


def _report(verifier: Verifier) -> Report:
    now = database_now()
    if verifier.own and verifier.own.at > now + CLOCK_TOLERANCE:
        verifier.find("log", "clock_set_back", sure=False)
    return verifier.report(now)


def _verify_part(
    key: Key | None, outside: Iterable[str], entries: Any, pacer: Pacer | None = None
) -> Verifier:
    point = AuditCheckpoint.objects.order_by("-size").first()
    verifier = Verifier(key, is_whole=False, checkpoint=point.note if point else "")
    if point is not None:
        verifier.trust([point.note, *trail.key_rotations()], outside)
        positions = trail.positions_of(entries, point.size)
        lines = with_erasures(trail.lines_with_paths(positions, point.size))
        _feed(verifier, lines, pacer)
    if verifier.newer:
        verifier.find("log", "checkpoint_missing", size=verifier.newer)
    return verifier


def _feed(verifier: Verifier, lines: Iterable[Any], pacer: Pacer | None) -> None:
    """Check lines, with pauses if there is a pacer; forged rows may be unreadable."""
    try:
        for line in pacer.paced(lines) if pacer else lines:
            verifier.feed(line)
    except (*UNREADABLE, DataError, OperationalError) as error:
        # SQLite's error for an invalid text; others mean that the database is down.
        if isinstance(error, OperationalError) and "decode" not in str(error):
            raise
        verifier.find("after_line", "unreadable", number=verifier.entries, error=repr(error))
