"""Python functions that ask for approval, with the blocking and the async client."""

import asyncio
import json
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any
from uuid import uuid4

import pytest
from signoff_client import (
    AlreadyStarted,
    ApiError,
    Denied,
    EditRefused,
    Expired,
    InDoubt,
    Lapsed,
    Pending,
    Signoff,
    Withdrawn,
)
from signoff_client.aio import AsyncSignoff

from tests.support.product_client import wait_for


class Program:
    """A program with one function that needs approval, which notes what it was called with."""

    def __init__(self, desk: Any, kind: type, **options: Any) -> None:
        self.desk = desk
        self.calls: list[dict[str, Any]] = []
        self.error: Exception | None = None
        self.result: Any = "re_1"
        self._kind = kind
        self._options = options
        self._pool = ThreadPoolExecutor(8)

    def refund(self, *args: Any, key: str = "", **kwargs: Any) -> "Future[Any]":
        """Call the function in a thread, with a client of its own."""
        return self._pool.submit(self._refund, key, args, kwargs)

    def do(self, method: str, *args: Any, **kwargs: Any) -> "Future[Any]":
        """Call a method of the client in a thread."""
        return self._pool.submit(self._do, method, args, kwargs)

    def _do(self, method: str, args: Any, kwargs: Any) -> Any:
        if self._kind is Signoff:
            return getattr(Signoff(self.desk.url, self.desk.key), method)(*args, **kwargs)

        async def call() -> Any:
            async with AsyncSignoff(self.desk.url, self.desk.key) as signoff:
                return await getattr(signoff, method)(*args, **kwargs)

        return asyncio.run(call())

    def _refund(self, key: str, args: Any, kwargs: Any) -> Any:
        def refund(charge: str, amount: int, note: str = "-") -> Any:
            self.calls.append({"charge": charge, "amount": amount, "note": note})
            if self.error:
                raise self.error
            return self.result

        async def refund_later(charge: str, amount: int, note: str = "-") -> Any:
            return refund(charge, amount, note)

        if self._kind is Signoff:
            signoff = Signoff(self.desk.url, self.desk.key)
            function = signoff.requires_approval(tool="refund", **self._options)(refund)
            return (function.with_key(key) if key else function)(*args, **kwargs)

        async def call() -> Any:
            async with AsyncSignoff(self.desk.url, self.desk.key) as signoff:
                decorate = signoff.requires_approval(tool="refund", **self._options)
                function = decorate(refund_later)
                return await (function.with_key(key) if key else function)(*args, **kwargs)

        return asyncio.run(call())


@pytest.fixture(params=[Signoff, AsyncSignoff], ids=["blocking", "async"])
def program(desk, request):
    return lambda **options: Program(desk, request.param, **options)


def test_an_approved_call_runs_once_and_is_reported(desk, program):
    refunds = program()
    call = refunds.refund("ch_17", 4750)
    request = desk.next_request()
    assert request["items"][0]["args"] == {"charge": "ch_17", "amount": 4750, "note": "-"}
    assert refunds.calls == []

    desk.decide(request)

    assert call.result() == "re_1"
    assert refunds.calls == [{"charge": "ch_17", "amount": 4750, "note": "-"}]
    assert desk.state(request["id"]) == ("done", "succeeded")


def test_the_function_gets_the_edited_arguments(desk, program):
    refunds = program(may_edit=True)
    call = refunds.refund("ch_17", amount=4750)
    edited = {"charge": "ch_17", "amount": 4000, "note": "half"}

    desk.edit(desk.next_request(), edited)

    call.result()
    assert refunds.calls == [edited]


def test_an_edit_that_the_function_does_not_take_is_not_run(desk, program):
    refunds = program(may_edit=True, args_schema={"type": "object"})
    call = refunds.refund("ch_17", 4750)
    request = desk.next_request()

    desk.edit(request, {"charge": "ch_17", "amount": 1, "note": "", "currency": "eur"})

    with pytest.raises(EditRefused, match="currency"):
        call.result()
    assert refunds.calls == []
    assert desk.state(request["id"]) == ("done", "failed")


def test_the_form_refuses_edits_that_the_function_does_not_take(desk, program):
    call = program(may_edit=True).refund("ch_17", 4750)
    request = desk.next_request()

    with pytest.raises(AssertionError, match="currency"):
        desk.edit(request, {"charge": "c", "amount": 1, "note": "", "currency": "eur"})

    desk.deny(request)
    with pytest.raises(Denied):
        call.result()


