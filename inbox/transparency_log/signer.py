"""Signing: appends audit entries to the log, signs checkpoints, and writes signed exports."""

import hashlib
import json
import math
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import chain
from pathlib import Path
from typing import Any

import structlog
from django.conf import settings
from django.db.models import QuerySet

from inbox.actions.audit.export_signatures import (
    fetch_export_signature,
    request_export_signature,
)
from inbox.actions.audit.transparency_log import (
    AT_ONCE,
    LogMismatch,
    check_last_checkpoint,
    rebuild_blocks,
    remove_uncommitted_leaves,
    sign_entries,
)
from inbox.models import AuditCheckpoint, AuditEntry
from inbox.platform.clock import database_now
from inbox.platform.timers import Pacer, Timer
from inbox.queries.audit import trail
from inbox.queries.audit.erasure_notes import with_erasures
from inbox.rules.audit.signed_checkpoint import SigningKey, signed_export
from inbox.rules.errors import NotFound, NotSigned
from inbox.rules.text.messages import TranslatableMessage
from inbox.transparency_log import checkpoint_sinks, entry_sinks
from inbox.transparency_log.signing_keys import existing_key, signing_key

log = structlog.get_logger(__name__)

#: Interval of the thorough check for entries that were inserted late.
THOROUGH_CHECK_SECONDS = 900.0
#: How long an export waits for the signature of a separate signer.
SIGNER_SECONDS = 30.0


def append_and_sign(*, thoroughly: bool | None = None, seconds: float = math.inf) -> int:
    """
    Append new audit entries to the log, sign checkpoints, and return the number of new entries.

    Pauses between checkpoints while the process is busy, and stops after some seconds; `is_behind`
    tells whether there is more to sign. With `thoroughly` it also finds entries that were inserted
    late and repairs the block cache; None does so every THOROUGH_CHECK_SECONDS.
    """
    key = signing_key()
    late = (
        _find_late_entries()
        if thoroughly or (thoroughly is None and _thorough_check.is_due())
        else []
    )
    before = size = _size()
    if not _continues_file(Path(settings.AUDIT_CHECKPOINTS)):
        log.error("the checkpoint file belongs to another transparency log, see docs/audit.md")
        return 0
    try:
        check_last_checkpoint(key)
        if trail.uncommitted_leaves():
            remove_uncommitted_leaves()
        for checkpoint in _sign(key, late, until=time.monotonic() + seconds):
            size = checkpoint.size
    except LogMismatch as problem:
        # Repeated until an operator fixes it, so without a traceback.
        log.error("transparency log not signed", problem=str(problem), key=key.verifier)  # noqa: TRY400
        return 0
    try:
        write_checkpoint_file()
    finally:
        checkpoint_sinks.wake_publishers(size)
        entry_sinks.wake_entry_publishers(size)
    return size - before


def is_behind() -> bool:
    """Return whether the last call of `append_and_sign` in this process left entries unsigned."""
    return _signed_to is not None


#: The last signed id while there is more to sign, so that the entries before are not read again;
#: they are every few minutes, because ids are not committed in their order.
_signed_to: int | None = None
_rescan = Timer(300.0)


def _sign(
    key: SigningKey, late: Sequence[tuple[int, str]], *, until: float
) -> Iterator[AuditCheckpoint]:
    """Sign the late entries, then the others in the order of their ids, AT_ONCE at a time."""
    global _signed_to  # noqa: PLW0603
    pacer, after = Pacer(), None if _rescan.is_due() else _signed_to
    while True:
        unsigned = trail.entries_without_leaf(database_now(), after=after)
        entries, late = [*late, *unsigned], []
        for first in range(0, len(entries), AT_ONCE):
            part = entries[first : first + AT_ONCE]
            yield sign_entries(key=key, entries=part)
            if time.monotonic() > until:
                _signed_to = part[-1][0]
                return
            pacer.pause_if_due()
        if len(unsigned) < trail.UNSIGNED_AT_ONCE:
            _signed_to = None  # the next call signs entries that arrived meanwhile
            return
        after = unsigned[-1][0]


def _find_late_entries() -> list[tuple[int, str]]:
    """Repair the block cache, and return the entries that the regular scan misses."""
    with suppress(LogMismatch):  # reported by signing
        if rebuild_blocks():
            log.warning("blocks of the transparency log rebuilt, they did not match")
    late = trail.late_entries(database_now())
    if late:
        _thorough_check.reset()  # there may be more
        log.warning("audit entries inserted late", first=[pk for pk, _ in late[:5]])
    return late


