"""Hostile programs: limits and wrong values are refused, and nothing is lost or 500."""

from uuid import UUID

import pytest

from tests.support.http.rest_client import HOSTILE
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
        ({"args": {"n": 2**53}}, 400, "INVALID_INPUT"),
        ({"why": "x" * 300_000}, 413, "TOO_LARGE"),
        ({"context": {"messages": [{"role": "user", "content": "x"}] * 51}}, 400, "INVALID_INPUT"),
        ({"context": {"messages": [{"role": "nobody"}]}}, 422, "INVALID_VALUE"),
        ({"args_schema": {"$ref": "https://evil.example.com/"}}, 422, "INVALID_VALUE"),
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


def test_an_agent_asks_sixty_times_a_minute(program, monkeypatch):
    monkeypatch.setattr("inbox.actions.requests.ask.MAX_PER_MINUTE", 2)
    program.ask()
    program.ask()

    answer = program.post("/api/requests", CALL)

    assert (answer.status_code, answer.json()["code"]) == (429, "RATE_LIMITED")
    assert 1 <= int(answer.headers["Retry-After"]) <= 60


def test_an_agent_has_at_most_two_hundred_open_requests(program, monkeypatch, later):
    monkeypatch.setattr("inbox.actions.requests.ask.MAX_OPEN", 1)
    request = program.ask()

    refused = program.post("/api/requests", CALL)
    program.withdraw(request)

    assert (refused.status_code, refused.headers["Retry-After"]) == (429, "60")
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
