"""Files as parts of requests and answers: which ones may be named, and what they are bound to."""

import json
from collections.abc import Iterable, Sequence
from typing import Any
from uuid import UUID

from inbox.models import File, Interrupt, Thread
from inbox.rules import errors
from inbox.rules.decisions.consent import (
    RULED_VIEW_VERSIONS,
    SIGNOFF,
    canonical_json,
    has_present,
    view_version,
)
from inbox.rules.files.references import MARK, MAX_FILES, FileAddress, files_in
from inbox.rules.people.access import Actor
from inbox.rules.text.messages import TranslatableMessage


def attach_files(thread: Thread, rows: Sequence[Interrupt]) -> None:
    """
    Set the files that the agent names in `metadata.signoff.files` on new interrupts.

    The caller holds the thread's lock. The view digest then has the digests of their bytes.

    Raises:
        ProtocolBroken: there is no such file of this agent.
    """
    named = {id(row): _named_files(json.loads(row.body)) for row in rows if MEMBER in row.body}
    ids = list(dict.fromkeys(file_id for names in named.values() for file_id in names))
    if not ids:
        return
    files = {file.pk: file for file in _take(thread, ids)}
    if len(files) < len(ids):
        raise errors.ProtocolBroken("A request names a file that this agent does not have.")
    for row in rows:
        facts = [files[file_id].reference.facts() for file_id in named.get(id(row), ())]
        if facts:
            row.files = canonical_json(facts)
            row.view_version = view_version(
                has_present=has_present(row.view_version),
                has_ruling=row.view_version in RULED_VIEW_VERSIONS,
                has_files=True,
            )


#: What the text of an interrupt with files contains.
MEMBER = '"files"'


def take_files_of_run(thread: Thread, file_ids: Sequence[UUID]) -> list[File]:
    """
    Return the files that a new run names; they belong to its thread from now on.

    Raises:
        InvalidValue: there is no such file for the agent.
    """
    files = {file.pk: file for file in _take(thread, file_ids)}
    if len(file_ids) > MAX_FILES or len(files) < len(set(file_ids)):
        problem = TranslatableMessage(
            "Name up to {most} files that were sent for this agent.", most=MAX_FILES
        )
        raise errors.InvalidValue(problem, problems={"files": [problem]})
    return [files[file_id] for file_id in dict.fromkeys(file_ids)]


def take_files_of_answer(interrupt: Interrupt, payload: Any, actor: Actor) -> None:
    """
    Check the files that an answer refers to; they belong to the thread from now on.

    A file is one of this thread, or was uploaded for this request or by the actor.

    Raises:
        InvalidPayload: there is no such file, or its digest is another one.
    """
    if payload is None or MARK not in json.dumps(payload):
        return
    proposed = {file.id for file in files_in(json.loads(interrupt.args or "null"))}
    named = {file for file in files_in(payload) if file.id not in proposed}
    if not named:
        return
    rows = File.objects.filter(pk__in=[file.id for file in named], team=interrupt.team_id)
    unused = [row.pk for row in rows if row.thread_id is None and _is_usable(row, interrupt, actor)]
    _attach(unused, interrupt.thread_id)
    # Read after the change: the file may have been erased, or used elsewhere, in the meantime.
    usable = {row.pk: row for row in rows.filter(thread=interrupt.thread_id, erased_at=None)}
    if len(named) > MAX_FILES or not all(_is_file(usable, file) for file in named):
        problem = TranslatableMessage("This file does not exist. Upload it again.")
        raise errors.InvalidPayload(
            problem, problems=[{"pointer": "", "message": problem, "keyword": "file"}]
        )


def _is_file(rows: dict[UUID, File], file: FileAddress) -> bool:
    return file.id in rows and rows[file.id].sha256 == file.sha256


def _is_usable(row: File, interrupt: Interrupt, actor: Actor) -> bool:
    is_own = (row.user_id, row.api_key_id) == (actor.user_id, actor.key_id)
    return row.interrupt_id == interrupt.pk or (is_own and row.interrupt_id is None)


def _named_files(body: dict[str, Any]) -> list[UUID]:
    """Return the ids in `metadata.signoff.files`: texts, or references with an `id`."""
    metadata = body.get("metadata")
    signoff = metadata.get(SIGNOFF) if isinstance(metadata, dict) else None
    names = signoff.get("files", []) if isinstance(signoff, dict) else []
    if not isinstance(names, list) or len(names) > MAX_FILES:
        raise errors.ProtocolBroken(f"A request has up to {MAX_FILES} files, in a list.")
    return [_id_of(name) for name in names]


def _id_of(name: Any) -> UUID:
    try:
        return UUID(str(name["id"] if isinstance(name, dict) else name))
    except (KeyError, ValueError) as error:
        raise errors.ProtocolBroken("A request names a file by its id.") from error


def _take(thread: Thread, file_ids: Iterable[UUID]) -> list[File]:
    """Return the files that the thread may have, which belong to it from now on."""
    rows = File.objects.filter(pk__in=list(file_ids), team=thread.team_id, agent_id=thread.agent_id)
    _attach(rows.filter(interrupt=None).values("pk"), thread.pk)
    return list(rows.filter(thread=thread, erased_at=None))


def _attach(file_ids: Any, thread_id: UUID) -> None:
    """Make files part of a thread that are part of none, and not erased in the meantime."""
    free = File.objects.filter(pk__in=file_ids, thread=None, erased_at=None)
    free.update(thread=thread_id)
