"""The log: what is sealed, signed, written out, exported, and verified from a command line."""

import json
import os
import random
import subprocess
import sys
from io import StringIO

import pytest
from django.core.management import call_command

from inbox import transparency_log
from inbox.actions.audit import audit_trail
from inbox.actions.audit.transparency_log import AT_ONCE, LogMismatch, rotate_key
from inbox.models import AuditBlock, AuditCheckpoint, AuditEntry, AuditLeaf
from inbox.platform.clock import database_now
from inbox.rules.audit.signed_checkpoint import SigningKey
from inbox.rules.people.access import SEED
from tests.support import steps
from tests.support.audit.logs import verify
from tools import audit_verifier as script


def export(path, entries=None, **options):
    path.write_bytes(b"".join(transparency_log.export_lines(entries, **options)))
    return path


def command(*arguments):
    """The exit status of `audit_verify`, and what it says."""
    out = StringIO()
    with pytest.raises(SystemExit) as left:
        call_command("audit_verify", *map(str, arguments), stdout=out, stderr=out)
    return left.value.code, out.getvalue()


def test_every_entry_is_sealed_once_in_the_order_of_its_chain(log):
    positions = list(AuditLeaf.objects.order_by("position").values_list("position", flat=True))

    assert positions == list(range(AuditEntry.objects.count()))
    assert transparency_log.append_and_sign() == 0


def test_what_is_not_sealed_yet_is_said_and_is_no_alarm(log, auditor, world):
    steps.start(world, "rehearse:echo")

    report = verify(auditor)

    assert report["verdict"] == "intact"
    assert report["unsealed"] > 0


def test_an_export_is_the_same_when_it_is_made_again(log, world, tmp_path):
    size = AuditCheckpoint.objects.latest("size").size
    first = export(tmp_path / "first").read_bytes()
    steps.start(world, "rehearse:echo")
    transparency_log.append_and_sign()

    assert export(tmp_path / "second", size=size).read_bytes() == first
    assert export(tmp_path / "third").read_bytes() != first


def test_a_thread_is_exported_with_its_paths_into_the_log(log, auditor, world, tmp_path):
    many = {"action": "test.made", "actor": SEED, "now": database_now(), "team_id": world.team.pk}
    audit_trail.record_all(
        audit_trail.build_entry(**many) for _ in range(700)
    )  # blocks, and no power of two
    transparency_log.append_and_sign()
    assert AuditBlock.objects.exists()
    for run in (log[3], log[0]):
        entries = AuditEntry.objects.filter(chain=run.thread_id)
        path = export(tmp_path / "part", entries)
        report = script.verify_export(path, script.Key(auditor.key), auditor.notes)

        assert (report["verdict"], report["entries"]) == ("intact", entries.count())
        assert report["sealed"] == entries.count()


def test_the_key_changes_and_the_trust_goes_with_it(log, auditor, world, settings):
    key, following = (
        transparency_log.signing_key(),
        SigningKey.new(transparency_log.signing_key().name),
    )
    rotation = rotate_key(key=key, next_key=following, actor=SEED)
    settings.AUDIT_KEY = following.to_text()
    steps.start(world, "rehearse:echo")
    assert transparency_log.append_and_sign() > 0

    assert verify(auditor)["verdict"] == "intact"
    assert verify(auditor)["checkpoint"]["size"] > rotation.size
    newer = type(auditor)(following.verifier, auditor.checkpoints)
    assert verify(newer)["verdict"] == "intact"


def test_a_key_that_nothing_led_to_signs_nothing(log, settings, world):
    settings.AUDIT_KEY = SigningKey.new("signoff-other").to_text()
    steps.start(world, "rehearse:echo")

    assert transparency_log.append_and_sign() == 0


def test_the_key_before_signs_nothing_behind_the_one_that_names_another(log, auditor, world):
    before = transparency_log.signing_key()
    rotate_key(key=before, next_key=SigningKey.new(before.name), actor=SEED)
    steps.start(world, "rehearse:echo")

    assert transparency_log.append_and_sign() == 0
    with pytest.raises(LogMismatch):
        rotate_key(key=before, next_key=SigningKey.new(before.name), actor=SEED)
    assert verify(auditor)["verdict"] == "intact"


def test_nothing_is_sealed_behind_a_checkpoint_that_was_changed(log, auditor, world, unprotected):
    steps.start(world, "rehearse:echo")
    last = AuditCheckpoint.objects.filter(size=AuditCheckpoint.objects.latest("size").size)
    frontier = last.get().frontier
    last.update(frontier=frontier[:-1] + ("0" if frontier[-1] != "0" else "1"))

    assert transparency_log.append_and_sign() == 0


def test_a_backup_that_was_restored_is_not_sealed_over_what_is_outside(
    log, auditor, world, unprotected
):
    newest = AuditCheckpoint.objects.latest("size")
    before = AuditCheckpoint.objects.exclude(pk=newest.pk).latest("size")
    gone = AuditEntry.objects.filter(leaf__position__gte=before.size)
    AuditLeaf.objects.filter(entry__in=gone).delete()
    newest.delete()

    assert transparency_log.append_and_sign() == 0
    assert verify(auditor)["verdict"] == "tampered"


def test_what_comes_while_it_seals_waits_for_the_next_time(log, auditor, world, monkeypatch):
    from inbox.transparency_log import signer as sealing

    original, calls = sealing.sign_entries, []

    def seal_while_others_write(**options):
        calls.append(options)
        checkpoint = original(**options)
        steps.start(world, "rehearse:echo")
        return checkpoint

    monkeypatch.setattr(sealing, "sign_entries", seal_while_others_write)
    steps.start(world, "rehearse:echo")

    assert transparency_log.append_and_sign() > 0
    assert len(calls) == 1


