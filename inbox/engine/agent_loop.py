"""The event loop that runs an agent; it is stopped while the driver writes."""

import asyncio
import contextlib
import time
from collections import deque
from collections.abc import AsyncIterator, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from ag_ui.core import BaseEvent, TextMessageContentEvent, ToolCallArgsEvent

#: A batch is due this long after the previous one, or with this many events other than deltas.
BATCH_SECONDS = 0.05
BATCH_EVENTS = 50
#: The time that an agent has to react to its cancellation.
STOP_SECONDS = 2.0
#: Backpressure: an agent with this many undelivered events is paused.
_MAX_QUEUED = 1_000


Action = Callable[[Any, list[Any]], Any]


@dataclass(frozen=True)
class Command:
    """
    An action that the driver runs for the agent, in order with the events before it.

    Adjacent commands with the same action run as one: the action gets the preceding events and all
    the subjects, commits them together, and returns one result for each subject.
    """

    action: Action
    subject: Any
    future: "asyncio.Future[Any]"


@dataclass(frozen=True)
class ToolResult:
    """The result of a repeatable tool call, committed with the next batch."""

    tool_call_id: str
    result: str


@dataclass(frozen=True)
class OutOfBandEvents:
    """Events of a running tool, in addition to the events that the agent yields."""

    events: Sequence[BaseEvent]


@dataclass(frozen=True)
class EndOfStream:
    """The end of the agent's events, with the error if the agent raised one."""

    error: BaseException | None


Item = BaseEvent | Command | ToolResult | OutOfBandEvents | EndOfStream


class _LastingThreads(ThreadPoolExecutor):
    """Threads for blocking tools, shared by all event loops."""

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Do nothing; each loop shuts its default executor down when it closes."""


_tool_threads = _LastingThreads(max_workers=32, thread_name_prefix="tool")


class AgentLoop:
    """
    Runs an agent until a batch of events is due; between batches its event loop does not run.

    Therefore no agent code runs while a transaction is open, and the driver needs no locking
    against another thread.
    """

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._loop.set_default_executor(_tool_threads)
        self._loop.set_task_factory(self._create_task)
        self._tasks: set[asyncio.Task[Any]] = set()
        self._items: deque[Item] = deque()
        self._is_due = False
        self._non_deltas = 0
        self._last_batch = 0.0
        self._has_items = asyncio.Event()
        self._has_capacity = asyncio.Event()
        self._drain_task: asyncio.Task[None] | None = None

    def start(self, events: AsyncIterator[BaseEvent]) -> None:
        self._drain_task = self._loop.create_task(self._drain(events))

    def next_batch(self, patience: float) -> list[Item]:
        """Run the agent until a batch is due; return [] after `patience` seconds without events."""
        return self._loop.run_until_complete(self._next_batch(patience))

    def add_result(self, settled: ToolResult) -> None:
        """Add a result to the next batch; called by agent code."""
        self._put(settled)

    def emit_out_of_band(self, events: Sequence[BaseEvent]) -> None:
        """Add events of a running tool; called by agent code, also from its threads."""
        with contextlib.suppress(RuntimeError):  # the run is over, and its loop is closed
            self._loop.call_soon_threadsafe(self._put, OutOfBandEvents(tuple(events)))

    def run_command(self, action: Action, subject: Any) -> "asyncio.Future[Any]":
        """Have the driver run an action; called by agent code, which awaits the result."""
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._put(Command(action, subject, future), urgent=True)
        return future

    def close(self) -> bool:
        """Cancel the agent; return whether it has stopped within STOP_SECONDS."""
        pending = {task for task in self._tasks if not task.done()}
        for task in pending:
            task.cancel()
        if pending:
            cancellation = asyncio.wait(pending, timeout=STOP_SECONDS)
            _, pending = self._loop.run_until_complete(cancellation)
        if not pending:
            self._loop.run_until_complete(self._loop.shutdown_asyncgens())
            self._loop.close()
        # A task that ignores its cancellation stays in a loop that never runs again.
        return not pending

    def _create_task(
        self, loop: asyncio.AbstractEventLoop, coroutine: Any, **options: Any
    ) -> "asyncio.Task[Any]":
        """Create a task that `close` cancels; all_tasks() reads those of the whole process."""
        task = asyncio.Task(coroutine, loop=loop, **options)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def _drain(self, events: AsyncIterator[BaseEvent]) -> None:
        error: BaseException | None = None
        try:
            async for event in events:
                self._put(event)
                if len(self._items) >= _MAX_QUEUED:
                    self._has_capacity.clear()
                    await self._has_capacity.wait()
        except BaseException as raised:
            error = raised
        self._put(EndOfStream(error), urgent=True)

    def _put(self, item: Item, *, urgent: bool = False) -> None:
        self._items.append(item)
        if not isinstance(item, TextMessageContentEvent | ToolCallArgsEvent | ToolResult):
            self._non_deltas += 1
        if urgent or self._non_deltas >= BATCH_EVENTS or len(self._items) >= _MAX_QUEUED:
            self._is_due = True
        if len(self._items) == 1 or self._is_due:
            self._has_items.set()

    async def _next_batch(self, patience: float) -> list[Item]:
        if not self._items and not await self._wait(patience):
            return []
        due = self._last_batch + BATCH_SECONDS - time.monotonic()
        while not self._is_due and due > 0:
            await self._wait(due)
            due = self._last_batch + BATCH_SECONDS - time.monotonic()
        batch = list(self._items)
        self._items.clear()
        self._is_due, self._non_deltas = False, 0
        self._last_batch = time.monotonic()
        self._has_capacity.set()
        return batch

    async def _wait(self, seconds: float) -> bool:
        self._has_items.clear()
        try:
            async with asyncio.timeout(seconds):
                await self._has_items.wait()
        except TimeoutError:
            return False
        return True
