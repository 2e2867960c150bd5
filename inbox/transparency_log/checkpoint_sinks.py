"""
Checkpoint sinks: copies of checkpoints outside of the database (SIGNOFF_AUDIT_SINKS).

A sink gets every checkpoint in order, at least once.
"""

import json
import logging
import os
import subprocess
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from logging.handlers import SysLogHandler
from pathlib import Path
from typing import Any
from urllib.parse import SplitResult, parse_qs, urlsplit

import httpx
import structlog
from django.conf import settings

from inbox import wakeups
from inbox.actions.audit.transparency_log import (
    CheckpointBatch,
    claim_sink,
    record_failure,
    record_sent,
)
from inbox.models import CheckpointSink
from inbox.platform import clock

log = structlog.get_logger(__name__)

TIMEOUT_SECONDS = 10.0
Send = Callable[[str, int, str], None]


def wake_publishers(size: int) -> None:
    """Send a wake-up for each sink that lacks checkpoints up to this size."""
    sizes = (
        dict(CheckpointSink.objects.values_list("address", "size")) if settings.AUDIT_SINKS else {}
    )
    for number, address in enumerate(settings.AUDIT_SINKS):
        if sizes.get(address, 0) < size:
            wakeups.wake_publishers(number)


def publish_checkpoints(number: int) -> None:
    """Send a sink, by its index in the setting, the checkpoints that it lacks."""
    address = settings.AUDIT_SINKS[number]
    while (shipment := claim_sink(address=address)) is not None:
        if not _send_all(number, address, shipment):
            return


def _send_all(number: int, address: str, shipment: CheckpointBatch) -> bool:
    """Send checkpoints in order; return False after a failure or if the lease has expired."""
    until: datetime | None = shipment.until
    for remaining, (size, note) in zip(
        range(len(shipment.notes))[::-1], shipment.notes, strict=True
    ):
        if until is None:
            return False
        if problem := _try_send(address, size, note):
            record_failure(address=address, problem=problem, until=until)
            log.warning("checkpoint not sent", sink=number, problem=problem)
            return False
        until = record_sent(address=address, size=size, until=until, is_last=not remaining)
    return True


def _try_send(address: str, size: int, note: str) -> str:
    """Send a checkpoint; return an error text, or "" for success."""
    try:
        _SCHEMES[urlsplit(address).scheme](address, size, note)
    except KeyError:
        return "Not the URL of a sink."
    except httpx.HTTPStatusError as error:
        return f"HTTP status {error.response.status_code}"
    except Exception as error:  # retried; the text may contain secrets
        return type(error).__name__
    return ""


def _to_file(address: str, size: int, note: str) -> None:
    append_lines(path_of(urlsplit(address)), [_line(size, note)])


class _Syslog(SysLogHandler):
    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 - the name is logging's
        raise OSError("syslog rejected the message")


def _to_syslog(address: str, size: int, note: str) -> None:
    """`syslog:///dev/log` or `syslog://host:port`, by UDP."""
    url = urlsplit(address)
    target = (url.hostname, url.port or 514) if url.hostname else url.path
    handler = _Syslog(target, SysLogHandler.LOG_AUTHPRIV)
    try:
        text = f"signoff-checkpoint {_line(size, note).strip()}"
        handler.emit(logging.LogRecord("signoff", logging.WARNING, "", 0, text, None, None))
    finally:
        handler.close()


def _to_git(address: str, size: int, note: str) -> None:
    """`git:///path/of/a/repository`: one commit per checkpoint; hooks may push."""
    repository = Path(urlsplit(address).path)
    append_lines(repository / "checkpoints", [_line(size, note)])
    identity = ("-c", "user.name=Signoff", "-c", "user.email=signoff@localhost")
    for command in (
        ("add", "checkpoints"),
        (*identity, "commit", "-q", "-m", f"Checkpoint {size}"),
    ):
        subprocess.run(  # noqa: S603 - the operator's repository
            ["git", "-C", str(repository), *command],  # noqa: S607 - git from PATH
            check=True,
            capture_output=True,
            timeout=TIMEOUT_SECONDS * 3,
        )


def _to_web(address: str, size: int, note: str) -> None:
    """`https://...`: a POST of `{"size", "note"}`; the note is signed, the request is not."""
    response = httpx.post(address, json={"size": size, "note": note}, timeout=TIMEOUT_SECONDS)
    response.raise_for_status()


def _to_s3(address: str, size: int, note: str) -> None:
    """`s3://bucket/prefix?days=3650`: one object per checkpoint, locked (COMPLIANCE)."""
    import boto3  # noqa: PLC0415 - the optional extra `s3`

    url = urlsplit(address)
    days = int(parse_qs(url.query).get("days", ["3650"])[0])
    client: Any = boto3.client("s3")  # type: ignore[no-untyped-call]
    client.put_object(
        Bucket=url.netloc,
        Key=f"{url.path.strip('/')}/{size:015d}".lstrip("/"),
        Body=note.encode(),
        ChecksumAlgorithm="SHA256",
        ObjectLockMode="COMPLIANCE",
        ObjectLockRetainUntilDate=clock.now() + timedelta(days=days),
    )


def path_of(url: SplitResult) -> Path:
    """Return the path in the URL of a sink with the scheme `file`."""
    return Path(url.path)


def append_lines(path: Path, lines: Sequence[str]) -> None:
    """Append lines and sync; a truncated last line is ended first."""
    with path.open("a+b") as file:
        is_truncated = False
        if file.seek(0, os.SEEK_END):
            file.seek(-1, os.SEEK_END)
            is_truncated = file.read() != b"\n"
        file.write(b"\n" * is_truncated + "".join(lines).encode())
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
