"""Testing the connection to an agent elsewhere, over a real one; and what is kept of it."""

import asyncio
import ssl
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from django.db import connections

from agents.adapters.remote import allowed_addresses
from inbox.actions.agents.remote_agents import set_remote_agent
from inbox.engine import connection_test
from inbox.engine.connection_test import run_connection_test
from inbox.models import AuditEntry, Endpoint
from inbox.queries.agents.agents import agent_for, location_of
from inbox.rules.errors import (
    AddressTaken,
    AgentChanged,
    Forbidden,
    InvalidValue,
    NotFound,
    NotRemote,
    TooManyTests,
)
from inbox.rules.people.access import SEED
from tests.support.agents.remote_agent_server import REFUSAL, elsewhere

__all__ = ["elsewhere"]

SECRET = "Bearer kept-to-ourselves"


@pytest.fixture
def put(world):
    """Add or change the agent `refunds` of the team, as its administrators do."""

    def set_it(url="https://a.example.com/agui", headers=None, **more):
        return set_remote_agent(
            team_id=world.team.pk, slug="refunds", url=url, headers=headers, actor=SEED, **more
        )

    return set_it


def place(actor=SEED):
    return location_of(actor, agent_for(actor, "refunds"))


def kept_headers():
    from inbox.platform.encryption import decrypt

    return decrypt(Endpoint.objects.get().headers)


def problems(refused):
    return refused.value.detail["problems"]


# -- headers stay where they were meant to go -----------------------------------------------------


@pytest.mark.parametrize("stored", [None, {"Authorization": None}, {"authorization": None}])
@pytest.mark.parametrize(
    "url", ["https://a.example.com/other?x=1", "https://A.example.com:443/agui"]
)
def test_headers_are_kept_as_long_as_the_place_is_the_same(put, stored, url):
    put(headers={"Authorization": SECRET})

    put(url, headers=stored)

    assert list(kept_headers().values()) == [SECRET]
    assert Endpoint.objects.get().url == url


@pytest.mark.parametrize("stored", [None, {"Authorization": None}, {"authorization": None}])
@pytest.mark.parametrize(
    "url",
    [
        "http://a.example.com/agui",
        "https://b.example.com/agui",
        "https://a.example.com:8443/agui",
        "https://a.example.com.evil.example/agui",
    ],
)
def test_no_header_goes_to_another_place_by_itself(put, stored, url, settings):
    settings.PRIVATE_AGENT_HOSTS = {"a.example.com"}
    put(headers={"Authorization": SECRET})

    with pytest.raises(InvalidValue) as refused:
        put(url, headers=stored)

    ((sentence,),) = problems(refused)["headers"].values()
    assert "is not sent to the new address" in sentence
    assert SECRET not in str(refused.value.detail)
    assert Endpoint.objects.get().url == "https://a.example.com/agui"


def test_a_url_without_tls_is_refused_unless_the_operator_names_its_host(put, settings):
    with pytest.raises(InvalidValue) as refused:
        put("http://a.example.com/agui")
    assert "must start with https://" in problems(refused)["url"][0]
    assert not Endpoint.objects.exists()

    settings.PRIVATE_AGENT_HOSTS = {"a.example.com"}
    put("http://a.example.com/agui")

    assert Endpoint.objects.get().url == "http://a.example.com/agui"


def test_headers_that_are_given_anew_go_to_another_place(put):
    put(headers={"Authorization": SECRET, "X-Tenant": "acme"})

    put("https://b.example.com/", headers={"Authorization": "Bearer another"})

    assert kept_headers() == {"Authorization": "Bearer another"}


def test_an_agent_without_headers_moves_by_its_url_alone(put):
    put(headers={})

    put("https://b.example.com/")

    assert place().url == "https://b.example.com/"


def test_one_header_is_changed_another_kept_and_a_third_left_out(put):
    put(headers={"A": "1", "B": "2", "C": "3"})

    put(headers={"A": None, "B": "two"})

    assert kept_headers() == {"A": "1", "B": "two"}