def test_a_denial_is_raised_with_its_reason(desk, program):
    refunds = program()
    call = refunds.refund("ch_17", 4750)

    desk.deny(desk.next_request(), "card expired")

    with pytest.raises(Denied, match="card expired") as caught:
        call.result()
    assert caught.value.reason == "card expired"
    assert refunds.calls == []


def test_a_withdrawn_request_is_raised(desk, program):
    refunds = program()
    call = refunds.refund("ch_17", 4750)
    request = desk.next_request()

    refunds.do("withdraw", request["id"], "not needed").result()

    with pytest.raises(Withdrawn):
        call.result()

    decided = program().do("create_request", title="Deploy?").result()
    desk.decide(desk.next_request())
    with pytest.raises(ApiError) as caught:
        refunds.do("withdraw", decided.id).result()
    assert caught.value.code == "ALREADY_DECIDED"


def test_an_expired_request_is_raised(program):
    with pytest.raises(Expired):
        program(expires_in=1).refund("ch_17", 4750).result()


def test_an_approval_that_was_not_used_in_time_has_lapsed(desk, program):
    calls = program()
    members = {"tool": "refund", "args": {}, "execution": {"valid_seconds": 1}}
    request = calls.do("create_request", **members).result()
    desk.decide(desk.next_request())
    lapsed = calls.do("wait", request).result()
    assert wait_for(lambda: desk.state(request.id)[1] == "lapsed", seconds=60)

    with pytest.raises(Lapsed):
        calls.do("start_call", lapsed).result()
    with pytest.raises(Lapsed):
        calls.do("start_call", calls.do("get", request.id).result()).result()


@pytest.mark.parametrize(
    ("effect", "state"), [("once", ("decided", "in_doubt")), ("idempotent", ("done", "failed"))]
)
def test_an_exception_is_unknown_unless_the_call_may_be_repeated(desk, program, effect, state):
    refunds = program(effect=effect)
    refunds.error = ZeroDivisionError("by amount")
    call = refunds.refund("ch_17", 4750)
    request = desk.next_request()

    desk.decide(request)

    with pytest.raises(ZeroDivisionError):
        call.result()
    ended = desk.read(request["id"])
    assert ended["items"][0]["state"] == state[1]
    if effect == "once":
        doubtful = refunds.do("get", request["id"]).result()
        with pytest.raises(InDoubt):
            refunds.do("start_call", doubtful).result()


def test_the_same_key_goes_on_with_the_same_request(desk, program):
    refunds, key = program(wait=0), str(uuid4())
    with pytest.raises(Pending) as caught:
        refunds.refund("ch_17", 4750, key=key).result()
    request = desk.next_request()
    assert caught.value.request.id == request["id"]

    desk.decide(request)

    assert refunds.refund("ch_17", 4750, key=key).result() == "re_1"
    with pytest.raises(AlreadyStarted):
        refunds.refund("ch_17", 4750, key=key).result()
    with pytest.raises(ApiError) as mismatch:
        refunds.refund("ch_17", 9999, key=key).result()
    assert mismatch.value.status == 409
    assert len(refunds.calls) == 1


def test_equal_calls_are_two_requests(desk, program):
    refunds = program()
    calls = [refunds.refund("ch_17", 4750) for _ in range(2)]

    first, second = desk.next_requests(2)

    desk.decide(first)
    desk.deny(second)
    results = [call.exception() for call in calls]
    assert sorted(type(error).__name__ for error in results) == ["Denied", "NoneType"]
    assert len(refunds.calls) == 1


def test_waiting_goes_on_by_the_id(desk, program):
    request = program().do("create_request", title="Deploy?").result()
    with pytest.raises(Pending):
        program().do("wait", request.id, 0).result()
    waiting = program().do("wait", request.id)
    assert request.url.startswith(f"{desk.url}/threads/")

    desk.decide(desk.next_request())

    assert waiting.result().item.status == "approved"


@pytest.mark.parametrize(
    ("schema", "payload", "answer"),
    [
        (None, {"approved": True}, True),
        (None, {"approved": False}, False),
        ({"enum": ["eu", "us"]}, "us", "us"),
        ({"type": "object", "properties": {"n": {"type": "integer"}}}, {"n": 3}, {"n": 3}),
        ({"type": "boolean"}, False, False),
    ],
    ids=["yes", "no", "choice", "object", "boolean"],
)
def test_questions_have_answers(desk, program, schema, payload, answer):
    question = program().do("ask", "Which region?", schema=schema, wait="1m")

    desk.decide(desk.next_request(), payload)

    assert question.result() == answer


