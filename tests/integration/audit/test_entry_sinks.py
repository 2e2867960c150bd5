"""Every audit entry in places that whoever changes the database does not have."""

import datetime
import ipaddress
import json
import re
import socket
import ssl
import threading
from contextlib import contextmanager

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from inbox import transparency_log, wakeups
from inbox.actions.audit import entry_sinks as positions
from inbox.actions.people.api_keys import make_key
from inbox.models import AuditEntry, Decision, EntrySink
from inbox.platform.monitoring.parts import PartStatus
from inbox.queries.audit.sink_lag import sink_states
from inbox.queries.monitoring.readiness import ReadinessCheck
from inbox.rules.errors import AuditSinkLags
from inbox.rules.people.access import SEED, Permission
from inbox.transparency_log import entry_sinks
from tests.integration.audit.test_checkpoint_sinks import web_server
from tests.support.http.rest_client import Caller
from tests.support.policies.published import publish, rule, tool_is
from tests.support.steps import approve, open_interrupts, reread, start


@pytest.fixture(autouse=True)
def _published_at_once(monkeypatch):
    monkeypatch.setattr(wakeups, "wake_entry_publishers", transparency_log.publish_entries)


def log_in_database():
    rows = AuditEntry.objects.filter(leaf__isnull=False).order_by("leaf__position")
    return list(rows.values_list("leaf__position", "hash", "body"))


def entries_in(lines):
    entries = [json.loads(line) for line in lines]
    return [(entry["position"], entry["hash"], entry["body"]) for entry in entries]


def posted(got):
    return [line for *_, body in got for line in body.decode().splitlines()]


@contextmanager
def syslog_server(context=None):
    """A syslog server for streams; yields its port and the messages of each connection."""
    received, listener = [], socket.create_server(("127.0.0.1", 0))

    def serve():
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            try:
                if context:
                    connection = context.wrap_socket(connection, server_side=True)
                data = b""
                while part := connection.recv(65536):
                    data += part
                received.append(data)
            except OSError:
                pass
            finally:
                connection.close()

    threading.Thread(target=serve, daemon=True).start()
    yield listener.getsockname()[1], received
    listener.close()


def messages_of(stream):
    """Split a stream by the lengths in front of its messages (RFC 6587, 3.4.1)."""
    while stream:
        length, _, stream = stream.partition(b" ")
        yield stream[: int(length)].decode()
        stream = stream[int(length) :]