def test_what_cannot_be_read_any_more_cannot_be_kept(put, settings):
    put(headers={"Authorization": SECRET})
    settings.ENCRYPTION_KEYS, settings.SECRET_KEY = ["another one"], "another secret key"

    for headers in (None, {"Authorization": None}):
        with pytest.raises(InvalidValue):
            put(headers=headers)
    assert place().header_names is None
    put(headers={"Authorization": "Bearer new"})

    assert place().header_names == ["Authorization"]


def test_everything_that_is_wrong_is_said_at_once(world):
    with pytest.raises(InvalidValue) as refused:
        set_remote_agent(
            team_id=world.team.pk,
            slug="two words",
            url="gopher://x/",
            headers={"Host": "x", "X-New": None},
            description="d" * 201,
            actor=SEED,
        )

    assert set(problems(refused)) == {"name", "url", "description", "headers"}
    assert set(problems(refused)["headers"]) == {"Host", "X-New"}


# -- several administrators -----------------------------------------------------------------------


def test_what_another_administrator_has_changed_is_not_overwritten(put):
    put()
    seen = place().changed_at
    put(description="Refunds.")

    with pytest.raises(AgentChanged):
        put(description="Late.", seen_at=seen)
    put(description="In time.", seen_at=place().changed_at)

    assert agent_for(SEED, "refunds").description == "In time."


def test_an_agent_that_must_be_new_replaces_none(put):
    put("https://a.example.com/")

    with pytest.raises(AddressTaken):
        put("https://b.example.com/", must_be_new=True)

    assert place().url == "https://a.example.com/"


# -- the test -------------------------------------------------------------------------------------


def test_a_test_is_kept_for_everybody_to_see(world, put, elsewhere, alice):
    put(elsewhere.url, {"Authorization": SECRET})
    elsewhere.runs = [REFUSAL]
    elsewhere.capabilities = {"identity": {"name": "Refunds"}}

    report = run_connection_test("refunds", SEED)

    assert (report["found"], report["protocol_version"]) == ("agent", "1.0")
    assert report["told"]["name"] == "Refunds"
    assert place().test == report
    assert place(alice).test == {"found": "agent"}
    assert elsewhere.headers[0]["Authorization"] == SECRET
    entry = AuditEntry.objects.get(action="agent.tested")
    assert entry.content["detail"] == {"agent": "refunds", "found": "agent"}
    assert "kept-to-ourselves" not in Endpoint.objects.get().test_report


def test_a_test_of_what_was_changed_meanwhile_is_not_kept(put, elsewhere, monkeypatch):
    put(elsewhere.url)
    elsewhere.runs = [REFUSAL]
    ask = connection_test._probe

    def ask_and_change(endpoint):
        report = ask(endpoint)
        put("https://b.example.com/")
        return report

    monkeypatch.setattr(connection_test, "_probe", ask_and_change)
    assert run_connection_test("refunds", SEED)["found"] == "agent"

    assert (place().tested_at, place().test) == (None, None)
    assert AuditEntry.objects.filter(action="agent.tested").exists()


def test_a_change_forgets_the_test(put, elsewhere):
    put(elsewhere.url)
    elsewhere.runs = [REFUSAL]
    run_connection_test("refunds", SEED)

    put(elsewhere.url, description="Refunds.")

    assert place().test is None


def test_our_own_network_is_not_tested(put, elsewhere, settings):
    put(elsewhere.url)
    settings.PRIVATE_AGENT_HOSTS = frozenset()

    assert run_connection_test("refunds", SEED)["found"] == "address_refused"
    assert elsewhere.sent == []


def test_nobody_is_greeted_with_headers_that_cannot_be_read(put, elsewhere, settings):
    put(elsewhere.url, {"Authorization": SECRET})
    settings.ENCRYPTION_KEYS, settings.SECRET_KEY = ["another one"], "another secret key"

    assert run_connection_test("refunds", SEED)["found"] == "headers_unreadable"
    assert elsewhere.sent == []


