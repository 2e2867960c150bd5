"""
Fill a database with an audit trail, and measure its pages: `python -m bench.audit_pages <entries>`.

Works on the database of the environment (SIGNOFF_DATA_DIR, DATABASE_URL), after `manage.py migrate`
and `collectstatic`. The first entries are created by the product's functions; the others are copies
of their rows, which fill lists, but do not verify.
"""

import argparse
import os
import time
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlencode

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "inbox.config.settings")
django.setup()

from django.db import connection, transaction  # noqa: E402
from django.test import Client  # noqa: E402

from bench.figures import spread  # noqa: E402
from bench.fill import store  # noqa: E402
from inbox.actions.audit import audit_trail  # noqa: E402
from inbox.actions.people.provisioning import add_member, ensure_agent, ensure_team  # noqa: E402
from inbox.models import (  # noqa: E402
    AuditEntry,
    AuditPayload,
    Decision,
    Interrupt,
    Run,
    Thread,
    ToolCall,
    User,
)
from inbox.platform.clock import database_now  # noqa: E402
from inbox.queries.people.api_keys import actor_of_user  # noqa: E402
from inbox.rules.decisions.consent import canonical_json, digest  # noqa: E402
from inbox.rules.people.access import SEED, Role, agent_actor  # noqa: E402

_MODELS = (Thread, Run, ToolCall, Interrupt, Decision, AuditEntry, AuditPayload)
#: Columns that copies share with their originals.
_SHARED = ("team_id", "agent_id", "user_id", "api_key_id", "decided_by_id")
#: The number of entries that are created, not copied.
_ORIGINALS = 5_000
_THREADS_AT_ONCE = 20
_EDITED_EVERY = 50


def fill(number: int) -> None:
    """Add entries up to this number, and print the duration."""
    team = ensure_team(slug="bench", name="Bench", actor=SEED)
    agents = tuple(
        ensure_agent(team=team, slug=slug, implementation="rehearsal", description="", actor=SEED)
        for slug in ("bench-common", "bench-rare")
    )
    if not User.objects.filter(username="bench").exists():
        add_member(
            team=team,
            username="bench",
            full_name="Bench",
            password="bench-password",
            role=Role.ADMIN,
            actor=SEED,
        )
    reviewer = actor_of_user(User.objects.get(username="bench"))
    begun, first, written = time.perf_counter(), 0, AuditEntry.objects.count()
    while written < min(number, _ORIGINALS):
        numbers = range(first, first + _THREADS_AT_ONCE)
        with transaction.atomic():
            written += _store(agents, numbers, reviewer)
        first += _THREADS_AT_ONCE
    copies = max(0, number - written) // written
    for model in _MODELS if copies else ():
        _sql(f"CREATE TEMPORARY TABLE first_{_name(model)} AS SELECT * FROM {_name(model)}")
    for copy in range(1, copies + 1):
        with transaction.atomic():
            for model in _MODELS:
                _copy(model, copy)
    print(f"{written * (1 + copies)} entries after {time.perf_counter() - begun:.0f} s", flush=True)
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE" if connection.vendor == "postgresql" else "PRAGMA optimize")


def _store(agents: Any, numbers: range, reviewer: Any) -> int:
    now = database_now()
    rows = store(agents, now, numbers, int(now.timestamp() * 1000), is_open=False)
    calls = [row.tool_call for row in rows]
    for number, call in enumerate(calls, start=numbers.start * 10):
        call.args = canonical_json({"body": "Hello Dana", "subject": f"Invoice {number}"})
        is_edited = number % _EDITED_EVERY == 0
        call.edited_args = canonical_json({"subject": f"Edited {number}"}) if is_edited else None
        call.verdict, call.decided_by = ("edited" if is_edited else "approved"), reviewer.ident
        call.state, call.result = "settled", '{"ok":true}'
        call.started_at = call.settled_at = now
    fields = ["args", "edited_args", "verdict", "decided_by", "state", "result"]
    ToolCall.objects.bulk_create(
        calls,
        update_conflicts=True,
        update_fields=[*fields, "started_at", "settled_at"],
        unique_fields=["id"],
    )
    drafts = [draft for row in rows for draft in _drafts(row, reviewer, now)]
    audit_trail.record_all(drafts)
    return len(drafts)


