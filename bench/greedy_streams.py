"""
Cost of one key that opens far too many streams: `python -m bench.greedy_streams [--streams 3000]`.

An embedded product in its default settings. A key of a team opens so many streams of one thread;
those beyond its limit are refused. Approval trips (W1) of another team, and `/readyz`, are measured
by turns with and without them.
"""

import argparse
import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from itertools import cycle

from bench.figures import Figures, spread
from bench.programs import Programs
from bench.report import compare_by_turns
from bench.shapes import Subject, start
from bench.wire import Connection, UnexpectedResponse
from bench.workloads import Target, trips

#: Connections that are opened at the same time.
_AT_ONCE = 50
#: As in the default settings of the product; the other workloads of the benchmark are unbounded.
_STREAMS_PER_CALLER = 500
_PREPARE = """
from inbox.actions.agents.external_agents import set_external_agent
from inbox.actions.people.api_keys import make_key
from inbox.actions.people.members import make_team
from inbox.rules.people.access import SEED, Permission

team = make_team(slug="greedy", name="Greedy", actor=SEED).pk
set_external_agent(team_id=team, slug="greedy-program", actor=SEED)
scopes = {Permission.RUN, Permission.READ}
print(make_key(team_id=team, name="greedy", scopes=scopes, actor=SEED)[1])
"""


async def trips_beside(target: Target, key: str, number: int) -> Figures:
    """Measure trips and `/readyz` while `number` streams of the key are held or were refused."""
    async with _greedy_streams(target, key, number) as refused:
        figures = await trips(target, at_once=1, number=400)
        return {**figures, **await _readiness(target), "refused streams": float(refused)}


@asynccontextmanager
async def _greedy_streams(target: Target, key: str, number: int) -> AsyncIterator[int]:
    """Try to open so many streams; yield how many of them were refused."""
    bearer = {"Authorization": f"Bearer {key}"}
    gate = asyncio.Semaphore(_AT_ONCE)
    async with AsyncExitStack() as stack:
        path = await _path_of_thread(target, key) if number else ""

        async def open_stream() -> bool:
            async with gate:
                connection = Connection(target.url, bearer)
                stream = (await stack.enter_async_context(connection)).follow(path)
                try:
                    await anext(stream)  # what happened before
                except UnexpectedResponse as refusal:
                    if "429" not in str(refusal):
                        raise
                    await connection.__aexit__()
                    return False
                held.append(stream)
                return True

        held: list[AsyncIterator[bytes]] = []
        opened = await asyncio.gather(*(open_stream() for _ in range(number)))
        yield opened.count(False)


async def _path_of_thread(target: Target, key: str) -> str:
    """Ask for a call as the key; return the address of the events of its thread."""
    async with target.connection() as connection:
        request = await Programs(target, cycle([key])).ask(connection, agent="greedy-program")
        return f"/api/threads/{request['thread']}/events"


async def _readiness(target: Target) -> Figures:
    seconds = []
    async with target.connection() as connection:
        for _ in range(100):
            begun = time.perf_counter()
            head, _ = await connection.request("GET", "/readyz")
            seconds.append(time.perf_counter() - begun)
            if head.status != 200:
                raise UnexpectedResponse(f"/readyz answered {head.status}")
    return spread("readyz", seconds)


def _make_key(subject: Subject) -> str:
    if subject.product is None:
        raise RuntimeError("the bare server has no teams")
    return subject.product.run("manage.py", "shell", "-v0", "--command", _PREPARE).split()[-1]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.greedy_streams", description=__doc__)
    parser.add_argument("--streams", type=int, default=3_000, help="that the key opens")
    parser.add_argument("--rounds", type=int, default=3, help="with and without the streams")
    options = parser.parse_args()
    settings = {"SIGNOFF_STREAMS_PER_CALLER": str(_STREAMS_PER_CALLER)}
    with start("embedded", settings=settings) as subject:
        key = _make_key(subject)
        print(
            compare_by_turns(
                "W1 of another team beside streams of one key",
                lambda number: asyncio.run(trips_beside(subject.target, key, number)),
                options.streams,
                rounds=options.rounds,
            )
        )


if __name__ == "__main__":
    main()
