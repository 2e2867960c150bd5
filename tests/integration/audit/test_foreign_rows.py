"""Rows that others than the sealer have put into the log, and a sealer that goes on."""

from datetime import timedelta

import pytest
from django.db import DatabaseError, transaction

from inbox import transparency_log
from inbox.actions.audit import audit_trail
from inbox.models import AuditBlock, AuditCheckpoint, AuditEntry, AuditLeaf
from inbox.platform import timers
from inbox.platform.clock import database_now
from inbox.rules.audit.audit_entry import SYSTEM_CHAIN
from inbox.rules.people.access import SEED
from tests.support import steps
from tests.support.audit.logs import verify


def size():
    return AuditCheckpoint.objects.latest("size").size


def plant(pk, at=None, chain=None):
    """An entry that fits into its chain, under an id that no new entry has."""
    what = {"action": "test.made", "actor": SEED, "now": at or database_now()}
    draft = audit_trail.build_entry(**what)
    place = audit_trail._next_place(draft)
    columns = audit_trail._columns(
        draft, place, audit_trail.commitment_to(draft.payload, "00" * 32)
    )
    row = AuditEntry.objects.create(pk=pk, **columns)
    audit_trail.AuditPayload.objects.create(entry=row, salt="00" * 32, text=draft.payload)
    return row


def looked_at_everything(later, **by):
    """A checkpoint behind which only newer ids are looked at."""
    later(**by)
    plant(-1)
    assert transparency_log.append_and_sign(thoroughly=True) == 1


def stray_at(position):
    entry = AuditEntry.objects.filter(leaf=None).order_by("pk").first()
    AuditLeaf.objects.create(position=position, entry=entry)
    return entry


@pytest.mark.parametrize("behind", [0, 3, 10**9])
def test_a_leaf_of_somebody_else_is_found_and_stops_no_sealing(log, auditor, world, behind):
    steps.start(world, "rehearse:echo")
    place = size() + behind
    entry = stray_at(place)
    report = verify(auditor)
    assert report["verdict"] == "tampered"
    assert f"entry {entry.pk}" in report["findings"][0]["problem"]

    assert transparency_log.append_and_sign() > 2

    assert (verify(auditor)["verdict"], verify(auditor)["unsealed"]) == ("intact", 0)
    content = AuditEntry.objects.get(chain=SYSTEM_CHAIN, action="audit.leaves_removed").content
    assert content["detail"] == {"leaves": [[place, entry.pk]]}


def test_a_leaf_that_a_checkpoint_commits_to_stays_where_it_is(log):
    with pytest.raises(DatabaseError, match="append-only"), transaction.atomic():
        AuditLeaf.objects.filter(position=size() - 1).delete()


def test_a_block_of_somebody_else_stops_no_sealing_either(log, auditor, world):
    AuditBlock.objects.create(number=0, root="0" * 64)
    many = {"action": "test.made", "actor": SEED, "now": database_now(), "team_id": world.team.pk}
    audit_trail.record_all(audit_trail.build_entry(**many) for _ in range(300))

    assert transparency_log.append_and_sign() == 300
    assert verify(auditor)["verdict"] == "intact"


@pytest.mark.parametrize("harm", ["changed", "gone", "no number"])
def test_blocks_that_were_changed_are_found_and_made_anew(log, auditor, world, harm):
    many = {"action": "test.made", "actor": SEED, "now": database_now(), "team_id": world.team.pk}
    audit_trail.record_all(audit_trail.build_entry(**many) for _ in range(700))
    transparency_log.append_and_sign()
    before = list(AuditBlock.objects.order_by("number").values_list("number", "root"))
    if harm == "gone":
        AuditBlock.objects.filter(number=1).delete()
    else:
        AuditBlock.objects.filter(number=1).update(root="zz" if harm == "no number" else "0" * 64)
    assert [finding["where"] for finding in verify(auditor)["findings"]] == ["blocks"]

    transparency_log.append_and_sign(thoroughly=True)

    assert list(AuditBlock.objects.order_by("number").values_list("number", "root")) == before
    assert verify(auditor)["verdict"] == "intact"


@pytest.mark.parametrize("pk", [-1, 0, 2**62])
def test_no_id_that_somebody_takes_keeps_others_from_writing(log, auditor, world, pk):
    plant(pk)

    steps.start(world, "rehearse:echo")

    assert transparency_log.append_and_sign(thoroughly=True) > 2
    assert verify(auditor)["verdict"] == "intact"


@pytest.mark.parametrize(("pk", "at"), [(-5, None), (-7, timedelta(days=300))])
def test_entries_with_low_ids_or_times_to_come_are_sealed_in_the_end(log, auditor, later, pk, at):
    looked_at_everything(later, minutes=30)
    later(minutes=60)
    row = plant(pk, at and database_now() + at)
    assert transparency_log.append_and_sign(thoroughly=False) == 0
    assert (at is None) or verify(auditor)["verdict"] == "unknown"

    assert transparency_log.append_and_sign(thoroughly=True) == 1

    assert AuditLeaf.objects.filter(entry=row).exists()
    assert verify(auditor)["verdict"] == "intact"


def test_behind_an_id_of_the_far_future_new_entries_are_still_sealed(log, auditor, world, later):
    later(minutes=30)
    plant(2**62)
    assert transparency_log.append_and_sign() == 1
    later(minutes=60)
    transparency_log.append_and_sign()
    steps.start(world, "rehearse:echo")
    later(minutes=90)

    assert transparency_log.append_and_sign(thoroughly=True) > 0
    steps.start(world, "rehearse:echo")
    later(minutes=120)

    assert transparency_log.append_and_sign() > 0


def test_timer_is_due_at_first_then_after_its_time_and_when_it_is_reset(monkeypatch):
    now = [1_000.0]
    monkeypatch.setattr(timers.time, "monotonic", lambda: now[0])
    timer = timers.Timer(900.0)

    assert [timer.is_due(), timer.is_due()] == [True, False]
    now[0] += 900.0
    assert [timer.is_due(), timer.is_due()] == [True, False]
    timer.reset()
    assert timer.is_due()


def test_an_entry_behind_the_newest_checkpoint_is_not_sealed(log, auditor, world):
    steps.start(world, "rehearse:echo")
    for position, entry in enumerate(AuditEntry.objects.filter(leaf=None).order_by("pk"), size()):
        AuditLeaf.objects.create(position=position, entry=entry)

    report = verify(auditor)

    assert report["sealed"] == size()
    assert report["unsealed"] == report["entries"] - size() > 0


def test_a_sealing_that_has_stopped_is_a_doubt_after_an_hour(log, auditor, world, later):
    steps.start(world, "rehearse:echo")
    later(minutes=50)
    assert verify(auditor)["verdict"] == "intact"

    later(minutes=70)

    report = verify(auditor)
    assert (report["verdict"], report["findings"]) == ("unknown", [])
    assert "signing process running?" in report["doubts"][0]["problem"]


def test_what_is_older_than_the_log_and_not_in_it_is_tampering(log, auditor, world, later):
    looked_at_everything(later, minutes=30)
    plant(-5)
    steps.start(world, "rehearse:echo")
    later(minutes=100)
    assert transparency_log.append_and_sign(thoroughly=False) > 0

    assert [finding["problem"] for finding in verify(auditor)["findings"]] == [
        "it is older than the log but missing from it"
    ]
