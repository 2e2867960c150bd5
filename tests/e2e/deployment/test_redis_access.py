"""A product on a Valkey with the documented ACL, a password from a file, and TLS."""

import hashlib
from pathlib import Path
from urllib.parse import quote

import pytest
import redis
from kombu import Connection
from limits import parse

from inbox.platform.deployment.redis_access import KEY_PREFIX, QUEUE, users_file
from inbox.platform.rate_limits import RateLimiter
from inbox.platform.shared_cache import JsonSerializer, SharedCache
from tests.support.http.tls_proxy import make_certificates, tls_proxy
from tests.support.postgres import PostgresServer
from tests.support.processes import (
    StartFailed,
    manage,
    scaled_environment,
    start_web,
    start_worker,
)
from tests.support.product_client import APPROVE, Client, wait_for
from tests.support.valkey import ValkeyServer

pytestmark = pytest.mark.services

PASSWORD = "a password/with@signs: of Redis"
SCOPES = [part for scope in ("run", "read", "decide") for part in ("--scope", scope)]
_STREAM = {"Accept": "text/event-stream"}
#: An operator of the tests, to read what the ACL has refused.
_OPERATOR = "user operator on nopass ~* &* +@all\n"


@pytest.fixture
def valkey():
    digest = hashlib.sha256(PASSWORD.encode()).hexdigest()
    users = users_file().replace("PASSWORD_SHA256", digest) + _OPERATOR
    with ValkeyServer(users=users, user="operator", password="x") as server:
        yield server


def as_product(valkey):
    return redis.Redis(port=valkey.port, username="signoff", password=PASSWORD)


def refusals(valkey):
    """Return what the ACL has refused: the user, the reason, and the command, key or channel."""
    with redis.Redis.from_url(valkey.url) as operator:
        return [
            (row["username"], row["reason"], row["object"])
            for row in operator.execute_command("ACL", "LOG")
        ]


def test_approval_trip_with_acl_password_file_and_tls(valkey, tmp_path):
    ca = make_certificates(tmp_path / "tls")
    (tmp_path / "redis-password").write_text(f"{PASSWORD}\n")
    with PostgresServer() as database, tls_proxy(valkey.port, ca.with_name("server.pem")) as port:
        environment = scaled_environment(
            tmp_path,
            database_url=database.create_database("signoff"),
            redis_url=f"rediss://signoff@localhost:{port}/0",
            SIGNOFF_REDIS_PASSWORD_FILE=str(tmp_path / "redis-password"),
            SIGNOFF_REDIS_CA_FILE=str(ca),
        )
        manage(environment, "migrate", "--no-input")
        with (
            start_web(environment, log=tmp_path / "web.log", demo=True) as web,
            start_worker(environment, log=tmp_path / "worker.log"),
        ):
            key = manage(environment, "create_api_key", "--name", "tests", *SCOPES)
            with Client(web.url, key) as client:
                run = client.start("rehearse:effect:once").json()
                assert wait_for(lambda: bool(open_requests(client, run)), seconds=60)
                (interrupt,) = open_requests(client, run)
                client.decide(interrupt, APPROVE).raise_for_status()
                assert wait_for(lambda: latest_status(client, run) == "succeeded", seconds=60)
                with client.http.stream(
                    "GET", f"/api/threads/{run['thread']}/events", headers=_STREAM
                ) as stream:
                    streamed = next(stream.iter_lines())  # it has subscribed to wake-ups
                limited = client.http.get("/api/interrupts").headers
                _sign_in_with_wrong_code(client)
        logs = Path(tmp_path / "web.log").read_text() + Path(tmp_path / "worker.log").read_text()

    assert streamed
    assert "ratelimit" in " ".join(limited).lower()
    assert refusals(valkey) == []
    for problem in ("broker unreachable", "wake-up lost", "redis down", "NOPERM"):
        assert problem not in logs


def open_requests(client, run):
    return [row for row in client.pending() if row["thread"] == run["thread"]]


def latest_status(client, run):
    runs = client.http.get(f"/api/threads/{run['thread']}/runs").json()["results"]
    return max(runs, key=lambda row: row["id"])["status"]


