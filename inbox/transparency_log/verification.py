"""Verifying the audit trail of this database, and what keeps it besides its entries."""

from collections.abc import Iterable
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.db import DataError, OperationalError
from django.db.models import Max

from inbox.actions.audit.transparency_log import NotOurLog, has_sound_blocks
from inbox.models import AuditCheckpoint, AuditEntry
from inbox.models.clock import database_now
from inbox.queries.audit import trail
from inbox.queries.audit.erasure_notes import with_erasures
from inbox.transparency_log.reconciliation import add_differences
from tools.audit_verifier import UNREADABLE, Key, Verifier

Report = dict[str, Any]

#: A clock that is corrected by less went back without consequences.
CLOCK_TOLERANCE = timedelta(minutes=1)


def verify_all(key: Key | None, outside: Iterable[str] = (), *, with_rows: bool = False) -> Report:
    """
    Verify every entry; `outside` are checkpoints that were kept elsewhere.

    `with_rows` compares the entries with the rows that they are about as well.

    The report is that of the verifier (docs/audit.md): its `verdict` is intact, tampered, or
    unknown; `findings` say where and what, `doubts` why it cannot be told.
    """
    verifier = Verifier(key)
    verifier.trust(trail.checkpoint_notes(), outside)
    _feed(verifier, trail.log_lines())
    for position, entry in trail.uncommitted_leaves():
        verifier.find(f"log {position}", f"entry {entry} was never signed but is in the log")
    try:
        if not has_sound_blocks():
            verifier.find(
                "blocks", "they differ from the log and are rebuilt with the next signature"
            )
    except NotOurLog as problem:
        verifier.find("checkpoints", f"entries cannot be signed: {problem}")
    if with_rows:
        add_differences(verifier)
    return _report(verifier)


def verify_chain(key: Key | None, outside: Iterable[str], *, chain: UUID) -> Report:
    """Verify the entries of a thread or a team, as far as they are in the log."""
    entries = AuditEntry.objects.filter(chain=chain)
    verifier = _verify_part(key, outside, entries)
    if entries.count() != (entries.aggregate(last=Max("seq"))["last"] or 0):
        verifier.find(str(chain), "it has missing entries")
    add_differences(verifier, chain)
    return _report(verifier)


def verify_range(key: Key | None, outside: Iterable[str], *, first: int, last: int) -> Report:
    """Verify the entries from one position of the log to another, both included, from 0."""
    entries = AuditEntry.objects.filter(leaf__position__range=(first, last))
    verifier = _verify_part(key, outside, entries)
    own = verifier.own
    if own and verifier.sealed < min(last + 1, own.size) - first:
        verifier.find(f"log {first} to {last}", f"{verifier.sealed} of these exist")
    return _report(verifier)


def _report(verifier: Verifier) -> Report:
    now = database_now()
    if verifier.own and verifier.own.at > now + CLOCK_TOLERANCE:
        verifier.find(
            "log", "its last checkpoint is in the future: the clock was set back", sure=False
        )
    return verifier.report(now)


def _verify_part(key: Key | None, outside: Iterable[str], entries: Any) -> Verifier:
    point = AuditCheckpoint.objects.order_by("-size").first()
    verifier = Verifier(key, is_whole=False, checkpoint=point.note if point else "")
    if point is not None:
        verifier.trust([point.note, *trail.key_rotations()], outside)
        places = trail.positions_of(entries, point.size)
        _feed(verifier, with_erasures(trail.lines_with_paths(places, point.size)))
    if verifier.newer:
        verifier.find(
            "log", f"{verifier.newer} entries were signed, but that checkpoint is missing"
        )
    return verifier


def _feed(verifier: Verifier, lines: Iterable[Any]) -> None:
    """Check the lines, of which somebody may have made some that no row can be read from."""
    try:
        for line in lines:
            verifier.feed(line)
    except (*UNREADABLE, DataError) as error:
        verifier.find(f"after entry {verifier.entries}", f"the rest cannot be read: {error!r}")
    except OperationalError as error:
        if "decode" not in str(error):  # so SQLite says that a text is none; else it is not there
            raise
        verifier.find(f"after entry {verifier.entries}", f"the rest cannot be read: {error!r}")
