"""Whether an answer is what the schema of the API says."""

import gzip
import json
import re
from collections.abc import Iterator
from functools import cache
from typing import Any

import jsonschema_rs
import pytest
from django.test import Client

from inbox.api.base.openapi import describe_api

JSON, PROBLEM = "application/json", "application/problem+json"


def operations() -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Every operation with its method and path, and with its responses in place."""
    for path, methods in describe_api()["paths"].items():
        for method, described in methods.items():
            yield method.upper(), path, _with_responses(described)


def _with_responses(described: dict[str, Any]) -> dict[str, Any]:
    shared = describe_api()["components"]["responses"]
    responses = {
        status: shared[response["$ref"].rpartition("/")[2]] if "$ref" in response else response
        for status, response in described["responses"].items()
    }
    return {**described, "responses": responses}


def operation_at(method: str, path: str) -> dict[str, Any] | None:
    """The operation that answers there; an address without ids comes before one with."""
    path = path.removesuffix("/")  # another form of the address
    templates = sorted(describe_api()["paths"], key=lambda template: template.count("{"))
    for template in templates:
        if re.fullmatch(re.sub(r"\{\w+\}", "[^/]+", template), path):
            described = describe_api()["paths"][template].get(method.lower())
            return _with_responses(described) if described else None
    return None


def problems_with(schema: dict[str, Any], value: Any) -> list[str]:
    """What keeps a value from being what a schema of the document says."""
    errors = _validator(json.dumps(schema)).iter_errors(value)
    return [f"{'/'.join(map(str, error.instance_path))}: {error.message}" for error in errors]


def check_answer(method: str, path: str, status: int, content_type: str, text: str) -> None:
    """Fail unless the schema has this answer."""
    kind = content_type.partition(";")[0]
    described = operation_at(method, path)
    if described is None:
        assert status in (401, 404, 405), f"{method} {path} is not described, and answers {status}"
        return
    where = f"{described['operationId']} answers {status}"
    assert str(status) in described["responses"], f"{where}, which is not described: {text[:500]}"
    content = described["responses"][str(status)].get("content", {})
    if not content:
        assert text == "", where
        return
    assert kind in content, f"{where} as {kind!r}"
    if kind in (JSON, PROBLEM):
        assert problems_with(content[kind]["schema"], json.loads(text)) == [], where
    if kind == PROBLEM:
        codes = {example["value"]["code"] for example in content[kind]["examples"].values()}
        assert json.loads(text)["code"] in codes, f"{where}: {text[:500]}"


def gunzipped(answer: Any) -> str:
    """The text of an answer, however it was sent."""
    if answer.streaming:  # which can be read once only
        body: bytes = answer.getvalue()
        answer.streaming_content = [body]
        return body.decode(errors="replace")  # a file may have any bytes
    is_compressed = answer.headers.get("Content-Encoding") == "gzip"
    content: bytes = gzip.decompress(answer.content) if is_compressed else answer.content
    return content.decode()


@cache
def _validator(text: str) -> Any:
    schema = {**json.loads(text), "components": describe_api()["components"]}
    return jsonschema_rs.Draft202012Validator(schema, validate_formats=True)


@pytest.fixture(autouse=True)
def _only_described_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hold every answer of the API that a test gets to what the schema says."""
    ask = Client.request

    def request(self: Client, **request: Any) -> Any:
        answer = ask(self, **request)
        method, path = request["REQUEST_METHOD"], request["PATH_INFO"]
        if path.startswith("/api/") and path != "/api/docs/" and method not in ("HEAD", "OPTIONS"):
            content_type = answer.headers.get("Content-Type", "")
            if "fields=" in request.get("QUERY_STRING", "") and answer.status_code == 200:
                return answer  # less than the schema says, as it was asked for
            text = gunzipped(answer)
            check_answer(method, path, answer.status_code, content_type, text)
        return answer

    monkeypatch.setattr(Client, "request", request)
