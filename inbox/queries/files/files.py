"""Reading files: rows for an actor, and their bytes."""

import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from tempfile import SpooledTemporaryFile
from typing import IO, Any, cast
from uuid import UUID

from django.conf import settings
from django.db.models import Q, QuerySet

from inbox.models import File, Interrupt
from inbox.platform import clock
from inbox.platform.files.links import is_link_valid, link_query
from inbox.platform.files.storage import copy_checked
from inbox.queries.people.access import permissions_in, require
from inbox.rules.errors import FileChanged, FileErased, FileLinkExpired, NotFound
from inbox.rules.files.references import MARK, FileReference, files_in, reference_of, with_links
from inbox.rules.people.access import Actor, Permission
from inbox.rules.runs.states import InterruptStatus

CHUNK_BYTES = 256 * 1024
#: Larger files are copied to the disk.
_MEMORY_BYTES = 1024 * 1024


def file_for(actor: Actor, file_id: UUID) -> File:
    """Raises NotFound."""
    row = _row(file_id)
    if row is None:
        raise NotFound()
    require(actor, row.team_id, Permission.READ, row.agent_id)
    return row


def file_by_link(file_id: UUID, query: Any, now: datetime) -> File:
    """
    Return the file of a signed link.

    Raises:
        FileLinkExpired: also for files that do not exist.
    """
    row = _row(file_id)
    if row is None or not is_link_valid(file_id, query, now):
        raise FileLinkExpired("This link to a file has expired. Read the file again for a new one.")
    return row


def open_file(row: File) -> IO[bytes]:
    """
    Return the bytes of a file to read, a copy that was checked.

    Raises:
        FileErased.
        FileChanged: the bytes are not those that were sent.
    """
    if row.blob is None:
        raise FileErased("This file was erased.")
    copy = SpooledTemporaryFile(max_size=_MEMORY_BYTES)  # noqa: SIM115 - the caller closes it
    try:
        copy_checked(row.blob.key, row.sha256, cast("IO[bytes]", copy))
    except FileNotFoundError as error:  # erased since the row was read
        copy.close()
        raise FileErased("This file was erased.") from error
    except FileChanged:
        copy.close()
        raise
    return cast("IO[bytes]", copy)


def check_files_unchanged(actor: Actor, **columns: Any) -> None:
    """
    Check the files of open requests that an actor is about to approve, with these columns.

    These are the attached ones, and those in arguments. Requests that the actor may not decide are
    left out: the gate refuses the approval, and nothing is read for strangers.

    Call it before a transaction: it reads the bytes. Erased files, which pages say, are left out.

    Raises:
        FileChanged: a row or the bytes of a file are not those that the request has displayed.
    """
    rows = with_files(Interrupt.objects.filter(status=InterruptStatus.OPEN, **columns))
    displayed = {
        file_id: sha256
        for row in rows
        if Permission.DECIDE in permissions_in(actor, row.team_id, row.agent_id)
        for file_id, sha256 in displayed_files(row)
    }
    files = File.objects.select_related("blob").filter(pk__in=displayed) if displayed else ()
    for file in files:
        if file.blob is not None:
            file.sha256 = displayed[file.pk]
            with suppress(FileErased), open_file(file):
                pass


def with_files(rows: "QuerySet[Interrupt]") -> "QuerySet[Interrupt]":
    """Return those of the requests that may display files."""
    return rows.filter(Q(files__isnull=False) | Q(args__contains=MARK))


def displayed_files(row: Interrupt) -> Iterator[tuple[UUID, str]]:
    """Yield the id and the digest of each file that a request displays."""
    for file in map(reference_of, json.loads(row.files or "[]")):
        yield file.id, file.sha256
    for address in files_in(json.loads(row.args or "null")):
        yield address.id, address.sha256


def chunks_of(content: IO[bytes]) -> Iterator[bytes]:
    """Yield the bytes of an open file, and close it."""
    with content:
        while chunk := content.read(CHUNK_BYTES):
            yield chunk


def with_file_links(value: Any, *, thread_id: UUID, expires_at: datetime) -> Any:
    """Return a JSON value with signed links to the files of the thread that it refers to."""
    ids = {file.id for file in files_in(value)}
    if not ids:
        return value
    rows = File.objects.filter(pk__in=ids, thread=thread_id, erased_at=None)
    file_ids = set(rows.values_list("pk", flat=True))
    return with_links(
        value, lambda file_id: link_query(file_id, expires_at) if file_id in file_ids else ""
    )


def link_to(reference: FileReference, site: str) -> str:
    """Return a signed link to a file that works from now for SIGNOFF_FILE_LINK_SECONDS."""
    expires_at = clock.now() + timedelta(seconds=settings.FILE_LINK_SECONDS)
    return reference.address(site, link_query(reference.id, expires_at))


def attached_files(row: Interrupt, site: str) -> list[dict[str, Any]]:
    """
    Return the references of the files that the agent attached, with signed links.

    Makes no query; the link to a file that was erased since says so.
    """
    references = map(reference_of, json.loads(row.files)) if row.files else ()
    return [reference.as_json(link_to(reference, site)) for reference in references]


def file_of_request(row: Interrupt, file_id: UUID) -> File | None:
    """Return a file that an answer to the request may have, None for any other."""
    usable = Q(thread=row.thread_id) | Q(interrupt=row.pk, thread=None)
    files = File.objects.select_related("blob").filter(usable, pk=file_id, erased_at=None)
    return files.first()


def files_of_answer(thread_id: UUID, payload: Any) -> list[FileReference]:
    """Return the files of a thread that a JSON value refers to, in its order."""
    ids = list(dict.fromkeys(file.id for file in files_in(payload)))
    if not ids:
        return []
    by_id = {row.pk: row.reference for row in files_of_thread(thread_id, ids)}
    return [by_id[file_id] for file_id in ids if file_id in by_id]


def files_of_thread(thread_id: UUID, file_ids: Iterable[UUID]) -> Sequence[File]:
    """Return those of the files that the thread has, also erased ones."""
    return list(File.objects.filter(pk__in=list(file_ids), thread=thread_id))


def erased_among(file_ids: Iterable[UUID]) -> set[UUID]:
    """Return which of these files were erased."""
    rows = File.objects.filter(pk__in=list(file_ids)).exclude(erased_at=None)
    return set(rows.values_list("pk", flat=True))


def _row(file_id: UUID) -> File | None:
    return File.objects.select_related("blob").filter(pk=file_id).first()
