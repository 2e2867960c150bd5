"""
Cost of programs that ask, wait and run hooks: `python -m bench.programs [--waiters 1000]`.

A product in its default settings, but for its limits. Programs ask and have their answers one
after another; a hook asks for a call that a rule of the team's policy allows. Then many programs
ask, and approval trips (W1) are measured by turns: while nobody waits for these requests, and while
another process waits for all of them, in poll after poll, spread evenly over the time.
"""

import argparse
import asyncio
import json
import multiprocessing
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import AsyncExitStack, contextmanager, nullcontext
from dataclasses import dataclass
from itertools import cycle
from pathlib import Path
from typing import Any

from bench.figures import Figures, print_figures, spread
from bench.report import compare_by_turns
from bench.shapes import SHAPES, Subject, start
from bench.wire import Connection, UnexpectedResponse
from bench.workloads import Target, trips
from tests.support.processes import REPOSITORY

#: Each agent may ask 60 times a minute.
_AGENTS = 50
_WAIT_SECONDS = 30
#: Then all programs are in a poll, and most in their second one.
_REST_SECONDS = 40
_JSON = {"Content-Type": "application/json"}
_TOOL = {
    "title": "Refund 47.50 EUR?",
    "tool": "refund",
    "args": {"charge": "ch_17", "amount": 4750},
}
_PREPARE = """
from inbox.actions.agents.external_agents import set_external_agent
from inbox.actions.people.api_keys import make_key
from inbox.actions.policies.versions import publish_draft, save_draft
from inbox.queries.people.teams import team_by_slug
from inbox.rules.people.access import SEED, Permission

team = team_by_slug("demo").pk
when = [{{"path": "/tool", "op": "is", "value": "Bash"}}]
save_draft(team_id=team, body={{"rules": [{{"id": "bash", "effect": "allow", "when": when}}]}},
           actor=SEED)
publish_draft(team_id=team, actor=SEED)
for number in range({agents}):
    slug = f"program-{{number}}"
    set_external_agent(team_id=team, slug=slug, actor=SEED)
    print(make_key(team_id=team, name=slug, scopes={{Permission.RUN}}, agent=slug, actor=SEED)[1])
"""


@dataclass
class Programs:
    """The keys of programs, which take turns, and the target with a reviewer's key."""

    target: Target
    keys: Iterator[str]

    async def ask(self, connection: Connection, **more: str) -> dict[str, Any]:
        """Ask for a call as the next program, with `more` members; return the request."""
        headers = {**_JSON, "Authorization": f"Bearer {next(self.keys)}"}
        head, content = await connection.request(
            "POST", "/api/requests", json.dumps({**_TOOL, **more}).encode(), **headers
        )
        if head.status != 201:
            raise UnexpectedResponse(f"asked: {head.status} {content[:300]!r}")
        request: dict[str, Any] = json.loads(content)
        return {**request, "key": headers["Authorization"]}

    async def approve(self, connection: Connection, request: dict[str, Any]) -> None:
        path = f"/api/interrupts/{request['items'][0]['interrupt']}"
        interrupt = json.loads((await connection.request("GET", path))[1])
        body = {
            "status": "resolved",
            "payload": {"approved": True},
            "view_digest": interrupt["view_digest"],
        }
        head, content = await connection.request(
            "POST", f"{path}/decide", json.dumps(body).encode(), **_JSON
        )
        if head.status != 200:
            raise UnexpectedResponse(f"decided: {head.status} {content[:300]!r}")


async def ask_and_wait(programs: Programs, number: int) -> Figures:
    """Ask, wait and approve, one request after another."""
    durations: list[float] = []
    decided: list[float] = []
    target = programs.target
    async with target.connection() as program, target.connection() as reviewer:
        for _ in range(number):
            begun = time.perf_counter()
            request = await programs.ask(program)
            durations.append(time.perf_counter() - begun)
            waiting = asyncio.create_task(wait(program, request))
            await asyncio.sleep(0.05)  # it waits by now; if not, the figure gets better by nothing
            begun = time.perf_counter()
            await programs.approve(reviewer, request)
            status, ended = await waiting
            if status != "decided":
                raise UnexpectedResponse(f"the request is {status}")
            decided.append(ended - begun)
    return {**spread("ask", durations), **spread("decision -> wait", decided)}


async def wait(connection: Connection, request: dict[str, Any]) -> tuple[str, float]:
    """Wait until the request is decided; return its status and the time of the answer."""
    path = f"/api/requests/{request['id']}?wait={_WAIT_SECONDS}"
    head, content = await connection.request("GET", path, Authorization=request["key"])
    if head.status != 200:
        raise UnexpectedResponse(f"waited: {head.status} {content[:300]!r}")
    return json.loads(content)["status"], time.perf_counter()


