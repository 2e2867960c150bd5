"""
Sinks of audit entries: copies of every entry outside of the database (SIGNOFF_AUDIT_ENTRY_SINKS).

A sink gets the entries in the order of the log, at least once, with their positions.
"""

import json
import os
import socket
import ssl
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import timedelta
from typing import Any, Final
from urllib.parse import SplitResult, parse_qs, urlsplit, urlunsplit

import httpx
import structlog
from django.conf import settings

from inbox import wakeups
from inbox.actions.audit.entry_sinks import (
    EntryBatch,
    claim_entry_sink,
    record_entries_failure,
    record_entries_sent,
)
from inbox.models import EntrySink
from inbox.platform import clock
from inbox.transparency_log.checkpoint_sinks import append_lines, path_of

log = structlog.get_logger(__name__)

TIMEOUT_SECONDS: Final = 10.0
#: Facility authpriv, severity notice (RFC 5424, 6.2.1).
_PRIORITY: Final = 10 * 8 + 5
#: The parameters of URLs that are meant for us and not sent to the receiver.
_OWN: Final = frozenset({"payloads", "days", "ca"})


def wake_entry_publishers(size: int) -> None:
    """Send a wake-up for each sink that lacks entries of a log of this size."""
    if not settings.AUDIT_ENTRY_SINKS:
        return
    positions = dict(EntrySink.objects.values_list("address", "position"))
    for number, address in enumerate(settings.AUDIT_ENTRY_SINKS):
        if positions.get(address, 0) < size:
            wakeups.wake_entry_publishers(number)


def publish_entries(number: int) -> None:
    """Send a sink, by its index in the setting, the entries that it lacks."""
    address = settings.AUDIT_ENTRY_SINKS[number]
    while (batch := claim_entry_sink(address=address)) is not None:
        if problem := _try_send(address, batch):
            record_entries_failure(address=address, problem=problem, until=batch.until)
            log.warning("audit entries not sent", sink=number, problem=problem)
            return
        position = batch.first + len(batch.lines)
        if not record_entries_sent(address=address, position=position, until=batch.until):
            return


def _try_send(address: str, batch: EntryBatch) -> str:
    """Send a batch; return an error text, or "" for success."""
    try:
        url = urlsplit(address)
        parameters = {name: values[0] for name, values in parse_qs(url.query).items()}
        lines = [_line(line, parameters) for line in batch.lines]
        _SCHEMES[url.scheme](url, parameters, batch.first, lines)
    except KeyError:
        return "Not the URL of a sink."
    except httpx.HTTPStatusError as error:
        return f"HTTP status {error.response.status_code}"
    except Exception as error:  # retried; the text may contain secrets
        return type(error).__name__
    return ""


def _line(line: Mapping[str, Any], parameters: Mapping[str, str]) -> str:
    """Return an entry as JSON, with its names and texts only if the sink is to have them."""
    columns = line["columns"]
    entry = {
        "position": line["position"],
        "hash": line["hash"],
        "at": columns["at"],
        "action": columns["action"],
        "body": line["body"],
    }
    if parameters.get("payloads") == "1":
        entry["payload"] = line["payload"]
    return json.dumps(entry, ensure_ascii=False, sort_keys=True)


def _to_file(
    url: SplitResult, _parameters: Mapping[str, str], _first: int, lines: Sequence[str]
) -> None:
    append_lines(path_of(url), [f"{line}\n" for line in lines])


def _to_syslog(
    url: SplitResult, parameters: Mapping[str, str], _first: int, lines: Sequence[str]
) -> None:
    """
    Send RFC 5424 messages with their lengths in front (RFC 6587), over TLS (RFC 5425) or TCP.

    Syslog confirms nothing, so the connection is closed after each batch: a receiver that closes
    its side in turn has read all of it.
    """
    is_secure = url.scheme == "syslog+tls"
    address = (url.hostname or "", url.port or (6514 if is_secure else 601))
    with socket.create_connection(address, timeout=TIMEOUT_SECONDS) as plain:
        connection = _secured(plain, url.hostname or "", parameters) if is_secure else plain
        with connection:
            connection.sendall(b"".join(map(_syslog_message, lines)))
            if isinstance(connection, ssl.SSLSocket):
                with suppress(ssl.SSLEOFError, ssl.SSLZeroReturnError):
                    connection.unwrap()
                return
            connection.shutdown(socket.SHUT_WR)
            while connection.recv(4096):
                pass


def _secured(plain: socket.socket, host: str, parameters: Mapping[str, str]) -> ssl.SSLSocket:
    context = ssl.create_default_context(cafile=parameters.get("ca"))
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    return context.wrap_socket(plain, server_hostname=host, suppress_ragged_eofs=False)


def _syslog_message(line: str) -> bytes:
    entry = json.loads(line)
    head = f"<{_PRIORITY}>1 {entry['at']} {socket.gethostname()} signoff {os.getpid()} audit -"
    message = f"{head} {line}".encode()
    return f"{len(message)} ".encode() + message


def _to_web(
    url: SplitResult, _parameters: Mapping[str, str], first: int, lines: Sequence[str]
) -> None:
    """POST lines of JSON; any status of 2xx confirms them."""
    query = "&".join(
        part for part in url.query.split("&") if part and part.partition("=")[0] not in _OWN
    )
    response = httpx.post(
        urlunsplit(url._replace(query=query)),
        content="".join(f"{line}\n" for line in lines).encode(),
        headers={
            "Content-Type": "application/x-ndjson",
            "Signoff-First-Position": str(first),
            "Signoff-Last-Position": str(first + len(lines) - 1),
        },
        timeout=TIMEOUT_SECONDS,
    )
    response.raise_for_status()


def _to_s3(
    url: SplitResult, parameters: Mapping[str, str], first: int, lines: Sequence[str]
) -> None:
    """Store one object for each batch, locked (COMPLIANCE), named by the first position."""
    import boto3  # noqa: PLC0415 - the optional extra `s3`

    client: Any = boto3.client("s3")  # type: ignore[no-untyped-call]
    last = first + len(lines) - 1
    client.put_object(
        Bucket=url.netloc,
        Key=f"{url.path.strip('/')}/{first:015d}-{last:015d}.jsonl".lstrip("/"),
        Body="".join(f"{line}\n" for line in lines).encode(),
        ChecksumAlgorithm="SHA256",
        ObjectLockMode="COMPLIANCE",
        ObjectLockRetainUntilDate=clock.now() + timedelta(days=int(parameters.get("days", "3650"))),
    )


_SCHEMES: Final[
    Mapping[str, Callable[[SplitResult, Mapping[str, str], int, Sequence[str]], None]]
] = {
    "file": _to_file,
    "syslog+tcp": _to_syslog,
    "syslog+tls": _to_syslog,
    "https": _to_web,
    "http": _to_web,
    "s3": _to_s3,
}
