"""What the Python client does when the connection or the server is not well."""

import json
from email.utils import formatdate
from typing import Any

import httpx
import pytest
from signoff_client import ApiError, Signoff, Unreachable, exchanges
from signoff_client.aio import AsyncSignoff
from signoff_client.exchanges import (
    ConnectionLost,
    Pause,
    Reply,
    Send,
    exchange,
    pause_seconds,
    retry_after_seconds,
)

from tests.support.clients.faulty_server import answer, cut_off, faulty_server, hang_up

REQUEST = json.dumps(
    {"id": "r1", "status": "open", "url": "u", "items": [{"id": "1", "status": "open"}]}
)


@pytest.fixture(autouse=True)
def _no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exchanges, "_FIRST_PAUSE", 0.0)
    for name in ("SIGNOFF_URL", "SIGNOFF_API_KEY", "SIGNOFF_AGENT"):
        monkeypatch.delenv(name, raising=False)


async def post(kind: type, url: str) -> Any:
    """Create a request with the blocking or the async client, and return its id."""
    if kind is Signoff:
        return Signoff(url, "key").create_request(title="Deploy?").id
    async with AsyncSignoff(url, "key") as signoff:
        return (await signoff.create_request(title="Deploy?")).id


both = pytest.mark.parametrize("kind", [Signoff, AsyncSignoff], ids=["blocking", "async"])


@both
@pytest.mark.parametrize(
    "fault",
    [
        hang_up,
        cut_off,
        answer("<html>", 200),
        answer("<html>", 502),
        answer(status=503),
        answer(status=429, Retry_After="0"),
        answer(status=500),
        answer("\xff"),
        answer("["),
    ],
    ids=["hang-up", "cut-off", "html", "502", "503", "429", "500", "bytes", "half"],
)
async def test_faults_are_retried_with_the_same_key(kind, fault):
    with faulty_server(fault, fault, answer(REQUEST, 201)) as server:
        request_id = await post(kind, server.url)

    assert request_id == "r1"
    keys = {headers["Idempotency-Key"] for _, _, headers, _ in server.requests}
    assert len(server.requests) == 3
    assert len(keys) == 1
    assert len({body for *_, body in server.requests}) == 1


@both
async def test_each_request_has_a_key_of_its_own(kind):
    with faulty_server(answer(REQUEST, 201)) as server:
        await post(kind, server.url)
        await post(kind, server.url)

    keys = {headers["Idempotency-Key"] for _, _, headers, _ in server.requests}
    assert len(keys) == 2


@both
async def test_refusals_are_not_retried(kind):
    problem = json.dumps({"code": "FORBIDDEN", "detail": "This key may not ask."})
    with faulty_server(answer(problem, 403)) as server, pytest.raises(ApiError) as caught:
        await post(kind, server.url)

    assert (caught.value.status, caught.value.code) == (403, "FORBIDDEN")
    assert len(server.requests) == 1


@both
@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_the_key_does_not_follow_a_redirect(kind, status):
    with faulty_server(answer(REQUEST)) as other:
        redirect = answer("", status, Location=f"{other.url}/api/requests")
        with faulty_server(redirect) as server, pytest.raises(ApiError, match="REDIRECTED"):
            await post(kind, server.url)

    assert other.requests == []


@both
async def test_a_proxy_gets_no_key_for_this_machine(kind, monkeypatch):
    with faulty_server(answer(REQUEST)) as proxy, faulty_server(answer(REQUEST)) as server:
        for name in ("http_proxy", "HTTP_PROXY", "ALL_PROXY"):
            monkeypatch.setenv(name, proxy.url)
        await post(kind, server.url)

    assert proxy.requests == []
    assert len(server.requests) == 1


@both
async def test_a_server_that_is_away_is_unreachable(kind):
    with faulty_server(answer()) as server:
        url = server.url

    async def send() -> None:
        client = kind(url, "key")
        result = client._run(exchange("POST", "/api/requests", {}, patience_seconds=0.2))
        if kind is AsyncSignoff:
            await result

    with pytest.raises(Unreachable, match="POST /api/requests"):
        await send()


def test_large_answers_are_not_read_to_their_end(monkeypatch):
    monkeypatch.setattr("signoff_client.transport.LARGEST_ANSWER", 1000)
    with faulty_server(answer(json.dumps("x" * 1000))) as server:
        client = Signoff(server.url, "key")

        with pytest.raises(Unreachable, match="too large"):
            client._run(exchange("GET", "/", patience_seconds=0))


def steps_of(*replies: Any, patience: float) -> tuple[list[Any], Any]:
    """Run an exchange with these replies; return the steps, and the error or the result."""
    steps = exchange("GET", "/", patience_seconds=patience)
    seen: list[Any] = [next(steps)]
    try:
        for reply in replies:
            step = steps.throw(reply) if isinstance(reply, Exception) else steps.send(reply)
            seen.append(step)
            if isinstance(step, Pause):
                seen.append(next(steps))
    except StopIteration as done:
        return seen, done.value
    except Unreachable as error:
        return seen, error
    return seen, None


def test_the_pause_is_what_the_server_wants():
    reply = Reply(429, {"retry-after": "7"}, b"")

    steps, _ = steps_of(reply, patience=60)

    assert isinstance(steps[1], Pause)
    assert 7 <= steps[1].seconds <= 7.7
    assert isinstance(steps[2], Send)


def test_a_pause_longer_than_the_patience_ends_at_once():
    _, error = steps_of(Reply(429, {"retry-after": "61"}, b""), patience=60)

    assert isinstance(error, Unreachable)


def test_retry_after_may_be_a_date():
    assert 18 <= (retry_after_seconds({"retry-after": formatdate(usegmt=True)}) or 0) + 20 <= 23
    assert retry_after_seconds({"retry-after": "soon"}) is None
    assert retry_after_seconds({}) is None
    assert retry_after_seconds({"retry-after": "-1"}) is None


def test_pauses_grow_and_differ(monkeypatch):
    monkeypatch.setattr(exchanges, "_FIRST_PAUSE", 0.25)
    pauses = [[pause_seconds(attempt) for _ in range(50)] for attempt in (0, 3, 50)]

    assert all(max(row) <= limit for row, limit in zip(pauses, (0.25, 2, 10), strict=True))
    assert all(len(set(row)) > 40 for row in pauses)
    assert min(pauses[2]) >= 5


def test_a_lost_connection_ends_when_patience_does():
    _, error = steps_of(*[ConnectionLost("reset")] * 3, patience=-1)

    assert isinstance(error, Unreachable)
    assert "reset" in str(error)


@both
async def test_the_key_is_not_in_what_is_logged(kind, caplog):
    caplog.set_level("DEBUG")
    with faulty_server(answer(REQUEST)) as server:
        client = kind(server.url, "so-secret")

    assert "so-secret" not in repr(client._settings)
    if isinstance(client, AsyncSignoff):
        assert isinstance(client._http, httpx.AsyncClient)
        await client.close()
    assert "so-secret" not in caplog.text
