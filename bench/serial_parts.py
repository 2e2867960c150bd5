"""
Rates of work that one process does at a time: `python -m bench.serial_parts`, in its environment.

Prints JSON: requests that the sweeper expires a second, entries a second in the chain of one team,
and audit entries that a signer signs a second. Call it while no worker runs, because its sweeper
would do the same work.
"""

import json
import os
import sys
import time
from datetime import timedelta
from functools import cache
from uuid import UUID

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "inbox.config.settings")
django.setup()

from django.db import transaction  # noqa: E402

from inbox import sweeper, transparency_log  # noqa: E402
from inbox.actions.audit import audit_trail  # noqa: E402
from inbox.models import Interrupt, Team  # noqa: E402
from inbox.platform.clock import database_now  # noqa: E402
from inbox.rules.people.access import SEED  # noqa: E402


def sign(number: int) -> float:
    """Return how many audit entries a second one signer appends and signs."""
    transparency_log.append_and_sign()
    drafts = [_entry(position) for position in range(number)]
    with transaction.atomic():
        audit_trail.record_all(drafts)
    begun = time.perf_counter()
    signed = transparency_log.append_and_sign()
    return signed / (time.perf_counter() - begun)


def extend_chain(number: int) -> float:
    """Return how many transactions a second add one entry each to the chain of one team."""
    begun = time.perf_counter()
    for position in range(number):
        with transaction.atomic(durable=True):
            audit_trail.record_all([_entry(position)])
    return number / (time.perf_counter() - begun)


def expire(number: int) -> float:
    """Return how many requests a second the sweeper expires: the newest, of one thread each."""
    newest = Interrupt.objects.filter(status="open").order_by("-pk").values("pk")[:number]
    past = database_now() - timedelta(seconds=1)
    overdue = Interrupt.objects.filter(pk__in=newest).update(expires_at=past, due_at=past)
    begun = time.perf_counter()
    sweeper.expire_overdue()
    return overdue / (time.perf_counter() - begun)


def _entry(number: int) -> audit_trail.EntryDraft:
    return audit_trail.build_entry(
        "bench.filled", SEED, database_now(), team_id=_demo_team(), number=number
    )


@cache
def _demo_team() -> UUID:
    return Team.objects.get(slug="demo").pk


def main() -> None:
    entries, requests = int(sys.argv[1]), int(sys.argv[2])
    expired, extended = expire(requests), extend_chain(entries // 20)
    rates = {
        "requests expired a second": expired,
        "entries of one chain a second": extended,
        "entries signed a second": sign(entries),
    }
    print(json.dumps(rates))


if __name__ == "__main__":
    main()
