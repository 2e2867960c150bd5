"""Appending to a thread's event log, under its lock."""

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from ag_ui.core import BaseEvent

from agents.agui import wire
from inbox import wakeups
from inbox.models import Event, Run, Thread
from inbox.models.statements import insert, save_fields


class Frame(NamedTuple):
    """An event ready to be stored: encoded once, for every follower."""

    type: str
    body: str
    from_agent: bool


def encode_frame(event: BaseEvent, *, from_agent: bool = False) -> Frame:
    """Encode an event."""
    return Frame(event.type.value, wire.encode(event), from_agent)


def append_frames(
    *,
    thread: Thread,
    run: Run,
    frames: Sequence[Frame],
    now: datetime,
    changed: Sequence[str] = (),
) -> None:
    """
    Give the frames the thread's next numbers; the thread is locked, so there is no gap.

    `changed` names other fields of the thread that the caller has set.
    """
    if not frames:
        return
    first = thread.next_seq
    insert(
        [
            Event(
                thread_id=thread.pk,
                run_id=run.pk,
                seq=first + offset,
                type=item.type,
                body=item.body,
                from_agent=item.from_agent,
                at=now,
            )
            for offset, item in enumerate(frames)
        ]
    )
    thread.next_seq = first + len(frames)
    thread.updated_at = now
    save_fields(thread, "next_seq", "updated_at", *changed)
    rows = [
        (first + offset, str(run.pk), item.type, item.body) for offset, item in enumerate(frames)
    ]
    wakeups.wake_subscribers_on_commit(thread.pk, rows)