def test_no_transaction_is_open_while_a_connection_is_tested(put, elsewhere, monkeypatch):
    put(elsewhere.url)
    elsewhere.runs = [REFUSAL]
    database = connections["default"]
    seen = []

    def transactions():
        return database.in_atomic_block, len(database.savepoint_ids)

    async def resolve(host, port, _resolve=allowed_addresses.resolve):
        seen.append(transactions())
        return await _resolve(host, port)

    outside = transactions()
    remote = connection_test.remote_agent
    monkeypatch.setattr(
        connection_test,
        "remote_agent",
        lambda endpoint: replace(remote(endpoint), resolver=resolve),
    )
    run_connection_test("refunds", SEED)

    assert seen == [outside]


def test_a_name_server_that_never_answers_keeps_nobody(put, monkeypatch):
    """The thread that waits for it cannot be stopped: the test ends without it."""
    put()
    answers = Event()

    async def resolve(_host, _port):
        await asyncio.get_running_loop().run_in_executor(None, answers.wait)
        return ["93.184.215.14"]

    remote, probe = connection_test.remote_agent, connection_test.probe
    monkeypatch.setattr(
        connection_test,
        "remote_agent",
        lambda endpoint: replace(remote(endpoint), resolver=resolve),
    )
    monkeypatch.setattr(connection_test, "probe", lambda agent: probe(agent, seconds=0.1))

    try:
        assert run_connection_test("refunds", SEED)["found"] == "timed_out"
        assert not answers.is_set()
    finally:
        answers.set()


def test_only_some_connections_are_tested_at_once(put, elsewhere):
    put(elsewhere.url)
    endpoint = connection_test.endpoint_of(agent_for(SEED, "refunds").pk)
    for _ in range(connection_test._MAX_TESTS):
        assert connection_test._free_slots.acquire(blocking=False)

    with pytest.raises(TooManyTests):
        run_connection_test("refunds", SEED)
    for _ in range(connection_test._MAX_TESTS):
        connection_test._free_slots.release()
    elsewhere.runs = [REFUSAL]

    assert elsewhere.sent == []
    assert connection_test._probe(endpoint).found == "agent"
    assert connection_test._free_slots._value == connection_test._MAX_TESTS


@pytest.mark.parametrize(("who", "why"), [("bob", Forbidden), ("carol", NotFound)])
def test_only_administrators_test_a_connection(put, elsewhere, request, who, why):
    put(elsewhere.url)

    with pytest.raises(why):
        run_connection_test("refunds", request.getfixturevalue(who))
    assert elsewhere.sent == []


def test_an_agent_that_runs_here_has_no_connection(world):
    with pytest.raises(NotRemote):
        run_connection_test("rehearsal", SEED)


# -- certificates ---------------------------------------------------------------------------------


@pytest.fixture
def secure_port(tmp_path):
    """A server with a certificate that nobody vouches for."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "127.0.0.1")])
    now = datetime.now(UTC)
    builder = x509.CertificateBuilder().subject_name(name).issuer_name(name)
    builder = builder.public_key(key.public_key()).serial_number(1)
    builder = builder.not_valid_before(now - timedelta(days=1))
    certificate = builder.not_valid_after(now + timedelta(days=1)).sign(key, hashes.SHA256())
    pem = serialization.Encoding.PEM
    secret = key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    path = tmp_path / "server.pem"
    path.write_bytes(secret + certificate.public_bytes(pem))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(path)
    server = ThreadingHTTPServer(("127.0.0.1", 0), BaseHTTPRequestHandler)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    server.handle_error = lambda *_: None
    Thread(target=server.serve_forever, daemon=True).start()
    yield server.server_port
    server.shutdown()
    server.server_close()


def test_a_certificate_that_nobody_vouches_for_is_refused(put, secure_port, settings):
    settings.PRIVATE_AGENT_HOSTS = {"127.0.0.1"}
    put(f"https://127.0.0.1:{secure_port}/agui", {"Authorization": SECRET})

    report = run_connection_test("refunds", SEED)

    assert report["found"] == "tls_failed"
    assert "self" in report["detail"]
