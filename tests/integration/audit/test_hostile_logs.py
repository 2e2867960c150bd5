"""Logs, files and rows that were written to make the verifier stumble."""

import json
from io import StringIO

import pytest
from django.core.management import call_command
from django.db import connection

from inbox import transparency_log
from inbox.actions.audit.erasure import erase_thread
from inbox.models import AuditEntry, AuditPayload
from inbox.rules.audit.audit_entry import hash_of
from inbox.rules.people.access import SEED
from tests.support import steps
from tests.support.audit.logs import let_happen_while_it_is_read, verify
from tools import audit_verifier as script

CHANGES = {
    "a time of no zone": {"at": "2026-11-21T04:48:00"},
    "a time that is none": {"at": "soon"},
    "a time that is a number": {"at": 7},
    "half of a range": {"erases": [1]},
    "a range of texts": {"erases": ["1", "9"]},
    "a range of nothing": {"erases": [float("nan"), float("nan")]},
    "a range as a number": {"erases": 9},
    "half of a character": {"chain": "\ud800"},
    "words for a terminal": {"chain": "\x1b[2J\x1b[31mintact"},
    "a list as a chain": {"chain": [[]]},
    "a number that is none": {"seq": float("nan")},
    "a number in words": {"seq": "2"},
    "an actor that is a list": {"actor": []},
    "a payload that is a number": {"payload": 3},
}


def command(*arguments):
    out = StringIO()
    with pytest.raises(SystemExit) as left:
        call_command("audit_verify", *map(str, arguments), stdout=out, stderr=out)
    return left.value.code, out.getvalue()


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
@pytest.mark.parametrize("is_sealed", [True, False])
def test_a_row_of_nonsense_is_found_and_said_in_plain_characters(
    log, auditor, world, unprotected, change, is_sealed
):
    steps.start(world, "rehearse:echo")
    row = AuditEntry.objects.filter(leaf__isnull=not is_sealed).order_by("pk").last()
    forged = {**json.loads(row.body), **change}
    body = json.dumps(forged, sort_keys=True, separators=(",", ":"))
    AuditEntry.objects.filter(pk=row.pk).update(body=body, hash=hash_of(body))

    for options in ([], ["--json"]):
        status, forged = command(*options)
        assert status == 1
        assert forged.isascii()
        assert "\x1b" not in forged
    assert verify(auditor)["verdict"] == "tampered"


#: SQLite keeps whatever it is given, PostgreSQL the strangest of the right type.
NONSENSE = {
    "sqlite": {
        "at": "'soon'",
        "body": "CAST(x'ff' AS TEXT)",
        "run_id": "'x'",
        "seq": "'many'",
        "hash": "x'ff'",
    },
    "postgresql": {
        "at": "'4713-01-01 BC'",
        "body": "'[[[['",
        "run_id": "'ffffffff-ffff-ffff-ffff-ffffffffffff'",
        "seq": "2147483647",
        "hash": "''",
    },
}


def test_rows_that_no_value_can_be_read_from_are_tampering(log, auditor, unprotected):
    last = AuditEntry.objects.latest("pk").pk
    for column, value in NONSENSE[connection.vendor].items():
        with connection.cursor() as cursor:
            cursor.execute("SAVEPOINT before_it")
            cursor.execute(f"UPDATE inbox_auditentry SET {column} = {value} WHERE id = {last}")
            status, output = command("--json")
            cursor.execute("ROLLBACK TO before_it")
        assert (status, json.loads(output)["verdict"]) == (1, "tampered"), column


def test_checkpoints_that_are_none_are_a_finding(log, auditor):
    content = auditor.checkpoints.read_bytes()
    for line in (
        b"nonsense",
        b"\xff\xfe",
        b"[]",
        b"7",
        b'{"note": 7}',
        b'{"note": "\\ud800\\n1\\n"}',
        b'{"note": "a\\n99999999999999999999999999\\nb\\n\\nc\\n"}',
        b'{"size": 3, "note": "[[[["}',
        b"[" * 100_000,
    ):
        auditor.checkpoints.write_bytes(line + b"\n" + content)
        status, output = command("--json")
        assert (status, json.loads(output)["verdict"]) == (1, "tampered"), line[:40]
        assert command("--export", "/nowhere")[0] == 3


