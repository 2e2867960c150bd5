"""Checkpoints in places that whoever changes the database does not have."""

import json
import socket
import subprocess
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import StringIO

import pytest
from django.core.management import call_command

from inbox import transparency_log, wakeups
from inbox.actions.audit.transparency_log import claim_sink
from inbox.models import AuditCheckpoint, CheckpointSink
from inbox.transparency_log import checkpoint_sinks
from tests.support import steps
from tests.support.audit.logs import verify
from tools import audit_verifier


@contextmanager
def web_server(status=200):
    """A server on loopback that keeps what it is sent: (method, path, headers, body)."""
    got = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            body = self.rfile.read(int(self.headers["Content-Length"]))
            got.append((self.command, self.path, self.headers, body))
            self.send_response(status)
            self.send_header("Content-Length", "0")
            self.end_headers()

        do_PUT = do_POST  # noqa: N815

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}", got
    server.shutdown()
    server.server_close()


def notes_in_database():
    return [[row.size, row.note] for row in AuditCheckpoint.objects.order_by("size")]


@pytest.fixture
def rung(monkeypatch):
    """Who is rung for publishes at once."""
    monkeypatch.setattr(wakeups, "wake_publishers", transparency_log.publish_checkpoints)


def test_a_file_and_a_web_server_get_every_checkpoint_in_order(
    log, settings, tmp_path, rung, world
):
    with web_server() as (url, got):
        settings.AUDIT_SINKS = (f"file://{tmp_path}/elsewhere", f"{url}/witness")
        transparency_log.append_and_sign()
        steps.start(world, "rehearse:echo")
        transparency_log.append_and_sign()

        sent = [json.loads(body) for *_, body in got]
        assert [
            [checkpoint["size"], checkpoint["note"]] for checkpoint in sent
        ] == notes_in_database()
        assert audit_verifier.notes_in(tmp_path / "elsewhere") == [
            checkpoint["note"] for checkpoint in sent
        ]
        assert not CheckpointSink.objects.exclude(problem="").exists()


def test_a_sink_that_fails_is_told_of_and_tried_again_later(log, settings, rung, later):
    with web_server(status=503) as (url, got):
        settings.AUDIT_SINKS = (url,)
        transparency_log.append_and_sign()
        transparency_log.append_and_sign()
        sink = CheckpointSink.objects.get()
        assert "503" in sink.problem
        assert (len(got), sink.size) == (1, 0)

        later(minutes=2)
        transparency_log.append_and_sign()
        assert len(got) == 2


def test_nobody_else_sends_to_a_sink_before_the_last_of_a_batch(
    log, settings, rung, tmp_path, monkeypatch
):
    settings.AUDIT_SINKS = (f"file://{tmp_path}/elsewhere",)
    original, claimed = checkpoint_sinks._try_send, []

    def while_another_tries(*arguments):
        claimed.append(claim_sink(address=settings.AUDIT_SINKS[0]))
        return original(*arguments)

    monkeypatch.setattr(checkpoint_sinks, "_try_send", while_another_tries)
    transparency_log.append_and_sign()

    assert len(notes_in_database()) > 2
    assert claimed == [None] * len(notes_in_database())
    assert CheckpointSink.objects.get().not_before is None


def test_whoever_has_lost_the_lease_sends_no_more(log, settings, rung, later, monkeypatch):
    """As if it had been stopped in the middle of the batch, for longer than its lease."""
    sent = []

    def stopped_once(address, size, note):
        sent.append(size)
        if len(sent) == 2:
            later(minutes=10)
            monkeypatch.setattr(
                checkpoint_sinks, "_try_send", lambda _address, size, _: sent.append(-size)
            )
            transparency_log.publish_checkpoints(0)
        return ""

    settings.AUDIT_SINKS = ("file:///nowhere",)
    monkeypatch.setattr(checkpoint_sinks, "_try_send", stopped_once)
    transparency_log.append_and_sign()

    sizes = [size for size, _ in notes_in_database()]
    assert sent == [*sizes[:2], *(-size for size in sizes[1:])]
    assert CheckpointSink.objects.get().size == sizes[-1]


