"""Hostile programs: limits and wrong values are refused, and nothing is lost or 500."""

import asyncio
from uuid import UUID

import pytest

from tests.support.http.rest_client import HOSTILE
from tests.support.limits import limit_teams
from tests.support.requests.programs import APPROVED, CALL, decide, program

__all__ = ["program"]


@pytest.mark.parametrize("body", HOSTILE.values(), ids=HOSTILE)
def test_a_body_that_cannot_be_read_is_refused(program, body):
    answers = [program.post("/api/requests", body)]
    request = program.ask()
    address = f"/api/requests/{request['id']}"
    answers += [
        program.post(f"{address}/{path}", body) for path in ("items/1/start", "items/1/report")
    ]

    assert {answer.status_code for answer in answers} <= {400, 413, 422, 409}
    assert program.read(request)["status"] == "open"


@pytest.mark.parametrize(
    ("members", "status", "code"),
    [
        ({"title": "x" * 301}, 400, "INVALID_INPUT"),
        ({"why": "x" * 300_000}, 413, "TOO_LARGE"),
        ({"context": {"messages": [{"role": "user", "content": "x"}] * 51}}, 400, "INVALID_INPUT"),
        ({"context": {"messages": [{"role": "nobody"}]}}, 422, "INVALID_VALUE"),
        ({"args_schema": {"type": 5}}, 422, "INVALID_VALUE"),
        ({"answer_schema": {}}, 422, "INVALID_VALUE"),
        ({"attach": True}, 422, "INVALID_VALUE"),
        ({"secret_paths": ["card"]}, 422, "INVALID_VALUE"),
        ({"session": {"id": "a\nb"}}, 400, "INVALID_INPUT"),
        ({"id": ".."}, 400, "INVALID_INPUT"),
        ({"items": []}, 400, "INVALID_INPUT"),
        ({"expires_in": 0}, 400, "INVALID_INPUT"),
        ({"execution": {"lease_seconds": 9}}, 400, "INVALID_INPUT"),
        ({"execution": {"effect": "twice"}}, 400, "INVALID_INPUT"),
        ({"callback_url": "http://169.254.169.254/"}, 422, "INVALID_VALUE"),
        ({"references": [{"name": "x", "url": "javascript:alert(1)"}]}, 400, "INVALID_INPUT"),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else None,
)
def test_values_beyond_the_limits_are_refused(program, members, status, code):
    from inbox.models import AgentRequest

    answer = program.post("/api/requests", {**CALL, **members})

    assert (answer.status_code, answer.json()["code"]) == (status, code)
    assert not AgentRequest.objects.exists()


def test_items_have_their_own_ids_and_at_most_twenty(program):
    twice = program.post("/api/requests", {"items": [{"id": "a", **CALL}] * 2})
    many = program.post("/api/requests", {"items": [CALL] * 21})
    both = program.post("/api/requests", {**CALL, "items": [CALL]})

    assert [answer.status_code for answer in (twice, many, both)] == [422, 400, 422]


def test_an_agent_asks_sixty_times_a_minute(program, settings):
    limit_teams(settings, agent_requests_per_minute=2)
    program.ask()
    answers = [program.post("/api/requests", CALL) for _ in range(4)]  # across a minute's end, too

    answer = next(answer for answer in answers if answer.status_code != 201)
    assert (answer.status_code, answer.json()["code"]) == (429, "RATE_LIMITED")
    assert 1 <= int(answer.headers["Retry-After"]) <= 60


def test_an_agent_has_at_most_two_hundred_open_requests(program, settings, later):
    limit_teams(settings, agent_open_requests=1)
    request = program.ask()

    refused = program.post("/api/requests", CALL)
    program.withdraw(request)

    assert (refused.status_code, refused.headers["Retry-After"]) == (429, "60")
    assert refused.json()["code"] == "LIMIT_REACHED"
    assert program.ask()["status"] == "open"


def test_a_result_of_a_megabyte_is_stored_and_a_larger_one_refused(program, bob):
    request = program.ask()
    decide(request, bob, APPROVED)
    program.start(request)

    too_large = program.report(request, result="x" * (1024 * 1024 + 1))
    stored = program.report(request, result="x" * 1024 * 1024)

    assert (too_large.status_code, stored.status_code) == (413, 200)


@pytest.mark.parametrize("item", ["ü", "..a", "a%2Fb", "a b", "x" * 200, "-doubt-"], ids=range(6))
def test_any_id_of_an_item_can_be_addressed(program, bob, item):
    from urllib.parse import quote

    request = program.ask({"id": item, **CALL})
    decide(request, bob, APPROVED, item=item)
    digest = program.read(request)["items"][0]["args_digest"]
    address = f"/api/requests/{request['id']}/items/{quote(item, safe='')}"

    started = program.post(f"{address}/start", {"attempt": "a", "args_digest": digest})

    assert started.status_code == 200, started.content


def test_a_call_of_the_context_with_the_id_of_an_item_is_refused(program):
    call = {"id": "1", "type": "function", "function": {"name": "refund", "arguments": "{}"}}
    messages = [{"id": "m", "role": "assistant", "toolCalls": [call]}]

    answer = program.post("/api/requests", {**CALL, "context": {"messages": messages}})

    assert (answer.status_code, list(answer.json()["problems"])) == (422, ["context"])


def test_secret_paths_are_masked_for_all_but_the_program(program, bob, alice):
    from inbox.queries.requests.requests import request_for, view_of

    request = program.ask(
        args={"iban": "DE89 3704", "to": [{"number": "4111"}]},
        secret_paths=["/iban", "/to/0/number"],
    )
    row = request_for(alice, UUID(request["id"]))
    page = program.read(request)["items"][0]["args"]

    (item,) = view_of(row, alice).items
    assert page == {"iban": "DE89 3704", "to": [{"number": "4111"}]}
    assert "3704" not in str(item.args)
    assert "4111" not in str(item.args)


def test_references_are_part_of_what_is_approved(program):
    from inbox.models import Interrupt

    digests = set()
    for sha in ("0" * 64, "1" * 64):
        reference = {"name": "Report", "url": "https://example.com/r.pdf", "sha256": sha}
        request = program.ask(id="same", references=[reference])
        interrupt = Interrupt.objects.get(thread=request["thread"])
        digests.add((interrupt.view_digest, interrupt.digest_at_creation()))

    assert len(digests) == 2
    assert all(stored == computed for stored, computed in digests)


def test_the_sentences_of_a_program_are_no_heading(program):
    from inbox.models import Interrupt

    request = program.ask(title="Harmless. Approve at once!")

    assert Interrupt.objects.get(thread=request["thread"]).title.startswith("Call refund (")


def test_invisible_characters_in_names_do_not_deceive(program):
    name = "admin\u202e"

    request = program.ask(requester={"name": name}, session={"id": "s", "title": name})

    assert request["requester"] == {"name": name}


def test_an_address_without_a_host_does_not_break_the_page(program, bob, client):
    from inbox.models import User

    request = program.ask(requester={"name": "dev", "url": "https://["})

    client.force_login(User.objects.get(pk=bob.user_id))

    answer = client.get(f"/interrupts/{request['items'][0]['interrupt']}/", follow=True)

    assert answer.status_code == 200
    assert "https://[" not in answer.content.decode()


@pytest.mark.parametrize("verb", ["start", "report"])
def test_nul_in_an_address_is_refused(program, verb):
    request = program.ask()
    bodies = {"start": {"args_digest": ""}, "report": {"outcome": "unknown"}}

    answers = [
        program.get("/api/requests?session=%00"),
        program.post(
            f"/api/requests/{request['id']}/items/%00/{verb}", {"attempt": "a", **bodies[verb]}
        ),
    ]

    assert [answer.json()["code"] for answer in answers] == ["INVALID_INPUT"] * 2


@pytest.mark.parametrize("method", ["GET", "HEAD"])
def test_a_list_does_not_wait(method):
    from asgiref.sync import async_to_sync

    from inbox.api.requests.request_poll import RequestPoll

    async def application(scope, receive, send):
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b'{"results":[]}'})

    route = {"kwargs": {}}
    scope = {"method": method, "query_string": b"wait=30", "headers": [], "url_route": route}
    sent = async_to_sync(answered)(RequestPoll(application), scope)

    assert [message["type"] for message in sent] == ["http.response.start", "http.response.body"]


async def answered(application, scope):
    """Return the messages with which an ASGI application answers."""
    requests = [{"type": "http.request", "body": b"", "more_body": False}]
    sent = []

    async def receive():
        if not requests:
            await asyncio.Event().wait()
        return requests.pop()

    async def send(message):
        sent.append(message)

    await application(scope, receive, send)
    return sent
