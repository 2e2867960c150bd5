"""Exports that are verified later, elsewhere, and by those who know less than we do."""

import hashlib
import json

import pytest

from inbox import transparency_log
from inbox.actions.audit import audit_trail
from inbox.actions.audit.erasure import erase_thread
from inbox.actions.audit.transparency_log import rotate_key
from inbox.models import AuditBlock, AuditCheckpoint, AuditEntry
from inbox.platform.clock import database_now
from inbox.queries.audit import trail
from inbox.rules.audit.signed_checkpoint import SigningKey, checkpoint, signed_export
from inbox.rules.people.access import RETENTION, SEED
from tests.support import steps
from tools import audit_verifier as script


@pytest.fixture
def verify(auditor, tmp_path):
    """What the script says of the lines of an export."""

    def report_on(lines, key=None, notes=None, **options):
        path = tmp_path / "export"
        path.write_bytes(b"".join(lines))
        notes = auditor.notes if notes is None else notes
        return script.verify_export(path, script.Key(key or auditor.key), notes, **options)

    return report_on


def newest_size():
    return AuditCheckpoint.objects.latest("size").size


def with_news(world):
    steps.start(world, "rehearse:echo")
    assert transparency_log.append_and_sign() > 0


def test_a_newer_file_of_checkpoints_makes_an_older_export_no_forgery(log, auditor, world, verify):
    lines, size = list(transparency_log.export_lines()), newest_size()
    with_news(world)

    report = verify(lines)

    assert (report["verdict"], report["findings"]) == ("intact", [])
    assert (report["checkpoint"]["size"], report["newer"]) == (size, newest_size())
    assert report["outside"] == size


def test_whoever_wants_the_latest_is_told_that_it_is_not(log, auditor, world, verify):
    lines = list(transparency_log.export_lines())
    assert verify(lines, latest=True)["verdict"] == "intact"
    with_news(world)

    assert verify(lines, latest=True)["verdict"] == "tampered"


def test_the_report_says_when_nothing_outside_vouches_for_an_export(log, verify):
    assert verify(transparency_log.export_lines(), notes=[])["outside"] == 0


def test_an_export_that_lost_lines_at_its_end_is_tampered(log, verify):
    *lines, _, end = transparency_log.export_lines()

    assert verify([*lines, end])["verdict"] == "tampered"


def test_two_checkpoints_of_one_size_are_a_finding_in_a_part_too(log, auditor, verify):
    entries = AuditEntry.objects.filter(chain=log[3].thread_id)
    other = checkpoint(
        size=newest_size(), root=bytes(32), at=database_now(), key=transparency_log.signing_key()
    )

    assert verify(transparency_log.export_lines(entries), notes=[other])["verdict"] == "tampered"
    assert verify(transparency_log.export_lines(), notes=[other])["verdict"] == "tampered"


def erase(run):
    assert erase_thread(thread_id=run.thread_id, reason="by request", actor=SEED) > 0


def parts_and_whole(run, size):
    yield list(transparency_log.export_lines(size=size))
    yield list(
        transparency_log.export_lines(AuditEntry.objects.filter(chain=run.thread_id), size=size)
    )


def test_what_was_erased_after_the_checkpoint_is_explained(log, verify):
    size = newest_size()
    erase(log[2])

    for lines in parts_and_whole(log[2], size):
        report = verify(lines)
        assert (report["verdict"], report["findings"]) == ("intact", [])
        assert report["erased"] > 5
        assert json.loads(lines[-2])["position"] is None


def test_erasures_are_explained_alike_after_sealing_them_again(log, verify):
    size = newest_size()
    erase(log[2])
    before = list(parts_and_whole(log[2], size))

    audit_trail.record_erasure(1, 3, actor=RETENTION, now=database_now(), thread=log[2].thread)
    transparency_log.append_and_sign()

    assert list(parts_and_whole(log[2], size)) == before


def test_erasures_of_erasures_are_explained(log, verify):
    size = newest_size()
    erase(log[2])
    erase(log[2])

    for lines in parts_and_whole(log[2], size):
        assert verify(lines)["verdict"] == "intact"


def test_a_payload_that_is_gone_without_a_word_is_still_found(log, unprotected, verify):
    from inbox.models import AuditPayload

    erase(log[2])
    AuditPayload.objects.filter(entry__chain=log[3].thread_id, entry__seq=2).delete()

    for lines in parts_and_whole(log[3], newest_size()):
        assert verify(lines)["verdict"] == "tampered"