@pytest.mark.parametrize(
    "head",
    [
        [],
        {},
        {"scope": "log", "checkpoint": 7},
        {"scope": [], "checkpoint": None},
        {"scope": "part", "checkpoint": "x", "keys": 7},
        {"scope": "log", "checkpoint": "x", "keys": [7, None, {}]},
    ],
)
def test_no_head_of_an_export_makes_it_stumble(log, auditor, tmp_path, head):
    _, *lines = transparency_log.export_lines()
    path = tmp_path / "export"
    path.write_bytes(b"".join([json.dumps(head).encode() + b"\n", *lines]))

    report = script.verify_export(path, script.Key(auditor.key), auditor.notes)

    assert report["verdict"] == "tampered"


def test_without_a_key_nothing_is_vouched_for_and_none_is_made(log, auditor, settings, tmp_path):
    settings.AUDIT_KEY_FILE = tmp_path / "elsewhere"

    status, output = command()

    assert status == 2
    assert "--key" in output
    assert not settings.AUDIT_KEY_FILE.exists()


def test_a_thread_and_a_range_are_verified_by_themselves(log, auditor, unprotected):
    thread, other = log[3].thread_id, log[1].thread_id
    assert command("--thread", thread)[0] == 0
    assert command("--range", "3-9")[0] == 0
    assert json.loads(command("--range", "3-9", "--json")[1])["sealed"] == 7
    assert json.loads(command("--thread", thread, "--json")[1])["outside"] > 40
    for wrong in (("--range", "9-3"), ("--range", "x"), ("--thread", "x")):
        assert command(*wrong)[0] == 3
    assert command("--thread", "0" * 31 + "9")[0] == 2

    row = AuditEntry.objects.get(chain=thread, seq=2)
    AuditEntry.objects.filter(pk=row.pk).update(action="forged")

    assert command("--thread", thread)[0] == 1
    assert command("--thread", other)[0] == 0
    assert command("--range", f"{row.leaf.position}-{row.leaf.position}")[0] == 1


def test_entries_that_are_gone_from_a_thread_or_a_range_are_missed(log, auditor, unprotected):
    row = AuditEntry.objects.get(chain=log[3].thread_id, seq=2)
    place = row.leaf.position
    AuditPayload.objects.filter(entry=row).delete()
    row.leaf.delete()
    row.delete()

    assert command("--thread", log[3].thread_id)[0] == 1
    assert command("--range", f"{place - 1}-{place + 1}")[0] == 1


def test_the_command_says_what_its_verdict_rests_on(log, auditor, tmp_path):
    assert "Checkpoints outside of the database cover" in command()[1]

    auditor.checkpoints.unlink()

    assert "No checkpoint from outside" in command()[1]


def test_what_is_erased_while_it_is_read_is_no_tampering(log, auditor, monkeypatch):
    def erase():
        erase_thread(thread_id=log[2].thread_id, reason="by request", actor=SEED)

    read = let_happen_while_it_is_read(erase, monkeypatch)

    assert (command()[0], len(read)) == (0, 3), "it has looked twice"


def test_what_is_sealed_while_it_is_read_is_read_once(log, auditor, world, monkeypatch):
    steps.start(world, "rehearse:tool_call")
    sealed = AuditEntry.objects.filter(leaf=None).count()
    let_happen_while_it_is_read(
        lambda: transparency_log.append_and_sign(thoroughly=False), monkeypatch
    )

    report = verify(auditor)

    assert not AuditEntry.objects.filter(leaf=None).exists()
    assert (report["verdict"], report["unsealed"]) == ("intact", sealed)
    assert report["entries"] == AuditEntry.objects.count()
