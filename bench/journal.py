"""
Cost of the journal: the same run of tool calls with and without it, on both databases.

`python -m bench.journal` drives runs in its own process, without a web server or worker, to measure
the engine, its transactions, and durable writes.
"""

import argparse
import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any

from tests.support.postgres import PostgresServer
from tests.support.processes import REPOSITORY, embedded_environment

BARE = "none"  #: calls without a journal
EFFECTS = ("read", "idempotent", "once")
ORDERS = ("one after another", "all at once")
_DATABASES = ("SQLite", "PostgreSQL")


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.journal", description=__doc__)
    parser.add_argument("--runs", type=int, default=15, help="of each kind, interleaved")
    parser.add_argument("--calls", type=int, default=20, help="tool calls in each run")
    parser.add_argument("--here", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.here:
        print(json.dumps(_measure(options.runs, options.calls)))
        return 0
    head = ("ms a call, medians", *(f"{order}" for order in ORDERS), "begin", "settle")
    print("{:28}{:>20}{:>14}{:>8}{:>8}".format(*head))
    for database in _DATABASES:
        with _environment(database) as environment:
            figures = _in_a_process(environment, options.runs, options.calls)
        for effect, row in figures.items():
            parts = "".join("       -" if ms is None else f"{ms:8.2f}" for ms in row[2:])
            print(f"{database + ', ' + effect:28}{row[0]:20.2f}{row[1]:14.2f}{parts}")
    return 0


@contextmanager
def _environment(database: str) -> Iterator[dict[str, str]]:
    """Yield an environment with an empty, durable database."""
    with tempfile.TemporaryDirectory(prefix="signoff-bench-") as directory:
        environment = embedded_environment(Path(directory), SIGNOFF_LOG="json")
        if database == "SQLite":
            yield environment
            return
        with PostgresServer(durable=True) as server:
            yield environment | {"DATABASE_URL": server.create_database("signoff")}


def _in_a_process(environment: dict[str, str], runs: int, calls: int) -> dict[str, list[Any]]:
    """Measure in a process of its own, because settings name one database."""
    done = subprocess.run(
        [sys.executable, "-m", "bench.journal", "--here", f"--runs={runs}", f"--calls={calls}"],
        env=environment,
        cwd=REPOSITORY,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    figures: dict[str, list[Any]] = json.loads(done.stdout.splitlines()[-1])
    return figures


def _measure(runs: int, calls: int) -> dict[str, list[Any]]:
    """Return, by effect, the additional cost of a call in both orders, and its parts."""
    stage = _Stage(calls)
    seconds: dict[tuple[str, str], list[float]] = {}
    for number in range(runs + 1):
        for effect in (BARE, *EFFECTS):
            for order in ORDERS:
                duration = stage.run(effect, order)
                if number:  # skip the warm-up round
                    seconds.setdefault((effect, order), []).append(duration)
                else:
                    stage.parts.clear()
    base = {order: median(seconds[BARE, order]) for order in ORDERS}
    figures: dict[str, list[Any]] = {
        "without": [base[order] / calls * 1000 for order in ORDERS] + [None, None]
    }
    for effect in EFFECTS:
        more = [(median(seconds[effect, o]) - base[o]) / calls * 1000 for o in ORDERS]
        parts = [median(stage.parts[effect, part]) * 1000 for part in ("begin", "settle")]
        figures[effect] = more + parts
    return figures


class _Stage:
    """A team with one agent, which makes calls that do nothing."""

    def __init__(self, calls: int) -> None:
        os.environ["DJANGO_SETTINGS_MODULE"] = "inbox.config.settings"
        import logging  # noqa: PLC0415

        import django  # noqa: PLC0415

        django.setup()
        logging.disable(logging.CRITICAL)
        from django.core.management import call_command  # noqa: PLC0415

        from agents import registry  # noqa: PLC0415
        from inbox.actions.people.provisioning import ensure_agent, ensure_team  # noqa: PLC0415
        from inbox.rules.people.access import SEED  # noqa: PLC0415

        call_command("migrate", verbosity=0, interactive=False)
        self.parts: dict[tuple[str, str], list[float]] = {}
        registry.register(_Caller(calls, self.parts))
        team = ensure_team(slug="bench", name="Bench", actor=SEED)
        self._agent = ensure_agent(
            team=team, slug="caller", implementation="caller", description="Calls.", actor=SEED
        )

    def run(self, effect: str, order: str) -> float:
        """Drive one run, and return the seconds from its claim to its end."""
        from inbox import engine  # noqa: PLC0415
        from inbox.actions.runs.start_run import RunRequest, new_external_id, start_run  # noqa: PLC0415
        from inbox.rules.people.access import SEED  # noqa: PLC0415

        message = {"id": "m", "role": "user", "content": f"{effect}/{order}"}
        run_input = {"messages": [message], "state": None, "tools": [], "context": []}
        request = RunRequest(new_external_id(), new_external_id(), run_input)
        run = start_run(agent=self._agent, request=request, actor=SEED).run
        begun = time.perf_counter()
        engine.execute_run(run.pk)
        duration = time.perf_counter() - begun
        run.refresh_from_db()
        if run.status != "succeeded":
            raise RuntimeError(f"the run ended {run.status}: {run.error_code}")
        return duration


class _Caller:
    """An agent that proposes calls and reports their results, with or without the journal."""

    name = "caller"
    description = "Calls."
    restartable = True
    input_schema = None

    def __init__(self, calls: int, parts: dict[tuple[str, str], list[float]]) -> None:
        self._calls = calls
        self._parts = parts

    async def run(self, run_input: Any, ctx: Any) -> AsyncIterator[Any]:
        import ag_ui.core as agui  # noqa: PLC0415

        effect, _, order = run_input.messages[-1].content.partition("/")
        ids = [f"{ctx.run_key}-{number}" for number in range(self._calls)]
        batches = [ids] if order == ORDERS[1] else [[call_id] for call_id in ids]
        for batch in batches:
            for call_id in batch:
                yield agui.ToolCallStartEvent(tool_call_id=call_id, tool_call_name="nothing")
                yield agui.ToolCallArgsEvent(tool_call_id=call_id, delta="{}")
                yield agui.ToolCallEndEvent(tool_call_id=call_id)
            durations = await asyncio.gather(
                *(self._call(ctx, call_id, effect) for call_id in batch)
            )
            if len(batch) == 1:  # concurrent calls wait for each other
                self._record(effect, *durations)
            for call_id in batch:
                yield agui.ToolCallResultEvent(
                    message_id=f"{call_id}-r", tool_call_id=call_id, content="1", role="tool"
                )
        yield agui.RunFinishedEvent(thread_id=run_input.thread_id, run_id=run_input.run_id)

    async def _call(self, ctx: Any, call_id: str, effect: str) -> tuple[float, float]:
        """Make a call that does nothing; return the seconds to begin and to settle it."""
        from agents.port import Effect  # noqa: PLC0415

        if effect == BARE:
            return 0, 0
        begun = time.perf_counter()
        await ctx.journal.begin(call_id, args={}, effect=Effect(effect))
        started = time.perf_counter()
        await ctx.journal.settle(call_id, result="1")
        return started - begun, time.perf_counter() - started

    def _record(self, effect: str, durations: tuple[float, float]) -> None:
        for part, seconds in zip(("begin", "settle"), durations, strict=True):
            self._parts.setdefault((effect, part), []).append(seconds)


if __name__ == "__main__":
    sys.exit(main())
