"""
Rings, on commit only: they say "look again", and every one of them may be lost.

What heals a lost ring: the sweeper rings again for queued runs and for messages that are due, and
followers look by themselves every two seconds.
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

WAKEUP_GROUP = "rings"
#: Who has which page open; processes tell each other, and nobody stores it.
PRESENCE_GROUP = "presence"
#: Committed rows travel with the ring as a hint, up to this many characters.
HINT_CHARACTERS = 64_000
#: This many decisions are named by one ring.
MOST_DECIDED = 100
_MAX_UNSENT = 1_000


def wake_workers_on_commit(run_id: UUID) -> None:
    """Tell some worker that a run is queued."""
    _on_commit(wake_workers, run_id)


def wake_workers(run_id: UUID) -> None:
    """Tell some worker now; for the sweeper, which has nothing to commit."""
    _send("inbox.tasks.execute_run", run_id)


def wake_webhook_workers_on_commit(endpoint_id: UUID) -> None:
    """Tell some worker that there are messages for an endpoint."""
    _on_commit(wake_webhook_workers, endpoint_id)


def wake_webhook_workers(endpoint_id: UUID) -> None:
    """Tell some worker now; for the sweeper and for couriers who leave some for others."""
    _send("inbox.tasks.deliver_webhooks", endpoint_id)


def wake_publishers(sink: int) -> None:
    """Tell some worker that a sink, by its number in the setting, lacks checkpoints."""
    _send("inbox.tasks.publish_checkpoints", sink)


def wake_subscribers_on_commit(thread_id: UUID, rows: Sequence[tuple[int, str, str, str]]) -> None:
    """Tell followers of a thread that its log grew by `rows`: (seq, run id, type, body)."""
    small = sum(len(row[3]) for row in rows) <= HINT_CHARACTERS
    message = {
        "type": "wakeup.thread",
        "thread": str(thread_id),
        "seq": rows[-1][0],
        "rows": [list(row) for row in rows] if small else [],
    }
    _on_commit(_sender.ring, message)


def wake_open_pages_on_commit(
    team_id: UUID, thread_id: UUID, *, decided: Sequence[UUID] = (), by: str = ""
) -> None:
    """
    Tell a team's open pages that interrupts or runs of a thread have changed.

    Which ones were `decided`, and by whom, goes along as a hint, so that nobody begins to answer
    them while their page reads again; as many as anybody sees at once.
    """
    message: dict[str, Any] = {
        "type": "wakeup.team",
        "team": str(team_id),
        "thread": str(thread_id),
    }
    if decided:
        names = [str(one) for one in decided[:MOST_DECIDED]]
        message["decided"] = {"interrupts": names, "by": by}
    _on_commit(_sender.ring, message)


def _send(task: str, row_id: UUID | int) -> None:
    try:
        current_app.send_task(task, args=[str(row_id)])
    except Exception as error:  # the broker may be away for a while; the sweeper rings again
        log.warning("broker unreachable", task=task, id=str(row_id), error=type(error).__name__)


def _on_commit(function: Any, *arguments: Any) -> None:
    """Call a function after the commit, which its failure does not turn into one."""
    call = partial(function, *arguments)
    # Django names what failed by this, and a partial has no name.
    update_wrapper(call, function)
    transaction.on_commit(call, robust=True)


def channel_layer() -> BaseChannelLayer:
    """The channel layer that carries rings."""
    layer = get_channel_layer()
    if layer is None:
        raise RuntimeError("CHANNEL_LAYERS has no default layer.")
    return layer


class _WakeupSender:
    """
    Sends rings from any thread over one event loop of its own.

    A loop kept running keeps the layer's connections; `async_to_sync` would open them every time.
    """

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._unsent = threading.BoundedSemaphore(_MAX_UNSENT)

    def ring(self, message: dict[str, Any]) -> None:
        layer: Any = channel_layer()
        # Asked of the class: the Redis layer looks for a running loop at any unknown attribute.
        if hasattr(type(layer), "group_send_now"):
            layer.group_send_now(WAKEUP_GROUP, message)  # embedded: no network, nothing to wait for
        elif self._unsent.acquire(blocking=False):
            asyncio.run_coroutine_threadsafe(self._send(message), self._running_loop())
        # Otherwise the layer does not answer: whoever waits looks by itself.

    async def _send(self, message: dict[str, Any]) -> None:
        try:
            await asyncio.wait_for(channel_layer().group_send(WAKEUP_GROUP, message), timeout=2)
        except Exception as error:  # a ring may be lost, a commit may not
            log.warning("ring lost", kind=message["type"], error=type(error).__name__)
        finally:
            self._unsent.release()

    def _running_loop(self) -> asyncio.AbstractEventLoop:
        with self._guard:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                threading.Thread(target=self._loop.run_forever, name="bell", daemon=True).start()
            return self._loop


_sender = _WakeupSender()