def _copy(model: Any, number: int) -> None:
    """Copy the original rows of a table under new ids, with matching foreign keys."""
    fields = model._meta.concrete_fields  # noqa: SLF001 - Django's own, and documented
    columns = ", ".join(field.column for field in fields)
    copied = ", ".join(_copied(field, number) for field in fields)
    _sql(f"INSERT INTO {_name(model)} ({columns}) SELECT {copied} FROM first_{_name(model)}")


def _copied(field: Any, number: int) -> str:
    column, kind = field.column, field.db_type(connection)
    if column in _SHARED:
        return str(column)
    if column == "external_id":
        return f"{column} || '-{number}'"
    if kind == "uuid":
        # Another UUID version, so that a copy never has the id of an original.
        digits = f"substr({column}::text, 1, 14) || '8' || substr({column}::text, 16, 17)"
        return f"({digits} || '{number:04x}')::uuid"
    if kind == "char(32)":
        return f"substr({column}, 1, 12) || '8' || substr({column}, 14, 15) || '{number:04x}'"
    if field.primary_key or column == "entry_id":
        return f"{column} + {number * 10_000_000}"
    return str(column)


def _sql(statement: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(statement)


def _name(model: Any) -> str:
    return str(model._meta.db_table)  # noqa: SLF001


def _drafts(row: Any, reviewer: Any, now: Any) -> Iterator[Any]:
    call, agent = row.tool_call, agent_actor(row.agent_id)
    about = {"now": now, "thread": row.thread, "run": row.run, "tool_call": call}
    fields = {**about, "interrupt": row, "digests": audit_trail.digests_of(row)}
    yield audit_trail.build_entry(action="interrupt.opened", actor=agent, title=row.title, **fields)
    yield audit_trail.build_entry(
        action="interrupt.claimed", actor=reviewer, **{**fields, "digests": None}
    )
    yield audit_trail.build_entry(
        action="interrupt.resolved", actor=reviewer, payload={"approved": True}, **fields
    )
    executed = {"executed": digest(call.approved_args)}
    yield audit_trail.build_entry(
        action="tool.started", actor=agent, digests=executed, args=call.approved_args, **about
    )
    result = {"result": digest(call.result)}
    yield audit_trail.build_entry(
        action="tool.settled", actor=agent, digests=result, result=call.result, **about
    )


def measure(times: int) -> None:
    """Load each page `times` times, and print milliseconds."""
    client = Client()
    client.force_login(User.objects.get(username="bench"))
    call = ToolCall.objects.filter(agent__slug="bench-common").order_by("pk")[100]
    person = {"by": call.decided_by}
    searches: dict[str, dict[str, str]] = {
        "newest": {},
        "agent": {"agent": "bench-rare"},
        "tool": {"tool": "rare_tool"},
        "decision": {"decision": "edited"},
        "person": person,
        "person and decision": {**person, "decision": "edited"},
        "person, none such": {**person, "decision": "denied"},
        "agent and tool": {"agent": "bench-rare", "tool": "rare_tool"},
        "first day": {"until": str(call.proposed_at.date())},
        "before the first day": {"until": "2020-01-01"},
        "words, all match": {"q": "invoice"},
        "words, one matches": {"q": "Invoice 77"},
        "words, none match": {"q": "not to be found"},
        "words in a tool": {"q": "edited", "tool": "execute_payment"},
        "the middle": {"after": str(call.pk)},
    }
    paths = {name: f"/audit/?{urlencode(query)}" for name, query in searches.items()}
    paths |= {
        "id of a call": f"/audit/?q={call.tool_call_id}",
        "page of a call": f"/audit/calls/{call.pk}/",
        "history": f"/audit/threads/{call.thread_id}/",
    }
    for name, path in paths.items():
        seconds = []
        for _ in range(times):
            begun = time.perf_counter()
            status = client.get(path, headers={"host": "localhost"}).status_code
            seconds.append(time.perf_counter() - begun)
            if status not in (200, 302):
                raise RuntimeError(f"{path} answered {status}")
        figures = spread(name, seconds)
        print("  ".join(f"{key} {value:.1f}" for key, value in figures.items()), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.audit_pages", description=__doc__)
    parser.add_argument("entries", type=int, help="number of entries to reach")
    parser.add_argument("--times", type=int, default=20, help="loads per page")
    options = parser.parse_args()
    fill(options.entries)
    measure(options.times)


if __name__ == "__main__":
    main()