async def ask_many(programs: Programs, number: int) -> list[dict[str, Any]]:
    """Ask for so many calls, which nobody decides; return the requests."""
    async with programs.target.connection() as connection:
        return [await programs.ask(connection) for _ in range(number)]


@contextmanager
def waiters(url: str, requests: Sequence[dict[str, Any]]) -> Iterator[None]:
    """Let another process wait for each of the requests over a connection of its own."""
    process = multiprocessing.get_context("spawn").Process(
        target=_wait_for_all, args=(url, requests), daemon=True
    )
    process.start()
    try:
        yield
        if not process.is_alive():
            raise UnexpectedResponse("the programs did not wait to the end")
    finally:
        process.terminate()
        process.join()


def _wait_for_all(url: str, requests: Sequence[dict[str, Any]]) -> None:
    async def wait_for_all() -> None:
        async with AsyncExitStack() as stack, asyncio.TaskGroup() as tasks:
            for place, request in enumerate(requests):
                connection = await stack.enter_async_context(Connection(url, {}))
                delay = _WAIT_SECONDS * place / len(requests)
                tasks.create_task(_wait_again(connection, request, delay))

    asyncio.run(wait_for_all())


async def _wait_again(connection: Connection, request: dict[str, Any], delay: float) -> None:
    await asyncio.sleep(delay)
    while True:
        await wait(connection, request)


def run_hooks(url: str, key: str, directory: Path, number: int) -> Figures:
    """Run the hook of Claude Code for a call that a rule allows, as its host runs it."""
    environment = {
        **os.environ,
        "HOME": str(directory),
        "PYTHONPATH": str(REPOSITORY / "clients/python/src"),
        "SIGNOFF_URL": url,
        "SIGNOFF_API_KEY": key,
    }
    seconds = []
    for call in range(number):
        event = {
            "session_id": "bench",
            "hook_event_name": "PreToolUse",
            "tool_name": "Bash",
            "tool_input": {"command": f"echo {call}"},
            "tool_use_id": f"toolu_{call}",
            "cwd": "/srv",
        }
        begun = time.perf_counter()
        done = subprocess.run(
            [sys.executable, "-m", "signoff_client", "hook", "claude-code"],
            env=environment,
            input=json.dumps(event).encode(),
            capture_output=True,
            check=True,
        )
        seconds.append(time.perf_counter() - begun)
        if b'"allow"' not in done.stdout:
            raise UnexpectedResponse(f"the hook said {done.stdout!r} {done.stderr!r}")
    return spread("hook answered by a rule", seconds)


def trips_beside(target: Target, requests: Sequence[dict[str, Any]]) -> Figures:
    """Measure approval trips while another process waits for these requests, if there are any."""
    with waiters(target.url, requests) if requests else nullcontext():
        time.sleep(_REST_SECONDS)  # in both cases, so that the server has had the same rest
        asyncio.run(trips(target, at_once=1, number=50))
        return asyncio.run(trips(target, at_once=1, number=400))


def _make_programs(subject: Subject) -> tuple[Programs, list[str]]:
    if subject.product is None:
        raise RuntimeError("the bare server takes no requests of programs")
    script = _PREPARE.format(agents=_AGENTS)
    keys = subject.product.run("manage.py", "shell", "-v0", "--command", script).split()
    return Programs(subject.target, cycle(keys)), keys


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.programs", description=__doc__)
    parser.add_argument("--number", type=int, default=200, help="of requests (default 200)")
    parser.add_argument("--hooks", type=int, default=30, help="runs of the hook (default 30)")
    parser.add_argument("--waiters", type=int, default=1_000, help="programs that wait")
    parser.add_argument("--rounds", type=int, default=8, help="of trips with and without waiters")
    parser.add_argument("--shape", choices=SHAPES, default="embedded")
    options = parser.parse_args()
    with start(options.shape) as subject, tempfile.TemporaryDirectory() as directory:
        programs, keys = _make_programs(subject)
        print_figures(asyncio.run(ask_and_wait(programs, options.number)))
        print_figures(run_hooks(subject.target.url, keys[0], Path(directory), options.hooks))
        requests = asyncio.run(ask_many(programs, options.waiters))
        print(
            compare_by_turns(
                "W1 beside programs that wait",
                lambda number: trips_beside(subject.target, requests[:number]),
                options.waiters,
                rounds=options.rounds,
            )
        )


if __name__ == "__main__":
    main()
