"""
Keeping checkpoints where whoever can change the database cannot: SIGNOFF_AUDIT_SINKS.

A sink gets every checkpoint in order, at least once; under the same number it is the same.
"""

import json
import logging
import os
import subprocess
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from logging.handlers import SysLogHandler
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import structlog
from django.conf import settings

from inbox import wakeups
from inbox.actions.audit.transparency_log import (
    Shipment,
    record_failure,
    record_sent,
    take_sink,
)
from inbox.models import AuditSink

log = structlog.get_logger(__name__)

SECONDS = 10.0
Send = Callable[[str, int, str], None]


def ring_those_behind(size: int) -> None:
    """Tell some worker of each sink that does not have the log of this size."""
    kept = dict(AuditSink.objects.values_list("address", "size")) if settings.AUDIT_SINKS else {}
    for number, address in enumerate(settings.AUDIT_SINKS):
        if kept.get(address, 0) < size:
            wakeups.wake_publishers(number)


def publish(number: int) -> None:
    """Send a sink, by its place in the setting, the checkpoints that it does not have."""
    address = settings.AUDIT_SINKS[number]
    while (taken := take_sink(address=address)) is not None:
        if not _send_all(number, address, taken):
            return


def _send_all(number: int, address: str, taken: Shipment) -> bool:
    """Send them in their order; return whether the sink has them, and nobody else sends there."""
    until: datetime | None = taken.until
    for left, (size, note) in zip(range(len(taken.notes))[::-1], taken.notes, strict=True):
        if until is None:
            return False
        if problem := _problem_of(address, size, note):
            record_failure(address=address, problem=problem, until=until)
            log.warning("checkpoint not kept", sink=number, problem=problem)
            return False
        until = record_sent(address=address, size=size, until=until, is_last=not left)
    return True


def _problem_of(address: str, size: int, note: str) -> str:
    """Send it; return what went wrong, "" for nothing."""
    try:
        _SCHEMES[urlsplit(address).scheme](address, size, note)
    except KeyError:
        return "This is no address of a sink."
    except httpx.HTTPStatusError as error:
        return f"HTTP status {error.response.status_code}"
    except Exception as error:  # whatever it was, it is tried again; its text may hold a secret
        return type(error).__name__
    return ""


def _to_file(address: str, size: int, note: str) -> None:
    append_lines(Path(urlsplit(address).path), [_line(size, note)])


class _Syslog(SysLogHandler):
    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 - the name is logging's
        raise OSError("syslog takes nothing")


def _to_syslog(address: str, size: int, note: str) -> None:
    """`syslog:///dev/log` or `syslog://host:port`, by UDP."""
    where = urlsplit(address)
    target = (where.hostname, where.port or 514) if where.hostname else where.path
    handler = _Syslog(target, SysLogHandler.LOG_AUTHPRIV)
    try:
        text = f"signoff-checkpoint {_line(size, note).strip()}"
        handler.emit(logging.LogRecord("signoff", logging.WARNING, "", 0, text, None, None))
    finally:
        handler.close()


def _to_git(address: str, size: int, note: str) -> None:
    """`git:///path/of/a/repository`: a commit a checkpoint; pushing is up to its hooks."""
    repository = Path(urlsplit(address).path)
    append_lines(repository / "checkpoints", [_line(size, note)])
    who = ("-c", "user.name=Signoff", "-c", "user.email=signoff@localhost")
    for command in (("add", "checkpoints"), (*who, "commit", "-q", "-m", f"Checkpoint {size}")):
        subprocess.run(  # noqa: S603 - the repository is the operator's
            ["git", "-C", str(repository), *command],  # noqa: S607 - git is where PATH has it
            check=True,
            capture_output=True,
            timeout=SECONDS * 3,
        )


def _to_web(address: str, size: int, note: str) -> None:
    """A POST of `{"size", "note"}`; the note is signed, so that nothing else has to be."""
    answer = httpx.post(address, json={"size": size, "note": note}, timeout=SECONDS)
    answer.raise_for_status()


def _to_s3(address: str, size: int, note: str) -> None:
    """`s3://bucket/prefix?days=3650`: an object a checkpoint, locked for so long (COMPLIANCE)."""
    import boto3  # noqa: PLC0415 - the extra `s3`, which only those need who have a bucket

    where = urlsplit(address)
    days = int(parse_qs(where.query).get("days", ["3650"])[0])
    client: Any = boto3.client("s3")  # type: ignore[no-untyped-call]
    client.put_object(
        Bucket=where.netloc,
        Key=f"{where.path.strip('/')}/{size:015d}".lstrip("/"),
        Body=note.encode(),
        ChecksumAlgorithm="SHA256",
        ObjectLockMode="COMPLIANCE",
        ObjectLockRetainUntilDate=datetime.now(UTC) + timedelta(days=days),
    )


def append_lines(path: Path, lines: Sequence[str]) -> None:
    """Write them to the disk, behind a line that was cut short, if there is one."""
    with path.open("a+b") as file:
        cut_short = False
        if file.seek(0, os.SEEK_END):
            file.seek(-1, os.SEEK_END)
            cut_short = file.read() != b"\n"
        file.write(b"\n" * cut_short + "".join(lines).encode())
        file.flush()
        os.fsync(file.fileno())


def _line(size: int, note: str) -> str:
    return json.dumps({"size": size, "note": note}) + "\n"


_SCHEMES: dict[str, Send] = {
    "file": _to_file,
    "syslog": _to_syslog,
    "git": _to_git,
    "https": _to_web,
    "http": _to_web,
    "s3": _to_s3,
}
