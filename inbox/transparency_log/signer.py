"""Sealing what is new, writing checkpoints to the file outside, and exporting."""

import hashlib
import json
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import chain
from pathlib import Path
from typing import Any

import structlog
from django.conf import settings
from django.db.models import QuerySet

from inbox.actions.audit.transparency_log import AT_ONCE, NotOurLog, mend_blocks
from inbox.actions.audit.transparency_log import seal as seal_entries
from inbox.models import AuditCheckpoint, AuditEntry
from inbox.models.clock import database_now
from inbox.platform.timers import Timer
from inbox.queries.audit import trail
from inbox.queries.audit.erasure_notes import with_erasures
from inbox.rules.audit.signed_checkpoint import signed_export
from inbox.rules.errors import NotFound
from inbox.transparency_log import checkpoint_sinks
from inbox.transparency_log.signing_keys import existing_key, signing_key

log = structlog.get_logger(__name__)

#: So often entries are looked for that are not where new ones are.
LOOK_EVERY_SECONDS = 900.0


def seal(*, thoroughly: bool | None = None) -> int:
    """
    Seal what is new, and keep every checkpoint outside; return how many entries are sealed.

    Now and then it looks `thoroughly`: at all entries, and at what is kept of the log beside them.
    """
    key = signing_key()
    late = _look_around() if thoroughly or (thoroughly is None and _looks.is_due()) else []
    before = size = _size()
    if not _goes_on(Path(settings.AUDIT_CHECKPOINTS)):
        log.error("the file of checkpoints is not of this audit log: docs/audit.md says what to do")
        return 0
    try:
        while (made := seal_entries(key=key, also=late)) is not None:
            done, size = made.size - size, made.size
            if done < AT_ONCE:
                break  # what has come since waits for the next time
    except NotOurLog as problem:
        # The operator's to mend, and said again and again until then: without a traceback.
        log.error("the audit log is not sealed", problem=str(problem), key=key.verifier)  # noqa: TRY400
        return 0
    try:
        write_out()
    finally:
        checkpoint_sinks.ring_those_behind(size)
    return size - before


def _look_around() -> list[int]:
    """Mend what is kept of the log beside it, and return the ids of entries that are nowhere."""
    with suppress(NotOurLog):  # which is said when it is sealed
        if mend_blocks():
            log.warning("the blocks of the audit log were made anew: they were not its own")
    late = trail.late_entries(database_now())
    if late:
        _looks.reset()  # there may be more, or somebody has taken an id of the far future
        log.warning("entries of the audit log were not where new ones are", first=late[:5])
    return late


#: Only the process that sweeps ever looks.
_looks = Timer(LOOK_EVERY_SECONDS)


def _size() -> int:
    newest = AuditCheckpoint.objects.order_by("-size").values_list("size", flat=True).first()
    return newest or 0


def _goes_on(path: Path) -> bool:
    """Whether the database has the last checkpoint of the file: a backup was restored else."""
    size, note = _last_of(path)
    return not note or AuditCheckpoint.objects.filter(size=size, note=note).exists()


def export(
    entries: "QuerySet[AuditEntry] | None" = None, *, size: int | None = None
) -> Iterator[bytes]:
    """
    The lines of an export: the whole log, or the part of it that these entries are.

    It rests on the checkpoint of this size, or the newest: asked for again by its size, it is the
    same, byte by byte.

    Raises:
        NotFound: there is no such checkpoint.
    """
    point = checkpoint_of(size)
    if entries is None:
        return _signed(point, "log", trail.log_lines(point.size))
    return export_part(point, trail.positions_of(entries, point.size))


def export_part(point: AuditCheckpoint, places: Sequence[int]) -> Iterator[bytes]:
    """The lines of an export of the entries at these places, which the checkpoint has."""
    return _signed(point, "part", trail.lines_with_paths(places, point.size))


def checkpoint_of(size: int | None) -> AuditCheckpoint:
    """
    The checkpoint of this size, or the newest.

    Raises:
        NotFound: there is no such checkpoint.
    """
    found = AuditCheckpoint.objects.order_by("-size")
    point = (found if size is None else found.filter(size=size)).first()
    if point is None:
        raise NotFound("The log has no such checkpoint; there is one within a minute of any entry.")
    return point


def _signed(point: AuditCheckpoint, scope: str, lines: Iterator[dict[str, Any]]) -> Iterator[bytes]:
    """A head, the lines, and the signed note about all of these."""
    whole, count = hashlib.sha256(), 0
    key = existing_key()
    head = {"signoff_audit": 1, "scope": scope, "checkpoint": point.note}
    head["keys"] = trail.key_rotations()
    for count, line in enumerate(chain([head], with_erasures(lines))):  # noqa: B007 - for the end
        text = json.dumps(line, ensure_ascii=False, sort_keys=True).encode() + b"\n"
        whole.update(text)
        yield text
    end = signed_export(entries=count, digest=whole.digest(), key=key)
    yield json.dumps({"end": end}).encode() + b"\n"


def write_out() -> None:
    """Append the checkpoints that the file does not have yet."""
    path = Path(settings.AUDIT_CHECKPOINTS)
    known, _ = _last_of(path)
    later = AuditCheckpoint.objects.filter(size__gt=known).order_by("size").iterator()
    lines = [json.dumps({"size": one.size, "note": one.note}) + "\n" for one in later]
    if lines:
        checkpoint_sinks.append_lines(path, lines)


def _last_of(path: Path) -> tuple[int, str]:
    """The size and note of the last checkpoint that the file has whole; (0, "") for none."""
    if not path.exists():
        return 0, ""
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - 8_192))
        for line in reversed(file.read().split(b"\n")[:-1]):
            with suppress(ValueError, KeyError):
                told = json.loads(line)
                return int(told["size"]), str(told["note"])
    return 0, ""
