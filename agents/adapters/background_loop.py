"""Where frameworks live: one event loop for all their runs, in a thread of its own."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from threading import Lock, Thread

_lock = Lock()
_loops: list[asyncio.AbstractEventLoop] = []


def framework_loop() -> asyncio.AbstractEventLoop:
    """
    Return the loop of this process, which never closes.

    A run of ours has a loop of its own, but a model's client keeps its connections, and they belong
    to the loop that opened them: in the next run they would be dead.
    """
    with _lock:
        if not _loops:
            loop = asyncio.new_event_loop()
            loop.set_default_executor(ThreadPoolExecutor(32, thread_name_prefix="framework"))
            Thread(target=loop.run_forever, name="frameworks", daemon=True).start()
            _loops.append(loop)
        return _loops[0]
