"""Erasing files: of a thread, by the team's retention, and what uploads left behind."""

from collections.abc import Collection, Sequence
from datetime import datetime, timedelta
from functools import partial
from uuid import UUID

import structlog
from django.db import transaction

from inbox.actions.audit import audit_trail
from inbox.models import File, StoredBlob, Team, Thread
from inbox.models.files.files import BlobState
from inbox.models.locks import lock_team, lock_thread
from inbox.platform.clock import database_now
from inbox.platform.files.previews import delete_previews
from inbox.platform.files.received_files import delete_left_uploads
from inbox.platform.files.storage import file_storage
from inbox.queries.people.access import require
from inbox.rules.errors import NotFound
from inbox.rules.people.access import RETENTION, Actor, Permission

log = structlog.get_logger(__name__)

AT_ONCE = 500
#: An upload that is not part of a request by then is erased.
UNUSED_FOR = timedelta(days=1)
#: An object that is still being written then was left by a process that ended.
WRITTEN_WITHIN = timedelta(hours=6)


@transaction.atomic(durable=True)
def erase_file(*, file_id: UUID, actor: Actor) -> None:
    """
    Erase the name and the bytes of a file; its digest is kept.

    Safe to replay.

    Raises:
        NotFound, Forbidden.
    """
    row = File.objects.filter(pk=file_id).first()
    if row is None:
        raise NotFound()
    require(actor, row.team_id, Permission.ADMIN, row.agent_id)
    thread = lock_thread(row.thread_id)[0] if row.thread_id else None
    lock_team(row.team_id)
    require(actor, row.team_id, Permission.ADMIN, row.agent_id)
    _erase([file_id], team_id=row.team_id, thread=thread, actor=actor, now=database_now())


def erase_files_of_thread(*, thread: Thread, actor: Actor, now: datetime) -> int:
    """Erase the files of a thread in the caller's transaction, which holds the thread's lock."""
    ids = list(thread.files.filter(erased_at=None).values_list("pk", flat=True))
    if ids:
        lock_team(thread.team_id)
        _erase(ids, team_id=thread.team_id, thread=thread, actor=actor, now=now)
    return len(ids)


def erase_expired_files(*, team_id: UUID) -> int:
    """Erase up to AT_ONCE files that are older than the team's retention; return how many."""
    team = Team.objects.get(pk=team_id)
    if team.file_days is None:
        return 0
    oldest = database_now() - timedelta(days=team.file_days)
    rows = File.objects.filter(team=team, erased_at=None, created_at__lt=oldest)
    threads = dict.fromkeys(rows.order_by("created_at").values_list("thread", flat=True)[:AT_ONCE])
    return sum(_erase_older(team_id, thread_id, oldest) for thread_id in threads)


@transaction.atomic(durable=True)
def _erase_older(team_id: UUID, thread_id: UUID | None, oldest: datetime) -> int:
    thread = lock_thread(thread_id)[0] if thread_id else None
    lock_team(team_id)
    rows = File.objects.filter(
        team=team_id, thread=thread_id, erased_at=None, created_at__lt=oldest
    )
    ids = list(rows.values_list("pk", flat=True)[:AT_ONCE])
    _erase(ids, team_id=team_id, thread=thread, actor=RETENTION, now=database_now())
    return len(ids)


def delete_leftovers() -> None:
    """Erase uploads that are part of nothing, and delete what crashes left in the storage."""
    now = database_now()
    unused = File.objects.filter(thread=None, erased_at=None, created_at__lt=now - UNUSED_FOR)
    for team_id in set(unused.values_list("team", flat=True)[:AT_ONCE]):
        _erase_unused(team_id, now - UNUSED_FOR)
    delete_dead_blobs(written_before=now - WRITTEN_WITHIN)
    delete_left_uploads()
    delete_previews()


@transaction.atomic(durable=True)
def _erase_unused(team_id: UUID, oldest: datetime) -> None:
    lock_team(team_id)
    # Read under the lock: a decision that uses a file locks the team as well.
    rows = File.objects.filter(team=team_id, thread=None, erased_at=None, created_at__lt=oldest)
    ids = list(rows.values_list("pk", flat=True)[:AT_ONCE])
    _erase(ids, team_id=team_id, thread=None, actor=RETENTION, now=database_now())


def delete_dead_blobs(*, written_before: datetime) -> int:
    """Delete objects that no file needs, and those that were never finished; return how many."""
    dead = StoredBlob.objects.filter(state=BlobState.DELETING)
    left = StoredBlob.objects.filter(state=BlobState.WRITING, created_at__lt=written_before)
    rows = [*dead[:AT_ONCE], *left[:AT_ONCE]]
    for row in rows:
        delete_object(row.pk, row.key)
    return len(rows)


def delete_object(blob_id: UUID, key: str) -> None:
    """
    Delete an object, then its row; the sweeper repeats it if the storage is away.

    Nothing is deleted that a file needs: only an object that is being written can become stored.
    """
    row = StoredBlob.objects.filter(pk=blob_id)
    is_dead = row.exclude(state=BlobState.STORED).update(state=BlobState.DELETING)
    if not is_dead and row.exists():
        return
    try:
        file_storage().delete(key)
    except Exception as error:
        log.warning("file not deleted", error=type(error).__name__)
        return
    StoredBlob.objects.filter(pk=blob_id, state=BlobState.DELETING).delete()


def _erase(
    file_ids: Collection[UUID],
    *,
    team_id: UUID,
    thread: Thread | None,
    actor: Actor,
    now: datetime,
) -> None:
    """Erase files whose team, and thread if they have one, are locked."""
    matches = File.objects.filter(pk__in=file_ids, thread=thread, erased_at=None)
    blobs = {row.pk: row.blob for row in matches.select_related("blob")}
    # Guarded: a request or a decision may have taken a file that was part of nothing.
    matches.update(blob=None, name="", erased_at=now)
    rows = list(File.objects.filter(pk__in=blobs, thread=thread, erased_at=now))
    if not rows:
        return
    audit_trail.record(
        "file.erased",
        actor,
        now,
        thread=thread,
        team_id=team_id,
        files=[{"file": str(row.pk), "sha256": row.sha256} for row in rows],
    )
    _release([blob for row in rows if (blob := blobs[row.pk]) is not None])


def _release(blobs: Sequence[StoredBlob]) -> None:
    """Delete the objects that no file has any more, once the transaction is committed."""
    for blob in {blob.pk: blob for blob in blobs}.values():
        if File.objects.filter(blob=blob).exists():
            continue
        StoredBlob.objects.filter(pk=blob.pk).update(state=BlobState.DELETING)
        transaction.on_commit(partial(delete_object, blob.pk, blob.key))
