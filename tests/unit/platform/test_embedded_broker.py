"""What replaces Redis in the embedded shape: nobody polls, nothing blocks, nothing raises."""

import asyncio
import queue
import threading
import time
from uuid import uuid4

import pytest
from kombu import Connection, Queue

from inbox.platform.embedded.broker import Transport
from inbox.platform.embedded.channel_layer import EmbeddedChannelLayer

PATIENCE = 10
TRIPS = 20


@pytest.fixture
def broker():
    with Connection(transport=Transport) as connection:
        yield connection


@pytest.fixture
def consumer(broker):
    """A thread that waits for messages as a worker does; they come out of the queue it returns."""
    name, received, is_done = f"q-{uuid4()}", queue.Queue(), threading.Event()

    def take(body, message):
        message.ack()
        received.put(body)

    def consume():
        with Connection(transport=Transport) as own:
            consuming = own.Consumer(
                Queue(name, channel=own), callbacks=[take], accept=["json", "text/plain"]
            )
            consuming.qos(prefetch_count=1)
            with consuming:
                received.put("ready")
                while not is_done.is_set():
                    own.drain_events(timeout=PATIENCE)

    thread = threading.Thread(target=consume, daemon=True)
    thread.start()
    assert received.get(timeout=PATIENCE) == "ready"
    yield broker.SimpleQueue(name), received
    is_done.set()
    broker.SimpleQueue(name).put("the end")
    thread.join(PATIENCE)
    assert not thread.is_alive()


def test_a_message_from_another_thread_wakes_a_waiting_consumer_at_once(consumer):
    sender, received = consumer

    begun = time.monotonic()
    for number in range(TRIPS):
        sender.put(number)
        assert received.get(timeout=PATIENCE) == number

    # A consumer that polls once a second needs half a second for each of them.
    assert time.monotonic() - begun < TRIPS / 4


def test_an_acknowledgement_makes_room_for_the_next_message_at_once(consumer):
    sender, received = consumer

    begun = time.monotonic()
    for number in range(TRIPS):
        sender.put(number)

    assert [received.get(timeout=PATIENCE) for _ in range(TRIPS)] == list(range(TRIPS))
    assert time.monotonic() - begun < TRIPS / 4


def test_a_consumer_that_gets_nothing_gives_up_in_time(broker):
    broker.connect()

    with pytest.raises(TimeoutError):
        broker.transport.drain_events(broker, timeout=0.01)


async def test_a_thread_reaches_whoever_waits_in_the_event_loop():
    layer = EmbeddedChannelLayer()
    await layer.group_add("g", "channel")
    waiting = asyncio.create_task(layer.receive("channel"))
    await asyncio.sleep(0)  # it waits now

    thread = threading.Thread(target=layer.group_send_now, args=("g", {"type": "ring"}))
    thread.start()

    assert await asyncio.wait_for(waiting, PATIENCE) == {"type": "ring"}
    thread.join()


async def test_a_full_channel_drops_what_comes_and_raises_nothing():
    layer = EmbeddedChannelLayer()
    layer.capacity = 2
    await layer.group_add("g", "channel")

    for number in range(5):
        await layer.group_send("g", {"number": number})
    await asyncio.sleep(0)  # what was handed to the loop arrives

    assert [(await layer.receive("channel"))["number"] for _ in range(2)] == [0, 1]
    await layer.group_send("g", {"number": 9})
    assert await asyncio.wait_for(layer.receive("channel"), PATIENCE) == {"number": 9}


async def test_who_has_left_a_group_gets_nothing_of_it():
    layer = EmbeddedChannelLayer()
    for channel in ("stays", "goes"):
        await layer.group_add("g", channel)
    await layer.group_discard("g", "goes")

    await layer.group_send("g", {"type": "ring"})

    assert await asyncio.wait_for(layer.receive("stays"), PATIENCE) == {"type": "ring"}
    assert "goes" not in layer.channels


def test_a_loop_that_is_gone_is_no_reason_to_fail():
    layer = EmbeddedChannelLayer()
    asyncio.run(layer.group_add("g", "channel"))

    layer.group_send_now("g", {"type": "ring"})

    assert "channel" not in layer.channels
