"""
Fill a product's database with open interrupts: `python -m bench.fill <number>`.

Runs in the environment of the product. What it stores looks as if runs had ended with questions,
ten each; nothing here goes through the actions, which would take hours.
"""

import argparse
import json
import os
from datetime import timedelta
from typing import Any

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "inbox.config.settings")
django.setup()

from django.db import connection, transaction  # noqa: E402

from agents.rehearsal.tools import send_email  # noqa: E402
from agents.sdk.schemas import approval_schema  # noqa: E402
from inbox.models import Agent, Interrupt, Run, Thread, ToolCall  # noqa: E402
from inbox.models.clock import database_now  # noqa: E402

_PER_RUN = 10
_RUNS_AT_ONCE = 200


def fill(number: int) -> None:
    """Bring the number of open interrupts of the demo's team up to `number`."""
    agent = Agent.objects.get(slug="rehearsal")
    now = database_now()
    missing = number - Interrupt.objects.filter(team_id=agent.team_id, status="open").count()
    runs = -(-max(missing, 0) // _PER_RUN)
    offset = int(now.timestamp() * 1000)
    for first in range(0, runs, _RUNS_AT_ONCE):
        with transaction.atomic():
            _store(agent, now, range(first, min(first + _RUNS_AT_ONCE, runs)), offset)
    if connection.vendor == "postgresql":
        # Autovacuum would do it within the minute.
        with connection.cursor() as cursor:
            cursor.execute("ANALYZE")


def _store(agent: Any, now: Any, numbers: range, offset: int) -> None:
    threads = [
        Thread(
            team_id=agent.team_id,
            agent=agent,
            external_id=f"filled-{offset}-{number}",
            title=f"Filled thread {number}",
            created_at=now,
            updated_at=now,
        )
        for number in numbers
    ]
    runs = [
        Run(
            thread=thread,
            external_id=f"run-of-{thread.external_id}",
            status="interrupted",
            input='{"messages": []}',
            first_seq=1,
            started_by="bench",
            queued_at=now,
            started_at=now,
            finished_at=now,
        )
        for thread in threads
    ]
    calls = [_call(run, place, now) for run in runs for place in range(_PER_RUN)]
    Thread.objects.bulk_create(threads)
    Run.objects.bulk_create(runs)
    ToolCall.objects.bulk_create(calls)
    Interrupt.objects.bulk_create(
        _interrupt(agent, call, index % _PER_RUN, now) for index, call in enumerate(calls)
    )


def _call(run: Any, place: int, now: Any) -> Any:
    return ToolCall(
        thread=run.thread,
        run=run,
        tool_call_id=f"{run.pk}-t{place}",
        name="send_email",
        args=json.dumps({"subject": f"Invoice {place}", "to": "dana@example.com"}),
        proposed_at=now,
    )


def _interrupt(agent: Any, call: Any, place: int, now: Any) -> Any:
    expires = now + timedelta(hours=1 + place)
    title = f"Send an e-mail to dana@example.com: Invoice {place}"
    body = {
        "id": f"{call.tool_call_id}-i",
        "reason": "tool_call",
        "message": title,
        "toolCallId": call.tool_call_id,
        "responseSchema": approval_schema(send_email),
        "expiresAt": expires.isoformat(),
    }
    return Interrupt(
        team_id=agent.team_id,
        thread=call.thread,
        run=call.run,
        tool_call=call,
        interrupt_id=body["id"],
        position=place,
        reason="tool_call",
        title=title,
        body=json.dumps(body),
        view_digest="0" * 64,
        expires_at=expires,
        due_at=expires,
        created_at=now,
    )


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.fill", description=__doc__)
    parser.add_argument("number", type=int, help="open interrupts there shall be")
    options = parser.parse_args()
    fill(options.number)


if __name__ == "__main__":
    main()
