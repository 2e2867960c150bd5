"""The event loop that all runs of framework agents share, in a background thread."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from threading import Lock, Thread

_lock = Lock()
_loops: list[asyncio.AbstractEventLoop] = []


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
            Thread(target=loop.run_forever, name="frameworks", daemon=True).start()
            _loops.append(loop)
        return _loops[0]
