"""The event loop that all runs of framework agents share, in a background thread."""

import asyncio
import time
from concurrent.futures import ThreadPoolExecutor
from threading import Lock, Thread

_lock = Lock()
_loops: list[asyncio.AbstractEventLoop] = []
_threads: list[Thread] = []


def framework_loop() -> asyncio.AbstractEventLoop:
    """
    Return the shared loop of this process, which never closes.

    The engine uses a new loop for each run, but the connections of a model's client belong to the
    loop that opened them and would be unusable in the next run.
    """
    with _lock:
        if not _loops:
            loop = asyncio.new_event_loop()
            loop.set_default_executor(ThreadPoolExecutor(32, thread_name_prefix="framework"))
            thread = Thread(target=loop.run_forever, name="frameworks", daemon=True)
            thread.start()
            _threads.append(thread)
            _loops.append(loop)
        return _loops[0]


class LoopProbe:
    """Measures how long the shared loop has not run a callback."""

    def __init__(self) -> None:
        self._sent_at: float | None = None

    def unanswered(self) -> tuple[float, int]:
        """Return for how many seconds the loop has not answered, and the id of its thread."""
        if not _loops:
            return 0.0, 0
        sent_at = self._sent_at  # the loop's thread may set it meanwhile
        if sent_at is None:
            sent_at = self._sent_at = time.monotonic()
            _loops[0].call_soon_threadsafe(self._answer)
        return time.monotonic() - sent_at, _threads[0].ident or 0

    def _answer(self) -> None:
        self._sent_at = None


probe = LoopProbe()