def record_many(world, number):
    entry = {"action": "test.made", "actor": SEED, "now": database_now(), "team_id": world.team.pk}
    audit_trail.record_all(audit_trail.build_entry(**entry) for _ in range(number))


def test_many_entries_are_signed_in_short_transactions(log, auditor, world):
    before = AuditCheckpoint.objects.latest("size").size
    record_many(world, 2 * AT_ONCE + 1)

    assert transparency_log.append_and_sign() == 2 * AT_ONCE + 1

    sizes = AuditCheckpoint.objects.filter(size__gt=before).order_by("size")
    assert [point.size - before for point in sizes] == [AT_ONCE, 2 * AT_ONCE, 2 * AT_ONCE + 1]
    assert verify(auditor)["verdict"] == "intact"


def test_signing_that_ran_out_of_time_continues_at_the_next_call(log, auditor, world):
    record_many(world, AT_ONCE + 1)

    assert transparency_log.append_and_sign(seconds=0) == AT_ONCE
    assert transparency_log.is_behind()
    assert transparency_log.append_and_sign() == 1
    assert not transparency_log.is_behind()
    assert verify(auditor)["verdict"] == "intact"


def test_without_the_right_key_nothing_can_be_told(log, auditor):
    stranger = type(auditor)(
        SigningKey.new(transparency_log.signing_key().name).verifier, auditor.checkpoints
    )

    assert verify(stranger)["verdict"] == "unknown"


def test_a_checkpoint_file_that_was_cut_short_is_written_on(log, auditor, world):
    content = auditor.checkpoints.read_bytes()
    auditor.checkpoints.write_bytes(content[:-20])

    transparency_log.append_and_sign()

    assert content.splitlines()[-1] in auditor.checkpoints.read_bytes().splitlines()
    assert verify(auditor)["verdict"] == "intact"


def test_the_command_says_by_its_exit_what_it_found(log, auditor, tmp_path, unprotected):
    path = export(tmp_path / "export")
    stranger = SigningKey.new("signoff-other").verifier
    assert command()[0] == 0
    assert command("--export", path, "--json")[0] == 0
    assert command("--key", stranger)[0] == 2
    assert command("--key", "nonsense")[0] == 3
    assert command("--export", tmp_path / "nowhere")[0] == 3

    AuditEntry.objects.filter(pk=AuditEntry.objects.first().pk).update(action="forged")

    status, output = command("--json")
    assert status == 1
    assert "columns" in json.loads(output)["findings"][0]["problem"]


def test_the_script_stands_alone(log, auditor, tmp_path):
    path = export(tmp_path / "export")
    alone = tmp_path / "audit_verifier.py"
    alone.write_text(open(script.__file__).read())  # noqa: PTH123, SIM115

    def run(*arguments):
        # -I: nothing of this directory, or of the environment, is on its path.
        return subprocess.run(
            [sys.executable, "-I", alone, *arguments], capture_output=True, text=True, check=False
        )

    intact = run(path, "--key", auditor.key, "--checkpoints", auditor.checkpoints)
    assert (intact.returncode, json.loads(intact.stdout)["verdict"]) == (0, "intact")
    assert run(path).returncode == 2
    assert run("--nonsense").returncode == 3
    path.write_bytes(path.read_bytes().replace(b"run.started", b"run.stopped", 1))
    assert run(path, "--key", auditor.key).returncode == 1
    lines = alone.read_text().splitlines()
    texts = [line for line in lines if "gettext_noop(" in line]
    assert len(lines) - len(texts) <= 350
    assert len(texts) <= 66


def test_no_mutated_export_is_called_intact(log, auditor, tmp_path):
    content = export(tmp_path / "export").read_bytes()
    part = export(tmp_path / "part", AuditEntry.objects.filter(chain=log[3].thread_id)).read_bytes()
    dice, key = random.Random(7), script.Key(auditor.key)
    path = tmp_path / "mutated"
    for number in range(MUTATIONS):
        data = mutated(dice, content if number % 2 else part)
        path.write_bytes(data)
        report = script.verify_export(path, key, auditor.notes if number % 3 else [])
        assert report["verdict"] != "intact" or data in (content, part)


def mutated(dice, data):
    """Bytes, values or lines of an export changed at random."""
    lines = data.splitlines(keepends=True)
    place = dice.randrange(len(lines))
    how = dice.randrange(6)
    if how == 0:
        flipped = bytearray(data)
        flipped[dice.randrange(len(flipped))] ^= 1 << dice.randrange(8)
        return bytes(flipped)
    if how == 1:
        del lines[place]
    elif how == 2:
        lines.insert(dice.randrange(len(lines)), lines[place])
    elif how == 3:
        lines[place] = lines[place][: dice.randrange(len(lines[place]))]
    elif how == 4:
        other = dice.randrange(len(lines))
        lines[place], lines[other] = lines[other], lines[place]
    else:
        lines[place] = with_another_value(dice, lines[place])
    return b"".join(lines)


def with_another_value(dice, line):
    body = json.loads(line)
    name = dice.choice(sorted(body))
    body[name] = dice.choice(STRANGE)
    return json.dumps(body, sort_keys=True, ensure_ascii=False).encode("utf-8", "replace") + b"\n"


STRANGE = (
    *(
        None,
        True,
        -1,
        0,
        2**70,
        1e300,
        "",
        "\ud800",
        "x" * 100_000,
        [],
        {},
        [[]],
        {"a": 1},
        "0" * 64,
    ),
    "[" * 3_000,
)
MUTATIONS = int(os.environ.get("SIGNOFF_MUTATED_EXPORTS", "600"))
