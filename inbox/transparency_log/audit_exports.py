"""Exports of a team's or a thread's audit trail, as signed JSON lines or as CSV."""

import csv
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from django.conf import settings

from inbox.actions.audit.exports import record_export
from inbox.models import AuditCheckpoint, AuditEntry
from inbox.platform.clock import database_now
from inbox.queries.audit import trail
from inbox.queries.audit.audit_entries import export_scope, exported_entries
from inbox.queries.people.access import require_fresh_sign_in
from inbox.rules.audit.audit_entry import format_time, read_body
from inbox.rules.audit.audit_filters import EntryFilter
from inbox.rules.audit.export_formats import Format, as_cell, check_number
from inbox.rules.errors import NotFound, NotSigned
from inbox.rules.people.access import Actor
from inbox.rules.text.messages import TranslatableMessage
from inbox.transparency_log.signer import checkpoint_of, export_part
from inbox.transparency_log.signing_keys import existing_key

_CONTENT_TYPES = {Format.JSONL: "application/x-ndjson", Format.CSV: "text/csv; charset=utf-8"}
_CHUNK_BYTES = 65_536
_COLUMNS = (
    *("position", "team", "thread", "seq", "at", "action"),
    *("actor_kind", "actor_id", "actor", "on_behalf", "signed_in_by"),
    *("run", "interrupt", "tool_call", "tool", "before", "after", "request"),
    *("erased", "digests", "detail", "hash"),
)


@dataclass(frozen=True)
class Export:
    """An export file that is generated while it is sent."""

    name: str
    content_type: str
    entries: int
    size: int  #: of its checkpoint
    chunks: Iterator[bytes]  #: no query stays open between two chunks


def export_trail(
    *, actor: Actor, filters: EntryFilter, form: Format, size: int | None = None
) -> Export:
    """
    Export the filtered audit trail of a team or a thread, and record that in the trail.

    It has the entries up to the checkpoint of this size, or the newest. An export at the same size
    is the same, byte by byte, until an entry is erased or a decision withdrawn.

    Raises:
        NotFound: also if there is no such checkpoint.
        Forbidden, InvalidValue, ReauthenticationRequired.
        NotSigned: there is no checkpoint yet, or no signing key on this machine.
    """
    scope = export_scope(actor, filters)
    require_fresh_sign_in(actor, database_now())
    point = _checkpoint(size)
    if form is Format.JSONL:
        _check_key()
    positions = trail.positions_of(exported_entries(scope, filters), point.size)
    check_number(len(positions))
    record_export(
        team_id=scope.team.pk,
        thread_id=scope.thread.pk if scope.thread else None,
        form=form,
        parameters=filters.parameters,
        entries=len(positions),
        size=point.size,
        actor=actor,
    )
    lines = export_part(point, positions) if form is Format.JSONL else _table(positions)
    subject = scope.thread.pk if scope.thread else scope.team.slug
    return Export(
        name=f"signoff-audit-{subject}-{point.size}.{form.value}",
        content_type=_CONTENT_TYPES[form],
        entries=len(positions),
        size=point.size,
        chunks=_in_chunks(lines),
    )


def _checkpoint(size: int | None) -> AuditCheckpoint:
    try:
        return checkpoint_of(size)
    except NotFound:
        if size is not None:
            raise
    raise NotSigned(
        TranslatableMessage("The audit trail has no signed entries yet. Try again in a minute.")
    )


def _check_key() -> None:
    """Raise before the first line is sent, because the last line needs the key."""
    if settings.SEPARATE_SIGNER:
        return
    try:
        existing_key()
    except ValueError as error:
        problem = TranslatableMessage(
            "This machine does not have the key that signs the audit trail (docs/audit.md)."
        )
        raise NotSigned(problem) from error


def _in_chunks(lines: Iterable[bytes]) -> Iterator[bytes]:
    chunk = bytearray()
    for line in lines:
        chunk += line
        if len(chunk) >= _CHUNK_BYTES:
            yield bytes(chunk)
            chunk.clear()
    yield bytes(chunk)


# -- a table --------------------------------------------------------------------------------------


class _LastLine:
    """A file object that keeps the last line that csv has written."""

    text = ""

    def write(self, text: str) -> None:
        self.text = text


def _table(positions: Sequence[int]) -> Iterator[bytes]:
    """Yield CSV lines (RFC 4180) in UTF-8 with a byte order mark for spreadsheets."""
    line = _LastLine()
    writer = csv.writer(line)
    writer.writerow(_COLUMNS)
    yield b"\xef\xbb\xbf" + line.text.encode()
    for entries in trail.entries_at(positions):
        for entry in list(entries.select_related("leaf", "team", "payload", "tool_call")):
            writer.writerow(map(as_cell, _row(entry)))
            yield line.text.encode()


def _row(entry: AuditEntry) -> Iterable[Any]:
    body, payload = read_body(entry.body), entry.content
    before, after = [*body.get("state", ()), "", ""][:2]
    is_erased = not hasattr(entry, "payload")
    return (
        *(entry.leaf.position, entry.team.slug if entry.team else "", entry.thread_id, entry.seq),
        *(format_time(entry.at), entry.action, entry.actor_kind, entry.actor_id),
        *(payload["actor"], payload["on_behalf"], body.get("actor", {}).get("method", "")),
        *(entry.run_id, entry.interrupt_id, entry.tool_call_id),
        *(entry.tool_call.name if entry.tool_call else "", before, after, body.get("request", "")),
        "yes" if is_erased else "",
        *("" if is_erased else _json(payload[name]) for name in ("digests", "detail")),
        entry.hash,
    )


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True)
