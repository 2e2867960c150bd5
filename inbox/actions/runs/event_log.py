"""Appending events to a thread's log, under its lock."""

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from ag_ui.core import BaseEvent

from agents.agui import wire
from inbox import wakeups
from inbox.models import Event, Run, Thread
from inbox.models.statements import insert_values, save_fields


class Frame(NamedTuple):
    """An event encoded as JSON, as it is stored and sent to every subscriber."""

    type: str
    body: str
    from_agent: bool


def encode_frame(event: BaseEvent, *, from_agent: bool = False) -> Frame:
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
    Append frames with the thread's next sequence numbers; the caller holds its lock.

    Saves the thread; `changed` names other fields of it that the caller has set.
    """
    if not frames:
        return
    first = thread.next_seq
    insert_values(
        Event,
        [
            {
                "thread_id": thread.pk,
                "run_id": run.pk,
                "seq": first + offset,
                "type": frame.type,
                "body": frame.body,
                "from_agent": frame.from_agent,
                "at": now,
            }
            for offset, frame in enumerate(frames)
        ],
    )
    thread.next_seq = first + len(frames)
    thread.event_bytes += sum(len(frame.body) for frame in frames)
    thread.updated_at = now
    save_fields(thread, "next_seq", "event_bytes", "updated_at", *changed)
    rows = [
        (first + offset, str(run.pk), frame.type, frame.body) for offset, frame in enumerate(frames)
    ]
    wakeups.wake_subscribers_on_commit(thread.pk, rows)
