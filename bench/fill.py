"""
Fill a database with interrupts and runs: `python -m bench.fill <open> <decided> <finished>`.

Runs in the environment of the product. It stores runs with ten interrupts each, directly instead of
through the actions, which would take hours.
"""

import argparse
import json
import os
from datetime import datetime, timedelta
from typing import Any
from uuid import uuid4

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "inbox.config.settings")
django.setup()

from django.db import connection, transaction  # noqa: E402

from agents.demo_agent.tools import send_email  # noqa: E402
from agents.sdk.schemas import approval_schema  # noqa: E402
from inbox.models import Agent, Decision, Event, Interrupt, Run, Thread, ToolCall  # noqa: E402
from inbox.platform.clock import database_now  # noqa: E402
from inbox.rules.decisions.similarity import search_text_of, similarity_key  # noqa: E402

_PER_RUN = 10
_RUNS_AT_ONCE = 200
_FINISHED_AT_ONCE = 1_000
_FINISHED_EVENTS = (
    "RUN_STARTED",
    "TEXT_MESSAGE_START",
    "TEXT_MESSAGE_CONTENT",
    "TEXT_MESSAGE_END",
    "RUN_FINISHED",
)
#: Frequent and rare tools, as in a real inbox.
_TOOLS = ("send_email", "send_email", "send_email", "execute_payment", "merge_pull_request")
_RARE_EVERY = 200
_LETTER = (
    "Hello Dana, this is about what we agreed on last week. The order has left the warehouse, and "
    "the carrier says that it will be there on Thursday. If anything is missing, answer this "
    "message and somebody of the team looks into it. "
)


def fill(number: int, decided: int = 0, finished: int = 0) -> None:
    """Add open and decided interrupts and finished runs to the demo's team up to these numbers."""
    common = Agent.objects.get(slug="rehearsal")
    rare, _ = Agent.objects.get_or_create(
        slug="bench-rare",
        defaults={
            "team_id": common.team_id,
            "implementation": "rehearsal",
            "created_at": database_now(),
        },
    )
    for is_open, target in ((True, number), (False, decided)):
        rows = Interrupt.objects.filter(team_id=common.team_id)
        rows = rows.filter(status="open") if is_open else rows.exclude(status="open")
        _fill((common, rare), target - rows.count(), is_open=is_open)
    missing = finished - Run.objects.filter(team_id=common.team_id, status="succeeded").count()
    now = database_now()
    for first in range(0, missing, _FINISHED_AT_ONCE):
        with transaction.atomic():
            _store_finished(common, now, range(first, min(first + _FINISHED_AT_ONCE, missing)))
    with connection.cursor() as cursor:
        # Autovacuum would run a minute later.
        cursor.execute("ANALYZE" if connection.vendor == "postgresql" else "PRAGMA optimize")