@pytest.fixture
def certificate(tmp_path):
    """A certificate for 127.0.0.1 that signs itself, in one file with its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "receiver")])
    now = datetime.datetime.now(datetime.UTC)
    created = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(
            x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]), False
        )
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), True)
        .sign(key, hashes.SHA256())
    )
    path = tmp_path / "receiver.pem"
    path.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
        + created.public_bytes(serialization.Encoding.PEM)
    )
    return path


def test_a_file_and_a_web_server_get_every_entry_in_order(
    log, settings, tmp_path, world, monkeypatch
):
    monkeypatch.setattr(positions, "ENTRIES_AT_ONCE", 7)
    with web_server() as (url, got):
        settings.AUDIT_ENTRY_SINKS = (f"file://{tmp_path}/entries", f"{url}/in?token=x&payloads=0")
        transparency_log.append_and_sign()
        start(world, "rehearse:echo")
        transparency_log.append_and_sign()

    expected = log_in_database()
    assert len(expected) > 14
    assert entries_in((tmp_path / "entries").read_text().splitlines()) == expected
    assert entries_in(posted(got)) == expected
    assert {path for _, path, *_ in got} == {"/in?token=x"}
    assert got[1][2]["Signoff-First-Position"] == "7"
    assert {state.lag_seconds for state in sink_states().values()} == {0.0}


def test_names_and_texts_are_sent_only_if_the_sink_asks_for_them(log, settings, tmp_path):
    settings.AUDIT_ENTRY_SINKS = (
        f"file://{tmp_path}/plain",
        f"file://{tmp_path}/full?payloads=1",
    )
    transparency_log.append_and_sign()

    plain = (tmp_path / "plain").read_text()
    assert "alice" not in plain.lower()
    assert '"payload":' not in plain.replace("\\", "")[:200]
    assert "alice" in (tmp_path / "full").read_text().lower()


def test_a_failure_is_tried_again_from_the_same_position(log, settings, later):
    with web_server(status=503) as (url, got):
        settings.AUDIT_ENTRY_SINKS = (url,)
        transparency_log.append_and_sign()
        transparency_log.append_and_sign()
        sink = EntrySink.objects.get()
        assert ("503" in sink.problem, sink.position, len(got)) == (True, 0, 1)
        assert ReadinessCheck()().parts["audit_sinks"].status is PartStatus.DEGRADED
        failed = got[0][3]

        later(seconds=11)
        transparency_log.append_and_sign()
        assert [body for *_, body in got] == [failed, failed]


def test_entries_are_sent_again_when_the_lease_was_lost(log, settings, later, monkeypatch):
    sent = []

    def sent_by_a_paused_process(_address, batch):
        sent.append(batch.first)
        if len(sent) == 1:
            later(minutes=10)
            transparency_log.publish_entries(0)
        return ""

    settings.AUDIT_ENTRY_SINKS = ("file:///nowhere",)
    monkeypatch.setattr(entry_sinks, "_try_send", sent_by_a_paused_process)
    transparency_log.append_and_sign()

    assert sent == [0, 0]
    assert EntrySink.objects.get().position == len(log_in_database())


def test_syslog_over_tcp_gets_messages_of_rfc_5424(log, settings):
    with syslog_server() as (port, received):
        settings.AUDIT_ENTRY_SINKS = (f"syslog+tcp://127.0.0.1:{port}",)
        transparency_log.append_and_sign()

    messages = [message for stream in received for message in messages_of(stream)]
    pattern = re.compile(r"<85>1 \d{4}-\d\d-\d\dT[\d:.]+Z \S+ signoff \d+ audit - (\{.*\})")
    bodies = [pattern.fullmatch(message)[1] for message in messages]
    assert entries_in(bodies) == log_in_database()
    assert EntrySink.objects.get().problem == ""


def test_syslog_over_tls_verifies_the_receiver(log, settings, certificate, later):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    with syslog_server(context) as (port, received):
        settings.AUDIT_ENTRY_SINKS = (f"syslog+tls://127.0.0.1:{port}",)
        transparency_log.append_and_sign()
        assert EntrySink.objects.get().problem == "SSLCertVerificationError"
        assert not received

        settings.AUDIT_ENTRY_SINKS = (f"syslog+tls://127.0.0.1:{port}?ca={certificate}",)
        transparency_log.append_and_sign()

    messages = [message for stream in received for message in messages_of(stream)]
    assert entries_in(message.partition("audit - ")[2] for message in messages) == log_in_database()


def test_s3_gets_a_locked_object_for_each_batch(log, settings, monkeypatch):
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "test")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-central-1")
    with web_server() as (url, got):
        monkeypatch.setenv("AWS_ENDPOINT_URL", url)
        settings.AUDIT_ENTRY_SINKS = ("s3://witness/signoff?days=30",)
        transparency_log.append_and_sign()

    last = len(log_in_database()) - 1
    assert EntrySink.objects.get().problem == ""
    ((method, path, headers, body),) = got
    assert (method, path) == ("PUT", f"/witness/signoff/{0:015d}-{last:015d}.jsonl")
    assert headers["x-amz-object-lock-mode"] == "COMPLIANCE"
    assert all(entry_hash.encode() in body for _, entry_hash, _ in log_in_database())


def test_an_unknown_scheme_is_a_problem_that_is_shown(log, settings):
    settings.AUDIT_ENTRY_SINKS = ("pigeon://loft",)

    transparency_log.append_and_sign()

    assert EntrySink.objects.get().problem == "Not the URL of a sink."


# -- no decision while a sink lags ----------------------------------------------------------------


@pytest.fixture
def lagging(log, settings, later, world):
    """An open request, while a sink has not received entries for two minutes."""
    (interrupt,) = open_interrupts(start(world, "rehearse:tool_call"))
    settings.AUDIT_ENTRY_SINKS = ("http://127.0.0.1:9/closed",)
    settings.AUDIT_SINK_MAX_LAG = 60.0
    transparency_log.append_and_sign()
    later(minutes=2)
    return interrupt


def test_a_lagging_sink_stops_decisions_until_it_has_caught_up(
    lagging, bob, settings, world, tmp_path
):
    with pytest.raises(AuditSinkLags, match="more than 60 seconds"):
        approve(lagging, bob)
    assert reread(lagging).status == "open"
    part = ReadinessCheck()().parts["audit_sinks"]
    assert (part.status, part.detail["decisions"]) == (PartStatus.FAILING, "refused")

    settings.AUDIT_ENTRY_SINKS = (f"file://{tmp_path}/entries",)
    transparency_log.append_and_sign()
    approve(lagging, bob)
    assert reread(lagging).status == "resolved"


def test_programs_are_told_that_decisions_wait(lagging, world):
    _, token = make_key(team_id=world.team.pk, name="k", scopes={Permission.DECIDE}, actor=SEED)
    answer = Caller(token).post(
        f"/api/interrupts/{lagging.pk}/decide",
        {
            "status": "resolved",
            "payload": {"approved": True},
            "view_digest": lagging.shown_digest,
        },
    )
    assert (answer.status_code, answer.json()["code"]) == (503, "AUDIT_SINK_LAGS")
    assert answer.headers["Retry-After"] == "30"


def test_policies_leave_requests_to_people_while_a_sink_lags(lagging, world, bob, settings):
    publish(world, rule("mails", "allow", tool_is("send_email")))

    run = start(world, "rehearse:tool_call")

    (interrupt,) = open_interrupts(run)
    assert not Decision.objects.filter(interrupt=interrupt).exists()
    settings.AUDIT_SINK_MAX_LAG = 0.0
    approve(interrupt, bob)
    assert reread(interrupt).status == "resolved"