def test_a_line_outside_of_the_log_may_only_tell_of_erasures(log, world, verify):
    steps.start(world, "rehearse:echo")
    late, *_ = trail.lines_of(AuditEntry.objects.filter(leaf=None).order_by("pk"))
    *lines, _ = transparency_log.export_lines()
    lines.append(json.dumps(late).encode() + b"\n")
    digest = hashlib.sha256(b"".join(lines)).digest()
    end = signed_export(entries=len(lines) - 1, digest=digest, key=transparency_log.signing_key())

    report = verify([*lines, json.dumps({"end": end}).encode() + b"\n"])

    assert report["verdict"] == "tampered"


@pytest.mark.parametrize("left_out", [slice(2, 4), slice(0, 1), slice(None, None, 2)])
def test_a_part_may_leave_out_pieces_of_a_chain(log, verify, left_out):
    of_thread = AuditEntry.objects.filter(chain=log[3].thread_id)
    seqs = list(of_thread.order_by("seq").values_list("seq", flat=True))
    some = of_thread.exclude(seq__in=seqs[left_out])

    report = verify(transparency_log.export_lines(some))

    assert (report["verdict"], report["findings"]) == ("intact", [])
    assert report["sealed"] == some.count() > 3


def test_a_part_from_which_a_line_was_taken_is_tampered(log, verify):
    lines = list(transparency_log.export_lines(AuditEntry.objects.filter(chain=log[3].thread_id)))

    assert verify([*lines[:3], *lines[4:]])["verdict"] == "tampered"


def rotated(settings, world):
    key, following = (
        transparency_log.signing_key(),
        SigningKey.new(transparency_log.signing_key().name),
    )
    rotate_key(key=key, next_key=following, actor=SEED)
    settings.AUDIT_KEY = following.to_text()
    with_news(world)
    return following.verifier


def test_the_first_key_is_enough_for_an_export_after_the_key_changed(
    log, auditor, world, settings, verify
):
    size = newest_size()
    rotated(settings, world)

    for lines in [*parts_and_whole(log[3], newest_size()), *parts_and_whole(log[3], size)]:
        report = verify(lines, notes=[])
        assert (report["verdict"], report["findings"], report["doubts"]) == ("intact", [], [])


def test_export_from_before_a_key_change_verifies_with_the_new_key_file(
    log, auditor, world, settings, verify
):
    lines = list(transparency_log.export_lines())
    following = rotated(settings, world)
    transparency_log.append_and_sign()

    assert verify(lines)["verdict"] == "intact"
    assert verify(lines, key=following)["verdict"] == "unknown"


def test_an_export_that_an_unknown_key_signed_cannot_be_told(log, auditor, settings, verify):
    lines = list(transparency_log.export_lines())
    settings.AUDIT_KEY = SigningKey.new("signoff-other").to_text()
    again = list(transparency_log.export_lines())
    assert again[:-1] == lines[:-1]

    report = verify(again)

    assert (report["verdict"], report["findings"]) == ("unknown", [])
    assert "key" in report["doubts"][0]["problem"]


def test_a_key_from_before_signs_no_export_of_what_came_after(
    log, auditor, world, settings, verify
):
    before = transparency_log.signing_key()
    rotated(settings, world)
    settings.AUDIT_KEY = before.to_text()

    assert verify(transparency_log.export_lines())["verdict"] == "unknown"


def test_whoever_only_reads_makes_no_key(log, auditor, settings, tmp_path):
    settings.AUDIT_KEY_FILE = tmp_path / "elsewhere"

    with pytest.raises(ValueError, match="no signing key"):
        list(transparency_log.export_lines())
    assert not settings.AUDIT_KEY_FILE.exists()


@pytest.mark.parametrize("harm", ["changed", "gone", "no number"])
def test_paths_are_right_whatever_was_done_to_the_blocks(log, auditor, world, verify, harm):
    many = {"action": "test.made", "actor": SEED, "now": database_now(), "team_id": world.team.pk}
    audit_trail.record_all(audit_trail.build_entry(**many) for _ in range(700))
    transparency_log.append_and_sign()
    if harm == "gone":
        AuditBlock.objects.filter(number=1).delete()
    else:
        AuditBlock.objects.filter(number=1).update(root="zz" if harm == "no number" else "0" * 64)

    report = verify(
        transparency_log.export_lines(AuditEntry.objects.filter(chain=log[3].thread_id))
    )

    assert (report["verdict"], report["findings"]) == ("intact", [])
