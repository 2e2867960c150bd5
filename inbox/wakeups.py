"""
Wake-ups, sent on commit: they say "look again", carry no facts, and may be lost.

A lost wake-up costs latency only. The sweeper repeats those for queued runs and for due webhook
messages; subscribers poll every two seconds.
"""

import asyncio
import threading
from collections.abc import Sequence
from functools import partial, update_wrapper
from typing import Any
from uuid import UUID

import structlog
from celery import current_app
from channels.layers import BaseChannelLayer, get_channel_layer
from django.db import transaction

log = structlog.get_logger(__name__)

WAKEUP_GROUP = "wakeups"
#: Processes exchange here who has which page open; it is not stored.
PRESENCE_GROUP = "presence"
#: Inside one process, committed rows are handed over with a wake-up, up to this many characters.
HANDOVER_CHARACTERS = 64_000
#: Decisions that one wake-up names.
MAX_DECIDED = 100
_MAX_UNSENT = 1_000


def wake_workers_on_commit(run_id: UUID) -> None:
    """Wake a worker for a queued run."""
    _on_commit(wake_workers, run_id)


def wake_workers(run_id: UUID) -> None:
    """Wake a worker now; for the sweeper, which commits nothing."""
    _send("inbox.tasks.execute_run", run_id)


def wake_webhook_workers_on_commit(endpoint_id: UUID) -> None:
    """Wake a worker for the messages of a webhook endpoint."""
    _on_commit(wake_webhook_workers, endpoint_id)


def wake_webhook_workers(endpoint_id: UUID) -> None:
    """Wake a worker now; for the sweeper, and for a worker that leaves messages to others."""
    _send("inbox.tasks.deliver_webhooks", endpoint_id)


def wake_notifiers(channel_id: UUID) -> None:
    """Wake a worker for the notifications of a channel; the sweeper calls it every second."""
    _send("inbox.tasks.send_notifications", channel_id)


def wake_inviters_on_commit(invitation_id: UUID) -> None:
    """Wake a worker for the mail of an invitation."""
    _on_commit(wake_inviters, invitation_id)


def wake_inviters(invitation_id: UUID) -> None:
    """Wake a worker now; for the sweeper."""
    _send("inbox.tasks.send_invitation", invitation_id)


def wake_publishers(sink: int) -> None:
    """Wake a worker to send checkpoints to a sink, given by its number in the setting."""
    _send("inbox.tasks.publish_checkpoints", sink)


def wake_entry_publishers(sink: int) -> None:
    """Wake a worker to send audit entries to a sink, given by its number in the setting."""
    _send("inbox.tasks.publish_entries", sink)


def wake_subscribers_on_commit(thread_id: UUID, rows: Sequence[tuple[int, str, str, str]]) -> None:
    """Wake the subscribers of a thread, whose log grew by `rows`: (seq, run id, type, body)."""
    message: dict[str, Any] = {
        "type": "wakeup.thread",
        "thread": str(thread_id),
        "seq": rows[-1][0],
    }
    if carries_rows() and sum(len(row[3]) for row in rows) <= HANDOVER_CHARACTERS:
        message["rows"] = rows
    _on_commit(_sender.send, message)


def wake_open_pages_on_commit(
    team_id: UUID, thread_id: UUID, *, decided: Sequence[UUID] = (), by: str = ""
) -> None:
    """
    Wake a team's open pages after interrupts or runs of a thread have changed.

    The interrupts that were `decided`, and by whom, are sent along as a hint, so that pages can
    disable them before they have reloaded.
    """
    message: dict[str, Any] = {
        "type": "wakeup.team",
        "team": str(team_id),
        "thread": str(thread_id),
    }
    if decided:
        ids = [str(interrupt_id) for interrupt_id in decided[:MAX_DECIDED]]
        message["decided"] = {"interrupts": ids, "by": by}
    _on_commit(_sender.send, message)


def _send(task: str, row_id: UUID | int) -> None:
    try:
        current_app.send_task(task, args=[str(row_id)])
    except Exception as error:  # the broker is down; the sweeper repeats the wake-up
        log.warning("broker unreachable", task=task, id=str(row_id), error=type(error).__name__)


def _on_commit(function: Any, *arguments: Any) -> None:
    """Call a function after the commit; its failure does not make the action fail."""
    call = partial(function, *arguments)
    # Django logs the function's name if it fails, and a partial has none.
    update_wrapper(call, function)
    transaction.on_commit(call, robust=True)


def channel_layer() -> BaseChannelLayer:
    """Return the channel layer that carries wake-ups."""
    layer = get_channel_layer()
    if layer is None:
        raise RuntimeError("CHANNEL_LAYERS has no default layer.")
    return layer


def carries_rows() -> bool:
    """
    Return whether wake-ups stay in this process, and so may carry rows of the log.

    Through Redis they carry none, and rows that come from there are ignored: Redis is shared, so
    others could read events there, or forge them.
    """
    # On the class: the Redis layer needs a running loop for any unknown attribute.
    return hasattr(type(channel_layer()), "group_send_now")


class _WakeupSender:
    """
    Sends wake-ups from any thread, over one event loop of its own.

    A loop that keeps running keeps the layer's connections; `async_to_sync` would reconnect.
    """

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._unsent = threading.BoundedSemaphore(_MAX_UNSENT)

    def send(self, message: dict[str, Any]) -> None:
        layer: Any = channel_layer()
        if carries_rows():
            layer.group_send_now(WAKEUP_GROUP, message)  # embedded: no network, nothing to wait for
        elif self._unsent.acquire(blocking=False):
            asyncio.run_coroutine_threadsafe(self._send_to_layer(message), self._running_loop())
        # Otherwise the layer is down, and subscribers poll.

    async def _send_to_layer(self, message: dict[str, Any]) -> None:
        try:
            await asyncio.wait_for(channel_layer().group_send(WAKEUP_GROUP, message), timeout=2)
        except Exception as error:  # a wake-up may be lost
            log.warning("wake-up lost", kind=message["type"], error=type(error).__name__)
        finally:
            self._unsent.release()

    def _running_loop(self) -> asyncio.AbstractEventLoop:
        with self._guard:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                threading.Thread(target=self._loop.run_forever, name="wakeups", daemon=True).start()
            return self._loop


_sender = _WakeupSender()