def _fill(agents: Any, missing: int, *, is_open: bool) -> None:
    now = database_now()
    runs = -(-max(missing, 0) // _PER_RUN)
    offset = int(now.timestamp() * 1000)
    for first in range(0, runs, _RUNS_AT_ONCE):
        numbers = range(first, min(first + _RUNS_AT_ONCE, runs))
        with transaction.atomic():
            store(agents, now, numbers, offset, is_open=is_open)


def store(agents: Any, now: Any, numbers: range, offset: int, *, is_open: bool) -> list[Any]:
    """Store a thread for each number, with a run and ten interrupts; return the interrupts."""
    threads = [
        Thread(
            team_id=agents[0].team_id,
            agent=agents[number % _RARE_EVERY == _RARE_EVERY - 1],
            external_id=f"filled-{offset}-{number}",
            title=f"Filled thread {number}",
            created_at=now,
            updated_at=now,
        )
        for number in numbers
    ]
    runs = [
        _run(thread, now, status="interrupted", external_id=f"run-of-{thread.external_id}")
        for thread in threads
    ]
    calls = [
        _call(run, number * _PER_RUN + place, now)
        for run, number in zip(runs, numbers, strict=True)
        for place in range(_PER_RUN)
    ]
    rows = [
        _interrupt(call, index % _PER_RUN, now, is_open=is_open) for index, call in enumerate(calls)
    ]
    Thread.objects.bulk_create(threads)
    Run.objects.bulk_create(runs)
    ToolCall.objects.bulk_create(calls)
    Interrupt.objects.bulk_create(rows)
    if not is_open:
        Decision.objects.bulk_create(_decision(row) for row in rows)
    return rows


def _store_finished(agent: Any, now: Any, numbers: range) -> None:
    """Store a thread for each number, with a run that has succeeded, and its events."""
    threads = [
        Thread(
            team_id=agent.team_id,
            agent=agent,
            external_id=str(uuid4()),
            title=f"Finished thread {number}",
            next_seq=len(_FINISHED_EVENTS) + 1,
            created_at=now,
            updated_at=now,
        )
        for number in numbers
    ]
    runs = [_run(thread, now, status="succeeded", external_id=str(uuid4())) for thread in threads]
    Thread.objects.bulk_create(threads)
    Run.objects.bulk_create(runs)
    Event.objects.bulk_create(
        [
            Event(
                thread=run.thread,
                run=run,
                seq=seq,
                type=kind,
                body=json.dumps({"type": kind, "runId": run.external_id, "delta": _LETTER}),
                from_agent=True,
                at=now,
            )
            for run in runs
            for seq, kind in enumerate(_FINISHED_EVENTS, 1)
        ],
        batch_size=2_000,
    )


def _run(thread: Thread, now: datetime, *, status: str, external_id: str) -> Run:
    return Run(
        team_id=thread.team_id,
        agent_id=thread.agent_id,
        thread=thread,
        external_id=external_id,
        status=status,
        input='{"messages": []}',
        first_seq=1,
        started_by="bench",
        queued_at=now,
        started_at=now,
        finished_at=now,
    )


def _call(run: Any, number: int, now: Any) -> Any:
    is_rare = number % (_RARE_EVERY * 10) == 0
    args = {"body": _LETTER, "subject": f"Invoice {number}", "to": "dana@example.com"}
    return ToolCall(
        team_id=run.team_id,
        agent_id=run.agent_id,
        thread=run.thread,
        run=run,
        tool_call_id=f"{run.pk}-t{number % _PER_RUN}",
        name="rare_tool" if is_rare else _TOOLS[number % len(_TOOLS)],
        args=json.dumps(args),
        proposed_at=now,
    )


def _interrupt(call: Any, place: int, now: Any, *, is_open: bool) -> Any:
    expires = now + timedelta(hours=1 + place)
    args = json.loads(call.args)
    title = f"Send an e-mail to dana@example.com: {args['subject']}"
    schema = approval_schema(send_email)
    body = {
        "id": f"{call.tool_call_id}-i",
        "reason": "tool_call",
        "message": title,
        "toolCallId": call.tool_call_id,
        "responseSchema": schema,
        "expiresAt": expires.isoformat(),
    }
    agent_id = call.thread.agent_id
    return Interrupt(
        team_id=call.thread.team_id,
        agent_id=agent_id,
        thread=call.thread,
        run=call.run,
        tool_call=call,
        interrupt_id=body["id"],
        position=place,
        reason="bench:rare" if call.name == "rare_tool" else "tool_call",
        tool=call.name,
        similarity_key=similarity_key(
            agent=str(agent_id), tool=call.name, args=args, schema=schema
        ),
        search_text=search_text_of(title, call.name, args=args),
        title=title,
        args=call.args,
        body=json.dumps(body),
        view_digest="0" * 64,
        status="open" if is_open else ("expired" if call.name == "rare_tool" else "resolved"),
        expires_at=expires,
        due_at=expires,
        created_at=now,
        closed_at=None if is_open else now,
    )


def _decision(row: Any) -> Any:
    return Decision(
        interrupt=row,
        status="resolved",
        payload='{"approved":true}',
        actor_kind="human",
        actor_label="Bench",
        created_at=row.closed_at,
    )


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.fill", description=__doc__)
    parser.add_argument("number", type=int, help="number of open interrupts to reach")
    parser.add_argument("decided", type=int, nargs="?", default=0, help="number of decided ones")
    parser.add_argument("finished", type=int, nargs="?", default=0, help="finished runs")
    options = parser.parse_args()
    fill(options.number, options.decided, options.finished)


if __name__ == "__main__":
    main()
