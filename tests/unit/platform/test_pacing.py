"""Pauses in background work: short in an idle process, long while others need the interpreter."""

import threading
import time

import pytest

from inbox.platform.timers import SLICE_SECONDS, Pacer


@pytest.fixture
def _background_work_does_not_pause():
    """Here it does."""


@pytest.fixture
def other_work():
    """A thread that does what requests do: Python."""
    stopping = threading.Event()

    def work():
        while not stopping.is_set():
            sum(range(1_000))

    thread = threading.Thread(target=work)
    thread.start()
    yield
    stopping.set()
    thread.join()


def work_share(pacer, slices):
    """Return the part of the time that is not a pause."""
    worked, begun = 0.0, time.perf_counter()
    for _ in range(slices):
        slice_begun = time.perf_counter()
        while time.perf_counter() - slice_begun < SLICE_SECONDS:
            pass
        worked += time.perf_counter() - slice_begun
        pacer.pause_if_due()
    return worked / (time.perf_counter() - begun)


def test_background_work_takes_a_small_part_of_a_busy_process(other_work):
    pacer = Pacer()
    pacer.start()
    work_share(pacer, 3)

    assert work_share(pacer, 10) < 0.2


def test_a_slice_that_is_not_over_gets_no_pause():
    pacer, begun = Pacer(), time.thread_time()

    numbers = list(pacer.paced(range(10)))

    assert numbers == list(range(10))
    assert time.thread_time() - begun < SLICE_SECONDS
