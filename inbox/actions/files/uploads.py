"""Storing uploads: the object first, then the row of the file, so that no row lacks its bytes."""

import secrets
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from typing import Any
from uuid import UUID

import structlog
from django.conf import settings
from django.core.files import File as DjangoFile
from django.db import transaction

from inbox.actions.audit import audit_trail
from inbox.actions.files.file_erasure import delete_object
from inbox.models import File, Interrupt, StoredBlob, Thread
from inbox.models.files.files import BlobState
from inbox.models.locks import lock_team, lock_thread
from inbox.platform.clock import database_now
from inbox.platform.files.received_files import ReceivedFile, Shortage, received_bytes
from inbox.platform.files.storage import file_storage
from inbox.queries.limits.team_limits import bytes_of_files, limits_of
from inbox.queries.people.access import require, require_current
from inbox.rules import errors
from inbox.rules.files.file_names import safe_file_name
from inbox.rules.files.file_types import detect_media_type, is_accepted
from inbox.rules.limits.team_limits import Limit
from inbox.rules.people.access import Actor, Permission, agent_actor
from inbox.rules.runs.states import InterruptStatus
from inbox.rules.text.messages import TranslatableMessage

log = structlog.get_logger(__name__)


@dataclass(frozen=True)
class _Owner:
    """The request, thread or agent that an upload belongs to, and its sender."""

    team_id: UUID
    actor: Actor
    check: Callable[[datetime], None]  #: that the actor still may, called under the locks
    columns: dict[str, Any]
    thread_id: UUID | None = None  #: the chain of the audit entry
    uploaded_by: str = ""


def upload_to_request(
    *, interrupt_id: UUID, file: ReceivedFile, actor: Actor, accepts: str = "*/*"
) -> File:
    """
    Store a file that a person sends for the answer to a request; `accepts` is a media type.

    Raises:
        NotFound, Forbidden, AlreadyDecided: the request is closed.
        FileTooLarge, FileQuotaReached, FileRefused, StorageFull.
    """
    row = Interrupt.objects.filter(pk=interrupt_id).first()
    if row is None:
        raise errors.NotFound()
    require(actor, row.team_id, Permission.DECIDE, row.agent_id)
    _check_open(row)

    def check(now: datetime) -> None:
        require_current(actor, row.team_id, Permission.DECIDE, row.agent_id, now=now)
        row.refresh_from_db(fields=["status"])
        _check_open(row)

    columns = {"interrupt_id": row.pk, "agent_id": row.agent_id}
    owner = _Owner(row.team_id, actor, check, columns, thread_id=row.thread_id)
    return _store(owner, file, accepts)


def upload_for_agent(*, team_id: UUID, agent_id: UUID, file: ReceivedFile, actor: Actor) -> File:
    """
    Store a file that a program sends before it names the file in a run or a request.

    Raises:
        NotFound, Forbidden, FileTooLarge, FileQuotaReached, FileRefused, StorageFull.
    """
    require(actor, team_id, Permission.RUN, agent_id)

    def check(now: datetime) -> None:
        require_current(actor, team_id, Permission.RUN, agent_id, now=now)

    return _store(_Owner(team_id, actor, check, {"agent_id": agent_id}), file, "*/*")


def attach_file(*, thread_id: UUID, name: str, content: bytes) -> dict[str, Any] | Exception:
    """
    Store a file that an agent of this installation attaches; return its reference or the refusal.

    Safe to replay: an agent that starts again gets the file that it attached before.
    """
    thread = Thread.objects.select_related("agent").get(pk=thread_id)
    name = safe_file_name(name)
    digest = sha256(content).hexdigest()
    earlier = File.objects.filter(
        thread=thread, sha256=digest, name=name, user=None, api_key=None, erased_at=None
    ).first()
    try:
        row = earlier or _attach(thread, name, content)
    except (errors.RequestRejected, OSError) as refusal:
        is_full = isinstance(refusal, OSError)
        return errors.StorageFull(_FULL) if is_full else refusal
    return row.reference.as_json(row.reference.address(settings.PUBLIC_URL))


def _attach(thread: Thread, name: str, content: bytes) -> File:
    if len(content) > settings.FILE_BYTES:
        raise errors.FileTooLarge(too_large_text())
    owner = _Owner(
        thread.team_id,
        agent_actor(thread.agent_id),
        lambda _now: None,
        {"thread_id": thread.pk, "agent_id": thread.agent_id},
        thread.pk,
        thread.agent.slug,
    )
    return _store(owner, received_bytes(content, name), "*/*")


def _check_open(row: Interrupt) -> None:
    if row.status != InterruptStatus.OPEN:
        raise errors.AlreadyDecided(TranslatableMessage("This request is closed."))


