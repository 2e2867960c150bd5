"""Values that JSON or a database cannot hold, in the bodies of programs: the place and the cure."""

import json

import pytest

from inbox.mcp_server.messages import ProtocolError, parse_message
from inbox.models import ToolCall
from tests.support.http.rest_client import decision, key_with
from tests.support.requests.programs import program
from tests.support.steps import open_interrupts, start

__all__ = ["key_with", "program"]

#: As text, and the cure.
REFUSED = {
    "NaN": ("NaN", "at: NaN is not JSON; send a finite number, null or text."),
    "infinity": ("[1, -Infinity]", "at[1]: -Infinity is not JSON; send a finite number"),
    "beyond a double": ("1e999", "at: A number is too large for a double; send a finite number"),
    "NUL": ('"a\\u0000b"', "at: A text holds the character NUL (\\u0000); leave it out."),
    "lone surrogate": ('{"b": "\\ud800"}', "at.b: A text holds a lone surrogate escape; escape"),
    "5,000 digits": ("1" * 5_000, "A number has too many digits; send large numbers as text."),
    "name twice": ('{"b": 1, "b": 2}', 'The key "b" appears twice in one object; send it once.'),
    "nested deep": ("[" * 400 + "]" * 400, "nested too deep; at most 32 levels are allowed."),
    "many values": ("[" + "1," * 20_000 + "1]", "More than 10000 values; send fewer"),
}


@pytest.fixture
def post(world, key_with, program):
    """Send a body whose member `at` is the text, to the entrance; returns the response."""
    key = key_with("read", "decide", "run", "admin")
    paths = {
        "request": ("/api/requests", {"title": "Pay?", "tool": "pay", "args": {"at": 0}}),
        "run": ("/api/runs", {"agent": "rehearsal", "message": "go", "state": {"at": 0}}),
    }

    def send(entrance, text):
        caller = program if entrance in {"request", "report"} else key
        if entrance == "decision":
            run = start(world, "rehearse:tool_call")
            interrupt = open_interrupts(run)[0]
            path = f"/api/interrupts/{interrupt.pk}/decide"
            body = decision(interrupt, {"at": 0})
        elif entrance == "report":
            request = program.ask()
            path = f"/api/requests/{request['id']}/items/1/report"
            body = {"attempt": "a", "outcome": "succeeded", "result": {"at": 0}}
        else:
            path, body = paths[entrance]
        return caller.post(path, json.dumps(body).replace('"at": 0', f'"at": {text}'))

    return send


@pytest.mark.parametrize(("text", "cure"), REFUSED.values(), ids=REFUSED)
@pytest.mark.parametrize("entrance", ["request", "run", "decision", "report"])
def test_values_that_are_no_json_are_refused_with_place_and_cure(post, entrance, text, cure):
    answer = post(entrance, text)

    assert 400 <= answer.status_code < 500
    assert cure in json.loads(answer.content)["detail"]


@pytest.mark.parametrize(("text", "cure"), REFUSED.values(), ids=REFUSED)
def test_messages_of_mcp_clients_are_refused_with_place_and_cure(text, cure):
    body = f'{{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {{"at": {text}}}}}'

    with pytest.raises(ProtocolError) as error:
        parse_message(body.encode(), {})

    assert cure in json.dumps(error.value.to_json()).replace("\\\\", "\\").replace('\\"', '"')


@pytest.mark.parametrize("number", [9007199254740993123, -(10**4_000), 0.1, 1e300])
def test_numbers_of_programs_are_never_rounded(post, program, number):
    answer = post("request", json.dumps(number))

    assert answer.status_code == 201
    assert json.loads(ToolCall.objects.get().original_args or ToolCall.objects.get().args) == {
        "at": number
    }
    (item,) = answer.json()["items"]
    assert item["args"] == {"at": number}
