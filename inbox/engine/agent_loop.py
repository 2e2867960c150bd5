"""The agent's side of a run: its event loop, which stands still while the driver writes."""

import asyncio
import contextlib
import time
from collections import deque
from collections.abc import AsyncIterator, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from ag_ui.core import BaseEvent, TextMessageContentEvent, ToolCallArgsEvent

#: A batch is due this long after the one before it, or when so many events that are no deltas wait.
BATCH_SECONDS = 0.05
BATCH_EVENTS = 50
#: How long an agent has to stop when it is told to.
STOP_SECONDS = 2.0
#: An agent that never pauses is held back here, so that its events cannot pile up.
_MOST_WAITING = 1_000


Action = Callable[[Any, list[Any]], Any]


@dataclass(frozen=True)
class Command:
    """
    Something the agent asked for that the driver does, in order with the events before it.

    Neighbours with the same action are done at once: it takes the events that come before them and
    all their subjects, commits them together, and returns as many results.
    """

    action: Action
    subject: Any
    future: "asyncio.Future[Any]"


@dataclass(frozen=True)
class ToolResult:
    """The result of a call that may be called again: it can wait for the next batch."""

    tool_call_id: str
    result: str


@dataclass(frozen=True)
class OutOfBandEvents:
    """What a tool at work says, beside the events that the agent yields."""

    events: Sequence[BaseEvent]


@dataclass(frozen=True)
class EndOfStream:
    """The agent stopped yielding, by itself or by raising."""

    error: BaseException | None


Item = BaseEvent | Command | ToolResult | OutOfBandEvents | EndOfStream


class _LastingThreads(ThreadPoolExecutor):
    """Threads for blocking tools, which outlive the event loops that borrow them."""

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Do nothing: every loop that closes would shut down its default executor."""


_tool_threads = _LastingThreads(max_workers=32, thread_name_prefix="tool")


class AgentLoop:
    """
    Runs an agent in turns of at most a batch; between two turns its loop does not run.

    So there is no moment at which a transaction is open and agent code is running, and no second
    thread that the driver would have to be guarded against.
    """

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._loop.set_default_executor(_tool_threads)
        self._items: deque[Item] = deque()
        self._urgent = False
        self._plain = 0
        self._last_batch = 0.0
        self._something = asyncio.Event()
        self._room = asyncio.Event()
        self._pump: asyncio.Task[None] | None = None

    def start(self, events: AsyncIterator[BaseEvent]) -> None:
        self._pump = self._loop.create_task(self._drain(events))

    def next_batch(self, patience: float) -> list[Item]:
        """Let the agent run until a batch is due; empty if it was silent for `patience` seconds."""
        return self._loop.run_until_complete(self._gather(patience))

    def note(self, settled: ToolResult) -> None:
        """Called by agent code: have a result kept with what comes next."""
        self._put(settled)

    def emit_out_of_band(self, events: Sequence[BaseEvent]) -> None:
        """Called by agent code, also from its threads: say something on the side."""
        with contextlib.suppress(RuntimeError):  # the run is over, and its loop is closed
            self._loop.call_soon_threadsafe(self._put, OutOfBandEvents(tuple(events)))

    def ask(self, action: Action, subject: Any) -> "asyncio.Future[Any]":
        """Called by agent code: have the driver do something, and wait for the result."""
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._put(Command(action, subject, future), urgent=True)
        return future

    def close(self) -> bool:
        """Stop the agent wherever it is; return whether it let itself be stopped."""
        left = asyncio.all_tasks(self._loop)
        for task in left:
            task.cancel()
        if left:
            waiting = asyncio.wait(left, timeout=STOP_SECONDS)
            _, left = self._loop.run_until_complete(waiting)
        if not left:
            self._loop.run_until_complete(self._loop.shutdown_asyncgens())
            self._loop.close()
        # A task that swallows its cancellation is left behind in a loop that never runs again.
        return not left

    async def _drain(self, events: AsyncIterator[BaseEvent]) -> None:
        error: BaseException | None = None
        try:
            async for event in events:
                self._put(event)
                if len(self._items) >= _MOST_WAITING:
                    self._room.clear()
                    await self._room.wait()
        except BaseException as raised:
            error = raised
        self._put(EndOfStream(error), urgent=True)

    def _put(self, item: Item, *, urgent: bool = False) -> None:
        self._items.append(item)
        if not isinstance(item, TextMessageContentEvent | ToolCallArgsEvent | ToolResult):
            self._plain += 1
        if urgent or self._plain >= BATCH_EVENTS or len(self._items) >= _MOST_WAITING:
            self._urgent = True
        if len(self._items) == 1 or self._urgent:
            self._something.set()

    async def _gather(self, patience: float) -> list[Item]:
        if not self._items and not await self._wait(patience):
            return []
        due = self._last_batch + BATCH_SECONDS - time.monotonic()
        while not self._urgent and due > 0:
            await self._wait(due)
            due = self._last_batch + BATCH_SECONDS - time.monotonic()
        batch = list(self._items)
        self._items.clear()
        self._urgent, self._plain = False, 0
        self._last_batch = time.monotonic()
        self._room.set()
        return batch

    async def _wait(self, seconds: float) -> bool:
        self._something.clear()
        try:
            async with asyncio.timeout(seconds):
                await self._something.wait()
        except TimeoutError:
            return False
        return True