def test_a_result_that_cannot_be_stored_is_still_a_success(desk, program):
    for result in ("x" * 2_000_000, object(), {"a": "\x00"}, float("nan"), "\ud800", 2**60):
        refunds = program()
        refunds.result = result
        call = refunds.refund("ch_17", 4750)
        request = desk.next_request()
        desk.decide(request)

        assert call.result() is result
        assert desk.state(request["id"]) == ("done", "succeeded")


def test_items_are_decided_and_started_one_by_one(desk, program):
    calls = program()
    items = [{"id": name, "tool": "publish", "args": {"to": name}} for name in ("a", "b/ü ?")]
    request = calls.do("create_request", items=items).result()
    open_request = desk.next_request()
    desk.decide(open_request, item="a")
    assert desk.read(request.id)["decided"] == 1
    desk.decide(open_request, {"approved": False}, item="b/ü ?")
    request = calls.do("wait", request).result()

    started = calls.do("start_call", request, "a").result()

    assert started.args == {"to": "a"}
    with pytest.raises(Denied):
        calls.do("start_call", request, "b/ü ?").result()
    calls.do("report", request.id, "a", started.attempt, "succeeded").result()
    assert desk.state(request.id) == ("done", "succeeded")


def test_the_block_of_an_approval_is_reported(desk):
    signoff = Signoff(desk.url, desk.key)
    request = signoff.create_request(tool="publish", args={"version": "4.2.0"})
    desk.decide(desk.next_request())
    request = signoff.wait(request)

    with signoff.start(request) as call:
        assert call.args == {"version": "4.2.0"}
        assert desk.state(request.id) == ("decided", "started")
        before = desk.read(request.id)["items"][0]["lease_until"]
        signoff.prolong(call)
        assert desk.read(request.id)["items"][0]["lease_until"] > before

    assert desk.state(request.id) == ("done", "succeeded")


async def test_the_async_block_of_an_approval_is_reported(desk):
    async with AsyncSignoff(desk.url, desk.key) as signoff:
        request = await signoff.create_request(tool="publish", args={"version": "4.2.0"})
        await asyncio.to_thread(lambda: desk.decide(desk.next_request()))
        request = await signoff.wait(request)
        with pytest.raises(KeyError):
            async with signoff.start(request):
                raise KeyError("x")

        rows = await signoff.list(agent=desk.agent, status="decided")

    assert [row.item.state for row in rows if row.id == request.id] == ["in_doubt"]


def test_every_body_is_as_the_server_describes_it(desk, monkeypatch):
    import jsonschema
    from signoff_client.transport import Transport

    sent: list[Any] = []
    send = Transport.send
    monkeypatch.setattr(
        Transport, "send", lambda self, step: (sent.append(step), send(self, step))[1]
    )
    signoff = Signoff(desk.url, desk.key)
    request = signoff.create_request(
        tool="refund",
        args={"charge": "ch_17"},
        title="Refund?",
        why="Charged twice",
        may_edit=True,
        args_schema={"type": "object"},
        session={"id": "nightly:22", "title": "Nightly"},
        requester={"name": "dev@laptop"},
        expires_in=60,
        attach=True,
        execution={"report": True, "effect": "once", "lease_seconds": 60, "valid_seconds": 60},
    )
    desk.decide(desk.next_request())
    with signoff.start(signoff.wait(request)):
        pass
    signoff.withdraw(signoff.create_request(title="Deploy?").id, "later")

    document = desk.schema()
    for step in sent:
        if step.body is not None:
            schema = body_schema(document, step.path)
            jsonschema.Draft202012Validator(schema).validate(json.loads(step.body))
    assert {step.path.rpartition("/")[2] for step in sent if step.body} == {
        "requests",
        "start",
        "report",
        "withdraw",
    }


def body_schema(document: dict[str, Any], path: str) -> dict[str, Any]:
    """Return the schema of the body of a POST, with the document's own definitions."""
    parts = path.partition("?")[0].split("/")
    template = next(
        name
        for name in document["paths"]
        if len(name.split("/")) == len(parts)
        and all(p == n or n.startswith("{") for p, n in zip(parts, name.split("/"), strict=True))
        and "post" in document["paths"][name]
    )
    content = document["paths"][template]["post"]["requestBody"]["content"]
    return {**document, **content["application/json"]["schema"], "additionalProperties": True}
