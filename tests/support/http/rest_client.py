"""Call the REST API in this process with an API key."""

import json

import pytest
from django.test import Client


class Caller:
    """A machine with a key."""

    def __init__(self, token):
        self._client = Client(raise_request_exception=False)
        self._headers = {"Authorization": f"Bearer {token}"} if token else {}

    def get(self, path, **query):
        return self._client.get(path, query, headers=self._headers)

    def post(self, path, body=None, **headers):
        text = body if isinstance(body, str | bytes) else json.dumps(body or {})
        return self._client.post(
            path, text, content_type="application/json", headers={**self._headers, **headers}
        )

    def put(self, path, body):
        return self._send("PUT", path, body)

    def patch(self, path, body):
        return self._send("PATCH", path, body)

    def delete(self, path):
        return self._client.delete(path, headers=self._headers)

    def _send(self, method, path, body):
        text = json.dumps(body)
        return self._client.generic(method, path, text, "application/json", headers=self._headers)


@pytest.fixture
def key_with(world):
    """A caller whose key has just these scopes."""
    from inbox.actions.people.api_keys import make_key
    from inbox.rules.people.access import SEED, Permission

    def make(*scopes, team=None):
        permissions = {Permission(scope) for scope in scopes}
        _, token = make_key(
            team_id=(team or world.team).pk, name="k", scopes=permissions, actor=SEED
        )
        return Caller(token)

    return make


def start_run(api, scenario="tool_call", **headers):
    body = {"agent": "rehearsal", "message": f"rehearse:{scenario}"}
    return api.post("/api/runs", body, **headers)


def decision(interrupt, payload):
    """The body of a decision by somebody who has read the interrupt."""
    return {"status": "resolved", "payload": payload, "view_digest": interrupt.view_digest}


HOSTILE = {
    "no JSON": b"{",
    "empty list": b"[]",
    "wrong types": b'{"agent": 5, "message": {"a": []}}',
    "missing fields": b"{}",
    "null": b"null",
    "a string": b'"x"',
    "duplicate keys": b'{"agent": "rehearsal", "agent": "x", "message": "m"}',
    "NaN": b'{"agent": "rehearsal", "message": "m", "state": NaN}',
    "infinity": b'{"agent": "rehearsal", "message": "m", "state": 1e999}',
    "a huge integer": b'{"agent": "rehearsal", "message": "m", "state": ' + b"9" * 5_000 + b"}",
    "NUL": b'{"agent": "rehearsal", "message": "a\\u0000b"}',
    "a raw NUL": b'{"agent": "rehearsal", "message": "a\x00b"}',
    "a lone surrogate": b'{"agent": "rehearsal", "message": "\\ud800"}',
    "no UTF-8": b'{"agent": "rehearsal", "message": "\xff"}',
    "deep nesting": b'{"agent": "rehearsal", "message": "m", "state": '
    + b"[" * 100_000
    + b"]" * 100_000
    + b"}",
    "many nodes": b'{"agent": "rehearsal", "message": "m", "state": ['
    + b",".join([b"1"] * 20_000)
    + b"]}",
}


def read(api, path, **query):
    answer = api.get(path, **query)
    assert answer.status_code == 200, answer.content
    return answer.json()


def pages(api, path, **query):
    """Every page of a list, from the first to the last one."""
    results = [read(api, path, **query)]
    while results[-1]["next_after"]:
        results.append(read(api, path, **{**query, "after": results[-1]["next_after"]}))
    return [page["results"] for page in results]
