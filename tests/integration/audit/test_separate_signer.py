"""With a separate signer, no other process signs or has the key."""

import threading
import time
from types import SimpleNamespace

import pytest

from inbox import sweeper, transparency_log
from inbox.actions.audit.export_signatures import (
    fetch_export_signature,
    request_export_signature,
    sign_exports,
)
from inbox.models import AuditCheckpoint, ExportSignature
from inbox.platform.clock import database_now
from inbox.rules.errors import NotSigned
from inbox.transparency_log import signer
from tools.audit_verifier import Key, verify_export

# The fixture `world` of this folder asks for the database late, so each test asks for it itself.
pytestmark = pytest.mark.django_db


@pytest.fixture
def separate(settings):
    settings.SEPARATE_SIGNER = True


def test_the_sweeper_signs_nothing_and_makes_no_key(world, separate, settings, tmp_path):
    settings.AUDIT_KEY, settings.AUDIT_KEY_FILE = "", tmp_path / "audit-key"

    sweeper.sweep()

    assert transparency_log.is_signing_due()
    assert not AuditCheckpoint.objects.exists()
    assert not settings.AUDIT_KEY_FILE.exists()


def test_the_sweeper_signs_without_a_separate_signer(world, settings, tmp_path):
    settings.AUDIT_KEY, settings.AUDIT_KEY_FILE = "", tmp_path / "audit-key"
    settings.AUDIT_CHECKPOINTS = tmp_path / "checkpoints"

    sweeper.sweep()

    assert AuditCheckpoint.objects.exists()


def test_an_export_waits_for_its_signature(log, auditor, settings, tmp_path, monkeypatch):
    key = transparency_log.signing_key()
    settings.SEPARATE_SIGNER = True
    settings.AUDIT_KEY, settings.AUDIT_KEY_FILE = "", settings.AUDIT_KEY_FILE.with_name("none")
    # Other threads sleep as usual.
    clock = SimpleNamespace(monotonic=time.monotonic, sleep=lambda _: sign_exports(key=key))
    monkeypatch.setattr(signer, "time", clock)

    lines = list(transparency_log.export_lines())

    path = tmp_path / "export.jsonl"
    path.write_bytes(b"".join(lines))
    report = verify_export(path, Key(key.verifier), auditor.notes)
    assert (report["verdict"], report["doubts"]) == ("intact", [])
    assert not ExportSignature.objects.exists()
    assert not settings.AUDIT_KEY_FILE.exists()


def test_an_export_without_a_signer_fails(log, auditor, separate, monkeypatch):
    monkeypatch.setattr(signer, "SIGNER_SECONDS", 0.0)

    with pytest.raises(NotSigned, match="signer does not answer"):
        list(transparency_log.export_lines())


def test_a_signature_is_fetched_once(world):
    key = transparency_log.signing_key()
    request = request_export_signature(entries=3, digest=b"d" * 32)
    assert fetch_export_signature(request_id=request) == ""

    sign_exports(key=key)

    assert fetch_export_signature(request_id=request).startswith(f"{key.name}/export\n3\n")
    assert fetch_export_signature(request_id=request) == ""


def test_a_request_without_a_digest_does_not_stop_the_signer(world):
    ExportSignature.objects.create(entries=3, digest="none", at=database_now())
    request = request_export_signature(entries=3, digest=b"d" * 32)

    sign_exports(key=transparency_log.signing_key())

    assert fetch_export_signature(request_id=request)


def test_requests_that_nobody_fetches_are_deleted(world, later):
    request_export_signature(entries=3, digest=b"d" * 32)

    later(hours=2)
    sign_exports(key=transparency_log.signing_key())

    assert not ExportSignature.objects.exists()


def test_the_loop_signs_and_beats(world, separate, settings, tmp_path, monkeypatch):
    settings.AUDIT_KEY, settings.AUDIT_KEY_FILE = "", tmp_path / "audit-key"
    settings.AUDIT_CHECKPOINTS = tmp_path / "checkpoints"
    monkeypatch.setattr("inbox.transparency_log.signing_process.TICK_SECONDS", 0.0)
    monkeypatch.setattr(
        "inbox.transparency_log.signing_process.check_until", lambda _stopping: None
    )
    stopping = threading.Event()

    transparency_log.sign_until(stopping, stopping.set)

    assert AuditCheckpoint.objects.exists()
    assert settings.AUDIT_KEY_FILE.exists()