def _store(owner: _Owner, file: ReceivedFile, accepts: str) -> File:
    name = safe_file_name(file.name or "")
    media_type = _checked_type(file, name, accepts)
    blob = _begin(owner.team_id, file)
    try:
        with open(file.temporary_file_path(), "rb") as content:  # noqa: PTH123
            moved = _Movable(content, file)
            file_storage().save(blob.key, moved)
    except Exception as error:
        log.warning("file not stored", error=type(error).__name__)
        delete_object(blob.pk, blob.key)
        raise errors.StorageFull(_FULL) from error
    finally:
        file.close()
    try:
        row = _finish(owner, blob, file, name, media_type)
    except Exception:
        delete_object(blob.pk, blob.key)
        raise
    if row.blob_id != blob.pk:
        delete_object(blob.pk, blob.key)
    return row


class _Movable(DjangoFile):  # type: ignore[type-arg]  # not generic at run time
    """A received file, which a folder moves to its place and other storages read in chunks."""

    def __init__(self, content: Any, received: ReceivedFile) -> None:
        super().__init__(content, name=received.name)
        self.size = received.size or 0
        self.temporary_file_path = received.temporary_file_path


def _checked_type(file: ReceivedFile, name: str, accepts: str) -> str:
    """Return the media type of the bytes. Raises FileTooLarge, FileRefused, StorageFull."""
    if file.shortage is Shortage.DISK_FULL:
        raise errors.StorageFull(_FULL)
    if file.shortage is Shortage.TOO_LARGE:
        raise errors.FileTooLarge(too_large_text())
    if not file.size:
        problem = TranslatableMessage("The file is empty.")
        raise errors.FileRefused(problem, problems={"file": [problem]})
    media_type = detect_media_type(file.head, name)
    if not is_accepted(media_type, accepts):
        problem = TranslatableMessage(
            "This file is {media_type}, and the agent asks for {accepted}.",
            media_type=media_type,
            accepted=accepts[:100],
        )
        raise errors.FileRefused(problem, problems={"file": [problem]})
    return media_type


def too_large_text() -> TranslatableMessage:
    """Return the message of the limits on the size of uploads."""
    return TranslatableMessage(
        "A file has up to {file} MiB, and all files of a request up to {request} MiB.",
        file=settings.FILE_BYTES // settings.MIB,
        request=settings.REQUEST_FILE_BYTES // settings.MIB,
    )


@transaction.atomic(durable=True)
def _begin(team_id: UUID, file: ReceivedFile) -> StoredBlob:
    """Store the row of the object that is about to be written."""
    key = f"{team_id.hex}/{file.sha256[:2]}/{file.sha256}-{secrets.token_hex(8)}"
    return StoredBlob.objects.create(
        team_id=team_id,
        key=key,
        sha256=file.sha256,
        size=file.size or 0,
        state=BlobState.WRITING,
        created_at=database_now(),
    )


@transaction.atomic(durable=True)
def _finish(
    owner: _Owner, blob: StoredBlob, file: ReceivedFile, name: str, media_type: str
) -> File:
    thread = lock_thread(owner.thread_id)[0] if owner.thread_id else None
    lock_team(owner.team_id)
    now = database_now()
    owner.check(now)
    stored = StoredBlob.objects.filter(team=owner.team_id, state=BlobState.STORED)
    same = stored.filter(sha256=blob.sha256).first()
    mine = StoredBlob.objects.filter(pk=blob.pk, state=BlobState.WRITING)
    if same is not None:
        mine.update(state=BlobState.DELETING)
    else:
        most = limits_of(owner.team_id)[Limit.FILE_BYTES]
        if most is not None and bytes_of_files(owner.team_id) + blob.size > most:
            raise errors.FileQuotaReached(
                TranslatableMessage(
                    "The files of this team would take more than {limit} MiB. Ask an "
                    "administrator to erase some.",
                    limit=most // settings.MIB,
                )
            )
        if not mine.update(state=BlobState.STORED):
            raise errors.StorageFull(_FULL)  # the sweeper took it for a leftover of a crash
    actor = owner.actor
    row = File(
        team_id=owner.team_id,
        blob=same or blob,
        name=name,
        media_type=media_type,
        size=blob.size,
        sha256=blob.sha256,
        created_at=now,
        uploaded_by=(owner.uploaded_by or actor.label)[:160],
        user_id=actor.user_id,
        api_key_id=actor.key_id,
        **owner.columns,
    )
    row.save(force_insert=True)
    audit_trail.record(
        "file.uploaded",
        actor,
        now,
        thread=thread,
        team_id=owner.team_id,
        digests={"file": row.sha256},
        file=str(row.pk),
        name=name,
        size=row.size,
        media_type=media_type,
    )
    return row


_FULL = TranslatableMessage("The storage for files is full or away. Try again later.")