def _sign_in_with_wrong_code(client):
    """Count attempts in the shared cache."""
    page = client.http.get("/login/")
    token = page.cookies["csrftoken"]
    form = {"username": "marco", "password": "wrong", "csrfmiddlewaretoken": token}
    client.http.post("/login/", data=form)


@pytest.mark.parametrize(
    "command",
    [
        ("FLUSHALL",),
        ("CONFIG", "GET", "*"),
        ("KEYS", "*"),
        ("SCAN", "0"),
        ("ACL", "LIST"),
        ("SHUTDOWN",),
        ("CLIENT", "KILL", "TYPE", "normal"),
        ("REPLICAOF", "127.0.0.1", "1"),
        ("SCRIPT", "FLUSH"),
        ("GET", "of another program"),
        ("SET", "of another program", "x"),
        ("PUBLISH", "another channel", "x"),
        ("SUBSCRIBE", "another channel"),
        ("EVAL", "return redis.call('GET', KEYS[1])", "1", "of another program"),
        ("EVAL", "return redis.call('KEYS', '*')", "0"),
    ],
    ids=" ".join,
)
def test_everything_else_is_refused(valkey, command):
    with as_product(valkey) as client, pytest.raises(redis.ResponseError, match=r"(?i)permission"):
        client.execute_command(*command)


def test_caches_and_rate_limits_need_nothing_else(valkey, settings):
    url = f"redis://signoff:{quote(PASSWORD, safe='')}@127.0.0.1:{valkey.port}/0"
    cache = SharedCache(
        url, {"KEY_PREFIX": KEY_PREFIX, "OPTIONS": {"serializer": JsonSerializer()}}
    )
    assert cache.add("attempts", 1, 60)
    assert (cache.incr("attempts"), cache.get("attempts")) == (2, 2)
    cache.set_many({"a": 1, "b": 2})
    assert cache.get_many(["a", "b"]) == {"a": 1, "b": 2}
    assert cache.touch("a", None)
    assert cache.delete("a")
    limiter = RateLimiter(url)
    item = parse("2/second")

    statuses = [limiter.count("calls", item, "somebody") for _ in range(3)]
    # The next window takes over the count of this one.
    assert wait_for(lambda: not limiter.peek("calls", item, "somebody").is_over, seconds=40)
    limiter.count("calls", item, "somebody")

    assert [status.is_over for status in statuses] == [False, False, True]
    assert limiter._down_until == 0
    assert refusals(valkey) == []


def test_messages_of_a_lost_worker_are_restored(valkey):
    """Kombu's transactions over the unacknowledged messages."""
    url = f"redis://signoff:{quote(PASSWORD, safe='')}@127.0.0.1:{valkey.port}/0"
    with Connection(url, transport_options={"visibility_timeout": 0}) as connection:
        queue = connection.SimpleQueue(QUEUE)
        queue.put({"a": 1})
        message = queue.get(timeout=5)
        channel = message.channel
        channel.qos.restore_visible(num=10)
        channel.qos.restore_by_tag(message.delivery_tag)
        again = queue.get(timeout=5)
        again.ack()
        channel.qos.restore_visible(num=10)

    assert again.payload == {"a": 1}
    assert refusals(valkey) == []


def test_nobody_gets_in_without_the_password(valkey):
    with redis.Redis(port=valkey.port) as client, pytest.raises(redis.AuthenticationError):
        client.ping()


def test_a_certificate_of_another_authority_is_refused(valkey, tmp_path):
    server = make_certificates(tmp_path / "server")
    other = make_certificates(tmp_path / "other")
    with tls_proxy(valkey.port, server.with_name("server.pem")) as port:
        environment = scaled_environment(
            tmp_path,
            database_url="postgresql://127.0.0.1:1/none",
            redis_url=f"rediss://operator:x@localhost:{port}/0",
            SIGNOFF_REDIS_CA_FILE=str(other),
        )
        ping = (
            "from django.conf import settings as s; import redis;"
            "print(redis.Redis.from_url(s.REDIS_URL).ping())"
        )

        with pytest.raises(StartFailed, match="CERTIFICATE_VERIFY_FAILED"):
            manage(environment, "shell", "-c", ping)
        trusted = environment | {"SIGNOFF_REDIS_CA_FILE": str(server)}
        assert "True" in manage(trusted, "shell", "-c", ping)
