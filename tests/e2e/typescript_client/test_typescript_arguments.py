"""Random arguments and edits: a TypeScript program executes exactly what was approved."""

import json
import random

import pytest
from rest_framework.renderers import JSONRenderer

from inbox.rules.decisions.consent import canonical_json, digest
from tests.support.clients.random_arguments import random_arguments

pytestmark = pytest.mark.javascript

ITEMS = 20


@pytest.fixture
def run_calls(compiled_tests, environment):
    """Run the program with a file of JSON lines, and return the arguments of its calls."""

    def run(mode, lines):
        file = compiled_tests.directory / f"{mode}.jsonl"
        file.write_text("".join(f"{line}\n" for line in lines))
        done = compiled_tests.run(
            "tests/executed.js",
            mode,
            file,
            environment=environment,
            seconds=600,
        )
        assert done.returncode == 0, done.stderr
        return [
            canonical_json(json.loads(line, parse_int=number))
            for line in done.stdout.split("\n")[:-1]
        ]

    return run


def test_10000_random_arguments_are_executed_as_approved(run_calls):
    source = random.Random(20)
    approved = [random_arguments(source) for _ in range(10_000)]
    sets = [approved[start : start + ITEMS] for start in range(0, len(approved), ITEMS)]

    executed = run_calls("answers", [answers(*pair) for pair in enumerate(sets)])

    assert executed == [canonical_json(args) for args in approved]


def test_random_edits_on_a_running_server_are_executed(run_calls):
    source = random.Random(7)
    requests, approved = [], []
    for _ in range(10):
        proposed = {str(index): sendable_arguments(source) for index in range(ITEMS)}
        edits = {name: sendable_arguments(source) for name in source.sample(list(proposed), 10)}
        items = [
            {
                "id": name,
                "tool": "t",
                "args": args,
                "may_edit": True,
                "args_schema": {"type": "object"},
            }
            for name, args in proposed.items()
        ]
        requests.append(json.dumps({"items": items, "edits": edits}))
        approved += [canonical_json(edits.get(name, args)) for name, args in proposed.items()]

    executed = run_calls("live", requests)

    assert executed == approved


def number(digits):
    """JavaScript writes 1e20 as digits, which Python reads as another number."""
    return int(digits) if abs(int(digits)) < 2**53 else float(digits)


def sendable_arguments(source):
    """Arguments without NUL, and without numbers that JavaScript writes as integers of 2^53."""
    while True:
        arguments = random_arguments(source)
        if is_sendable(arguments):
            return arguments


def is_sendable(value):
    if isinstance(value, dict | list):
        return all(map(is_sendable, value.values() if isinstance(value, dict) else value))
    if isinstance(value, str):
        return "\x00" not in value
    return not isinstance(value, float) or not 2**53 <= abs(value) < 1e21


def answers(request_id, arguments):
    """The server's answers about a request whose calls are approved with these arguments."""
    items = [
        {
            "id": str(index),
            "status": "approved",
            "tool": "t",
            "edited": True,
            "args": args,
            "args_digest": digest(canonical_json(args)),
            "state": "waiting",
            "effect": "once",
            "report": True,
        }
        for index, args in enumerate(arguments)
    ]
    request = {"id": str(request_id), "status": "decided", "url": "/", "items": items}
    starts = [{"state": "started", "args": args, "idempotency_key": "c"} for args in arguments]
    return json.dumps(
        {"request": rendered(request), "starts": [rendered(start) for start in starts]}
    )


def rendered(answer):
    return JSONRenderer().render(answer).decode()
