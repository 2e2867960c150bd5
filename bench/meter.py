"""CPU time and memory of the product's processes."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import psutil

_SAMPLE_SECONDS = 0.2


def foreign_cpu_seconds() -> float:
    """Return the processor time of this machine that neither this process nor its children used."""
    machine = psutil.cpu_times()
    busy = sum(machine) - machine.idle - getattr(machine, "iowait", 0.0)
    busy -= getattr(machine, "guest", 0.0) + getattr(machine, "guest_nice", 0.0)
    me = psutil.Process()
    return busy - sum(_cpu_seconds(process) for process in (me, *me.children(recursive=True)))


def _cpu_seconds(process: psutil.Process) -> float:
    try:
        times = process.cpu_times()
    except psutil.NoSuchProcess:
        return 0.0
    return float(times.user + times.system)


class Meter:
    """A meter of processes and their children; `peak_bytes` is the largest sum of RSS."""

    def __init__(self, pids: Sequence[int]) -> None:
        self._processes = [psutil.Process(pid) for pid in pids]
        self.peak_bytes = 0

    def cpu_seconds(self) -> float:
        """Return the user and system time so far, including children."""
        return sum(_cpu_seconds(process) for process in self._all_processes())

    def sample(self) -> None:
        """Take a sample of the memory."""
        rss = sum(process.memory_info().rss for process in self._all_processes())
        self.peak_bytes = max(self.peak_bytes, rss)

    @asynccontextmanager
    async def watching(self) -> AsyncIterator[None]:
        """Take samples of the memory while the block runs."""
        sampler = asyncio.create_task(self._sample_repeatedly())
        try:
            yield
        finally:
            sampler.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await sampler
            self.sample()

    async def _sample_repeatedly(self) -> None:
        while True:
            self.sample()
            await asyncio.sleep(_SAMPLE_SECONDS)

    def _all_processes(self) -> list[psutil.Process]:
        return [
            member
            for process in self._processes
            for member in (process, *process.children(recursive=True))
        ]
