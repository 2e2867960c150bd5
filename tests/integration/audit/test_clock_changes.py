"""A database whose clock was ahead and is set right."""

from datetime import timedelta
from types import SimpleNamespace

import pytest
from django.utils import timezone

from inbox import sweeper, transparency_log
from inbox.models import AuditCheckpoint, AuditEntry, AuditLeaf
from inbox.platform import clock
from inbox.queries.runs.overdue import is_checkpoint_due
from tests.support import steps
from tests.support.audit.logs import verify

AHEAD = timedelta(hours=3)


@pytest.fixture
def set_clock(monkeypatch):
    """Set the database's clock so far ahead."""
    now = timezone.now
    monkeypatch.setattr(clock, "connection", SimpleNamespace(vendor="sqlite"))
    return lambda ahead: monkeypatch.setattr(timezone, "now", lambda: now() + ahead)


@pytest.fixture
def went_back(log, world, set_clock):
    """A log whose last checkpoint was signed by a clock three hours ahead, and entries since."""
    set_clock(AHEAD)
    steps.start(world, "rehearse:echo")
    transparency_log.append_and_sign()
    set_clock(timedelta(0))
    steps.start(world, "rehearse:echo")


def test_a_clock_that_went_back_is_a_doubt_and_no_tampering(went_back, auditor):
    report = verify(auditor)

    assert report["verdict"] == "unknown"
    assert not report["findings"]
    assert report["doubts"] == [
        {
            "where": "log",
            "problem": "its last checkpoint is in the future: the clock was set back",
            "place": "log",
            "code": "clock_set_back",
            "arguments": {},
        }
    ]


def test_sealing_goes_on_after_the_clock_went_back(went_back, auditor):
    assert is_checkpoint_due()

    sweeper.sweep()

    assert AuditLeaf.objects.count() == AuditEntry.objects.count()
    assert AuditCheckpoint.objects.order_by("-size").first().at <= timezone.now()
    assert verify(auditor)["verdict"] == "intact"


def test_sealing_is_due_once_the_last_checkpoint_is_old(log, world, set_clock):
    steps.start(world, "rehearse:echo")
    transparency_log.append_and_sign()
    assert not is_checkpoint_due()

    set_clock(timedelta(minutes=1))

    assert is_checkpoint_due()


def test_an_old_entry_that_was_never_sealed_is_still_tampering(log, auditor, world, set_clock):
    set_clock(-AHEAD)
    steps.start(world, "rehearse:echo")
    set_clock(timedelta(0))

    report = verify(auditor)

    assert report["verdict"] == "tampered"
    assert report["findings"][0]["problem"] == "it is older than the log but missing from it"