def test_syslog_gets_a_line_a_checkpoint(log, settings, rung):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as daemon:
        daemon.bind(("127.0.0.1", 0))
        daemon.settimeout(10)
        settings.AUDIT_SINKS = (f"syslog://127.0.0.1:{daemon.getsockname()[1]}",)
        transparency_log.append_and_sign()
        lines = [daemon.recv(10_000).decode() for _ in notes_in_database()]

    checkpoints = [
        json.loads(line.partition("signoff-checkpoint ")[2].rstrip("\0")) for line in lines
    ]
    assert [
        [checkpoint["size"], checkpoint["note"]] for checkpoint in checkpoints
    ] == notes_in_database()


def test_git_gets_a_commit_a_checkpoint(log, auditor, settings, rung, tmp_path):
    repository = tmp_path / "repository"
    subprocess.run(["git", "init", "-q", repository], check=True)
    settings.AUDIT_SINKS = (f"git://{repository}",)

    transparency_log.append_and_sign()

    subjects = subprocess.run(
        ["git", "-C", repository, "log", "--format=%s"], check=True, capture_output=True, text=True
    ).stdout.splitlines()
    assert subjects == [f"Checkpoint {size}" for size, _ in reversed(notes_in_database())]
    elsewhere = type(auditor)(auditor.key, repository / "checkpoints")
    assert verify(elsewhere)["verdict"] == "intact"


def test_s3_gets_objects_that_are_locked(log, settings, rung, monkeypatch):
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "test")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-central-1")
    with web_server() as (url, got):
        monkeypatch.setenv("AWS_ENDPOINT_URL", url)
        settings.AUDIT_SINKS = ("s3://witness/signoff?days=30",)
        transparency_log.append_and_sign()

    assert CheckpointSink.objects.get().problem == ""
    assert len(got) == len(notes_in_database())
    for (method, path, headers, body), (size, note) in zip(got, notes_in_database(), strict=True):
        assert (method, path) == ("PUT", f"/witness/signoff/{size:015d}")
        assert headers["x-amz-object-lock-mode"] == "COMPLIANCE"
        assert headers["x-amz-object-lock-retain-until-date"]
        assert note.encode() in body


def test_an_address_that_makes_no_sense_is_a_problem_that_is_shown(log, settings, rung):
    settings.AUDIT_SINKS = ("pigeon://loft",)

    transparency_log.append_and_sign()

    assert CheckpointSink.objects.get().problem == "Not the URL of a sink."


def test_the_operator_rotates_the_key_with_one_command(log, auditor, world):
    def key(*options):
        out = StringIO()
        call_command("audit_key", *options, stdout=out)
        return out.getvalue().strip()

    assert key() == auditor.key
    following = key("--rotate")
    steps.start(world, "rehearse:echo")
    assert transparency_log.append_and_sign() > 0

    assert key() == following != auditor.key
    assert (
        verify(auditor)["verdict"]
        == verify(type(auditor)(following, auditor.checkpoints))["verdict"]
        == "intact"
    )
    assert AuditCheckpoint.objects.latest("size").size == verify(auditor)["sealed"]


def test_a_rotation_that_was_cut_off_goes_on_with_the_same_key(log, auditor, monkeypatch):
    monkeypatch.setattr("pathlib.Path.replace", _killed)
    with pytest.raises(KeyboardInterrupt):
        call_command("audit_key", "--rotate", stdout=StringIO())
    monkeypatch.undo()

    call_command("audit_key", "--rotate", stdout=StringIO())

    assert AuditCheckpoint.objects.latest("size").note.count("\u2014") == 2
    assert transparency_log.signing_key().has_signed(AuditCheckpoint.objects.latest("size").note)
    assert verify(auditor)["verdict"] == "intact"


def test_a_key_is_there_whole_or_not_at_all(settings, tmp_path, monkeypatch):
    settings.AUDIT_KEY, settings.AUDIT_KEY_FILE = "", tmp_path / "key"
    monkeypatch.setattr("os.fsync", _killed)
    with pytest.raises(KeyboardInterrupt):
        transparency_log.signing_key()
    monkeypatch.undo()
    assert list(tmp_path.iterdir()) == []

    key = transparency_log.signing_key()

    assert transparency_log.signing_key() == key
    assert settings.AUDIT_KEY_FILE.stat().st_mode & 0o777 == 0o600
    assert list(tmp_path.iterdir()) == [settings.AUDIT_KEY_FILE]


def _killed(*_):
    raise KeyboardInterrupt
