"""Audit entries about downloads."""

from django.db import transaction

from inbox.actions.audit import audit_trail
from inbox.models import File
from inbox.models.locks import lock_thread
from inbox.platform.clock import database_now
from inbox.rules.people.access import Actor


@transaction.atomic(durable=True)
def record_download(*, file: File, actor: Actor) -> None:
    """Record that somebody loads a file, unless they uploaded it."""
    is_own = actor.user_id is not None and actor.user_id == file.user_id
    if is_own or (actor.key_id is not None and actor.key_id == file.api_key_id):
        return
    thread = lock_thread(file.thread_id)[0] if file.thread_id else None
    audit_trail.record(
        "file.downloaded",
        actor,
        database_now(),
        thread=thread,
        team_id=file.team_id,
        digests={"file": file.sha256},
        file=str(file.pk),
        name=file.name,
    )
