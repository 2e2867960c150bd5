"""Requests by an egress proxy: it connects to the address that was checked, and to nothing else."""

import asyncio
import ssl
from base64 import b64encode
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace

import httpx
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from agents.adapters.remote.allowed_addresses import AddressRefused, AllowedHosts, find_target
from agents.adapters.remote.http_client import build_request, open_client
from inbox.engine.agents import remote_agent
from inbox.sending import outgoing_http

PUBLIC = "93.184.216.34"


class Network:
    """A server that answers with the Host it was asked for, and a proxy that leads to it."""

    def __init__(self):
        self.heads = []  #: what the proxy was asked
        self.answer = b"HTTP/1.1 200 OK\r\n\r\n"

    async def serve(self, reader, writer):
        head = await reader.readuntil(b"\r\n\r\n")
        host = next(line for line in head.split(b"\r\n") if line.lower().startswith(b"host:"))
        name = host.partition(b":")[2].strip()
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(name), name))
        await writer.drain()
        writer.close()

    async def lead(self, reader, writer):
        self.heads.append((await reader.readuntil(b"\r\n\r\n")).decode())
        writer.write(self.answer)
        upstream_reader, upstream_writer = await asyncio.open_connection("127.0.0.1", self.port)
        await asyncio.gather(pass_on(reader, upstream_writer), pass_on(upstream_reader, writer))


async def pass_on(reader, writer):
    while part := await reader.read(65_536):
        writer.write(part)
        await writer.drain()
    writer.close()


@pytest.fixture
def network():
    @asynccontextmanager
    async def start(tls=None):
        servers = Network()
        server = await asyncio.start_server(servers.serve, "127.0.0.1", 0, ssl=tls)
        proxy = await asyncio.start_server(servers.lead, "127.0.0.1", 0)
        servers.port = server.sockets[0].getsockname()[1]
        servers.proxy = f"http://us:p%40ss@127.0.0.1:{proxy.sockets[0].getsockname()[1]}"
        try:
            yield servers
        finally:
            server.close()
            proxy.close()

    return start


async def resolve(host, port):
    return [PUBLIC]


@pytest.fixture
def tls(monkeypatch, tmp_path):
    """The TLS of a server that is agent.example and hooks.example."""
    server, trusted = certified(["agent.example", "hooks.example"], tmp_path)
    monkeypatch.setattr("agents.adapters.remote.http_client._certificates", lambda: trusted)
    return server


async def get(proxy, url, resolver=resolve):
    target = await find_target(url, AllowedHosts(), resolver=resolver)
    async with open_client(httpx.Timeout(5), proxy=proxy) as client:
        answer = await client.send(build_request(client, target, {}))
        return answer.text


async def test_proxy_gets_the_checked_address_and_the_server_its_name(network, tls):
    async with network(tls) as server:
        host = await get(server.proxy, "https://agent.example/run")

    assert host == "agent.example"
    (head,) = server.heads
    assert head.startswith(f"CONNECT {PUBLIC}:443 HTTP/1.1\r\n")
    assert f"Proxy-Authorization: Basic {b64encode(b'us:p@ss').decode()}\r\n" in head
    assert "agent.example" not in head


def certified(names, directory):
    """Return the TLS of a server of these names, and that of a client who trusts it."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, names[0])])
    day, now = timedelta(days=1), datetime.now(UTC)
    builder = x509.CertificateBuilder(subject, subject, key.public_key(), 1, now - day, now + day)
    alternatives = x509.SubjectAlternativeName([x509.DNSName(name) for name in names])
    certificate = builder.add_extension(alternatives, critical=False).sign(key, hashes.SHA256())
    pem = serialization.Encoding.PEM
    secret = key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    path = directory / "server.pem"
    path.write_bytes(secret + certificate.public_bytes(pem))
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(path)
    return server, ssl.create_default_context(cafile=str(path))


async def test_certificate_is_checked_for_the_name(network, tls):
    async with network(tls) as server:
        assert await get(server.proxy, "https://agent.example/run") == "agent.example"
        with pytest.raises(httpx.ConnectError, match="mismatch"):
            await get(server.proxy, "https://other.example/run")


async def test_name_of_a_private_address_is_refused_before_the_proxy_is_asked(network):
    async def private(host, port):
        return ["10.0.0.7"]

    async with network() as server:
        with pytest.raises(AddressRefused):
            await get(server.proxy, "https://agent.example/run", private)

    assert server.heads == []


@pytest.mark.parametrize(
    "answer",
    [
        b"HTTP/1.1 403 Forbidden\r\n\r\n",
        b"HTTP/1.1 200 OK\r\n\r\nHTTP/1.1 200 OK\r\n\r\n",
        b"\r\n\r\n",
    ],
)
async def test_proxy_that_refuses_or_answers_itself_fails_the_connection(network, answer):
    async with network() as server:
        server.answer = answer
        with pytest.raises(httpx.ConnectError):
            await get(server.proxy, "https://agent.example/run")


async def test_webhooks_are_sent_by_the_proxy_except_in_our_own_network(
    network, tls, settings, monkeypatch
):
    hosts = AllowedHosts(private={"hooks.internal"})
    monkeypatch.setattr(outgoing_http, "resolve", resolve)
    async with network(tls) as server:
        settings.EGRESS_PROXY = server.proxy
        url = "https://hooks.example/in"
        answer = await outgoing_http.send(url, "{}", {}, hosts=hosts, most_bytes=100)
        assert (answer.status, answer.body) == (200, "hooks.example")
        heads = list(server.heads)

    monkeypatch.setattr(outgoing_http, "resolve", own_network)
    async with network() as server:
        settings.EGRESS_PROXY = server.proxy
        own = f"http://hooks.internal:{server.port}/in"
        answer = await outgoing_http.send(own, "{}", {}, hosts=hosts, most_bytes=100)
        assert answer.status == 200

    assert (len(heads), server.heads) == (1, [])


async def own_network(host, port):
    return ["127.0.0.1"]


@pytest.mark.parametrize(("host", "proxy"), [("agent.example", "http://p"), ("agent.internal", "")])
def test_remote_agents_are_reached_by_the_proxy_except_in_our_own_network(settings, host, proxy):
    settings.EGRESS_PROXY = "http://p"
    settings.PRIVATE_AGENT_HOSTS = {"agent.internal"}
    endpoint = SimpleNamespace(
        slug="a", description="", url=f"http://{host}/", read_headers=dict, test=None
    )

    assert remote_agent(endpoint).proxy == proxy
