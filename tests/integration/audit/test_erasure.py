"""Names and texts that leave the trail by age, and the trail that goes on to verify."""

from datetime import timedelta

import pytest
from django.core.management import CommandError, call_command

from inbox import sweeper, transparency_log
from inbox.actions.audit.erasure import erase_expired, set_retention
from inbox.models import AuditEntry, AuditPayload
from inbox.rules.errors import Forbidden, InvalidValue
from inbox.rules.people.access import SEED
from tests.support import steps
from tests.support.audit.logs import verify


def test_what_is_old_enough_is_erased_and_the_trail_still_verifies(log, auditor, world, later):
    entries = AuditEntry.objects.filter(team=world.team).count()
    set_retention(team_id=world.team.pk, days=30, actor=SEED)
    sweeper.sweep()
    assert not AuditEntry.objects.filter(
        action="audit.erased", actor_id="system:retention"
    ).exists()

    later(days=31)
    sweeper.sweep()

    left = AuditPayload.objects.filter(entry__team=world.team)
    assert set(left.values_list("entry__action", flat=True)) == {"audit.erased"}
    assert AuditEntry.objects.filter(team=world.team).count() > entries
    assert (verify(auditor)["verdict"], verify(auditor)["findings"]) == ("intact", [])
    assert verify(auditor)["erased"] > 40


def test_it_is_erased_once_and_erasures_are_not_erased_for_ever(log, world, later):
    set_retention(team_id=world.team.pk, days=30, actor=SEED)
    later(days=31)
    erase_expired(team_id=world.team.pk)
    erasures = AuditEntry.objects.filter(action="audit.erased").count()

    assert erase_expired(team_id=world.team.pk) == 0
    later(days=400)
    erase_expired(team_id=world.team.pk)
    assert AuditEntry.objects.filter(action="audit.erased").count() == erasures


def test_what_is_younger_stays_and_so_do_other_teams(log, auditor, world, later):
    set_retention(team_id=world.team.pk, days=30, actor=SEED)
    later(days=31)
    run = steps.start(world, "rehearse:echo")

    erase_expired(team_id=world.team.pk)

    assert AuditPayload.objects.filter(entry__chain=run.thread_id).count() == 2
    assert AuditPayload.objects.filter(entry__team__slug="others").exists()
    transparency_log.append_and_sign()
    assert verify(auditor)["verdict"] == "intact"


def test_an_erasure_that_was_cut_off_goes_on(log, auditor, world, later, monkeypatch):
    from inbox.actions.audit import erasure

    set_retention(team_id=world.team.pk, days=30, actor=SEED)
    later(days=31)
    original, done = erasure._erase, []

    def erase_two(*arguments):
        if len(done) == 2:
            raise KeyboardInterrupt
        done.append(arguments)
        return original(*arguments)

    monkeypatch.setattr(erasure, "_erase", erase_two)
    with pytest.raises(KeyboardInterrupt):
        erase_expired(team_id=world.team.pk)
    monkeypatch.setattr(erasure, "_erase", original)

    assert erase_expired(team_id=world.team.pk) > 0
    left = AuditPayload.objects.filter(entry__team=world.team)
    assert set(left.values_list("entry__action", flat=True)) == {"audit.erased"}


def test_only_administrators_say_for_how_long_and_it_is_written_down_once(world, bob):
    with pytest.raises(Forbidden):
        set_retention(team_id=world.team.pk, days=30, actor=bob)
    for days in (0, 100_000):
        with pytest.raises(InvalidValue):
            set_retention(team_id=world.team.pk, days=days, actor=SEED)
    for _ in range(2):
        call_command("set_retention", "tests", "audit", "30")
    call_command("set_retention", "tests", "audit", "never")

    entries = AuditEntry.objects.filter(action="team.retention_set").order_by("pk")
    assert [entry.content["detail"] for entry in entries] == [
        {"before": None, "days": 30},
        {"before": 30, "days": None},
    ]
    for wrong in (("nobody", "30"), ("tests", "soon"), ("tests", "0")):
        with pytest.raises(CommandError):
            call_command("set_retention", wrong[0], "audit", wrong[1])


def test_ages_are_counted_by_the_database(log, world, later):
    set_retention(team_id=world.team.pk, days=1, actor=SEED)
    later(seconds=timedelta(days=1).total_seconds() - 3_600)

    assert erase_expired(team_id=world.team.pk) == 0