#: Used by the process that runs the sweeper.
_thorough_check = Timer(THOROUGH_CHECK_SECONDS)


def _size() -> int:
    newest = AuditCheckpoint.objects.order_by("-size").values_list("size", flat=True).first()
    return newest or 0


def _continues_file(path: Path) -> bool:
    """Return whether the database has the file's last checkpoint; a restored backup has not."""
    size, note = _last_checkpoint_in(path)
    return not note or AuditCheckpoint.objects.filter(size=size, note=note).exists()


def export_lines(
    entries: "QuerySet[AuditEntry] | None" = None, *, size: int | None = None
) -> Iterator[bytes]:
    """
    Yield the lines of an export of the whole log, or of some of its entries.

    It rests on the checkpoint of this size, or on the newest. An export at the same size is the
    same, byte by byte.

    Raises:
        NotFound: there is no such checkpoint.
    """
    point = checkpoint_of(size)
    if entries is None:
        return _signed(point, "log", trail.log_lines(point.size))
    return export_part(point, trail.positions_of(entries, point.size))


def export_part(point: AuditCheckpoint, positions: Sequence[int]) -> Iterator[bytes]:
    """Yield the lines of an export of the entries at these positions."""
    return _signed(point, "part", trail.lines_with_paths(positions, point.size))


def checkpoint_of(size: int | None) -> AuditCheckpoint:
    """
    Return the checkpoint of this size, or the newest.

    Raises:
        NotFound: there is no such checkpoint.
    """
    checkpoints = AuditCheckpoint.objects.order_by("-size")
    point = (checkpoints if size is None else checkpoints.filter(size=size)).first()
    if point is None:
        raise NotFound("The log has no such checkpoint. Entries get one within a minute.")
    return point


def _signed(point: AuditCheckpoint, scope: str, lines: Iterator[dict[str, Any]]) -> Iterator[bytes]:
    """Yield a header, the lines, and a signed note about all of them."""
    if not settings.SEPARATE_SIGNER:
        existing_key()  # fail before the first line, because the last one needs the key
    file_hash, count = hashlib.sha256(), 0
    head = {"signoff_audit": 1, "scope": scope, "checkpoint": point.note}
    head["keys"] = trail.key_rotations()
    for count, line in enumerate(chain([head], with_erasures(lines))):  # noqa: B007 - used after the loop
        text = json.dumps(line, ensure_ascii=False, sort_keys=True).encode() + b"\n"
        file_hash.update(text)
        yield text
    end = _sign_export(count, file_hash.digest())
    yield json.dumps({"end": end}).encode() + b"\n"


def _sign_export(entries: int, digest: bytes) -> str:
    """
    Return the signed end of an export; with a separate signer, wait for its signature.

    Raises:
        NotSigned: the signer did not answer.
    """
    if not settings.SEPARATE_SIGNER:
        return signed_export(entries=entries, digest=digest, key=existing_key())
    request_id = request_export_signature(entries=entries, digest=digest)
    deadline = time.monotonic() + SIGNER_SECONDS
    while time.monotonic() < deadline:
        if note := fetch_export_signature(request_id=request_id):
            return note
        time.sleep(0.2)
    raise NotSigned(TranslatableMessage("The signer does not answer. Try again in a minute."))


def write_checkpoint_file() -> None:
    """Append missing checkpoints to the checkpoint file."""
    path = Path(settings.AUDIT_CHECKPOINTS)
    written_size, _ = _last_checkpoint_in(path)
    later = AuditCheckpoint.objects.filter(size__gt=written_size).order_by("size").iterator()
    lines = [json.dumps({"size": point.size, "note": point.note}) + "\n" for point in later]
    if lines:
        checkpoint_sinks.append_lines(path, lines)


def _last_checkpoint_in(path: Path) -> tuple[int, str]:
    """Return the size and note of the last complete checkpoint of the file; (0, "") for none."""
    if not path.exists():
        return 0, ""
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - 8_192))
        for line in reversed(file.read().split(b"\n")[:-1]):
            with suppress(ValueError, KeyError):
                checkpoint = json.loads(line)
                return int(checkpoint["size"]), str(checkpoint["note"])
    return 0, ""
