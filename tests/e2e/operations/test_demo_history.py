"""The history of the demo: made by the ordinary actions, under a clock that is set back."""

import time
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from io import StringIO

import pytest
from django.core.management import call_command
from django.utils import timezone
from uuid6 import uuid7

from inbox.management.demo import ensure_demo
from inbox.management.past_clock import clock_set_back
from inbox.models import Claim, Interrupt, Run, ToolCall
from inbox.platform import clock
from tests.support.audit.logs import keep_in


@pytest.fixture(autouse=True)
def _own_log(settings, tmp_path):
    keep_in(settings, tmp_path)


def test_a_demo_with_a_history_has_two_weeks_of_decisions(db, tmp_path):
    started = clock.now()
    ensure_demo(tmp_path, with_history=True)

    closed = Interrupt.objects.exclude(status="open").order_by("pk")
    days = {row.created_at.date() for row in closed}
    ids = [datetime.fromtimestamp((row.pk.int >> 80) / 1000, UTC) for row in closed]

    assert len(closed) >= 30
    assert len(days) >= 12
    assert started.date() - min(days) == timedelta(days=14)
    assert all(
        abs(at - row.created_at) < timedelta(seconds=5) for at, row in zip(ids, closed, strict=True)
    )
    assert set(closed.values_list("status", flat=True)) == {"resolved", "cancelled"}
    assert {call.verdict for call in ToolCall.objects.all()} >= {"approved", "edited", "denied"}
    assert Run.objects.filter(status="failed").exists()
    assert Claim.objects.get().user.username == "priya"


def test_decided_runs_of_the_history_are_resumed_in_the_past(db, tmp_path):
    ensure_demo(tmp_path, with_history=True)

    before = clock.now() - timedelta(hours=1)
    assert not Run.objects.filter(resume_at__lt=clock.now())
    assert Run.objects.filter(resumes__queued_at__lt=before, status="succeeded").count() >= 20
    assert not Run.objects.filter(error_code="APPROVAL_LAPSED")


def test_the_audit_trail_of_a_demo_with_a_history_is_intact(db, tmp_path):
    ensure_demo(tmp_path, with_history=True)

    report = StringIO()
    with pytest.raises(SystemExit) as end:
        call_command("audit_verify", stdout=report)

    assert end.value.code == 0
    assert report.getvalue().startswith("intact")


def test_the_history_of_a_demo_is_made_once(db, tmp_path):
    ensure_demo(tmp_path, with_history=True)
    closed = Interrupt.objects.filter(created_at__lt=clock.now() - timedelta(days=1)).count()
    (tmp_path / "demo-credentials.json").unlink()

    ensure_demo(tmp_path, with_history=True)

    before = clock.now() - timedelta(days=1)
    assert Interrupt.objects.filter(created_at__lt=before).count() == closed


def test_the_clock_goes_on_after_it_was_set_back(db):
    start = clock.now() - timedelta(days=9)
    with suppress(ZeroDivisionError), clock_set_back(start) as past:
        assert clock.database_now() - start < timedelta(minutes=1)
        past.move_to(1 / 0)

    assert abs(clock.database_now() - timezone.now()) < timedelta(minutes=1)
    assert abs((uuid7().int >> 80) / 1000 - time.time()) < 60
