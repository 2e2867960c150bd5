"""The messages and the HTTP of the MCP server, in both eras."""

import json
from base64 import b64encode
from urllib.parse import urlsplit

import pytest
from jsonschema import Draft202012Validator

from tests.support.mcp.raw_client import (
    HANDSHAKE,
    REFUND,
    STATELESS,
    TASKS,
    McpClient,
    headers_of,
    message,
)

TOOLS = {
    *("request_approval", "ask_human", "wait_for_decision", "report_result", "withdraw"),
    "approve_tool",
}
VERSION = "io.modelcontextprotocol/protocolVersion"


@pytest.fixture(scope="module")
def program(programs):
    """One program for all tests here that ask nothing."""
    return next(programs)


@pytest.fixture
def asking(http, programs):
    """A client that asks."""
    return McpClient(http, next(programs).key)


def error_of(answer):
    body = answer.json()
    assert (body["jsonrpc"], "result" in body) == ("2.0", False)
    return answer.status_code, body["error"]["code"]


def test_stateless_clients_discover_the_server(client):
    result = client.send("server/discover")["result"]

    assert result["supportedVersions"] == [STATELESS]
    assert result["capabilities"] == {"tools": {}, **TASKS}
    assert result["resultType"] == "complete"
    assert result["_meta"]["io.modelcontextprotocol/serverInfo"]["name"] == "signoff"


@pytest.mark.parametrize(
    ("offered", "answered"),
    [
        ("2025-06-18", "2025-06-18"),
        ("2025-11-25", "2025-11-25"),
        ("2025-03-26", "2025-11-25"),
        ("2024-11-05", "2025-11-25"),
        ("1999-01-01", "2025-11-25"),
    ],
)
def test_older_clients_begin_with_a_handshake(client, offered, answered):
    params = {
        "protocolVersion": offered,
        "capabilities": {},
        "clientInfo": {"name": "codex", "version": "0.169.0"},
    }

    answer = client.post(message("initialize", params, version=HANDSHAKE))

    assert answer.json()["result"]["protocolVersion"] == answered
    assert "mcp-session-id" not in answer.headers
    notification = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    accepted = client.post(notification, **{"MCP-Protocol-Version": answered})
    assert (accepted.status_code, accepted.content) == (202, b"")
    assert client.send("ping", version=HANDSHAKE)["result"] == {}


@pytest.mark.parametrize("version", [STATELESS, HANDSHAKE, "2025-11-25"])
def test_every_version_lists_the_tools(client, version):
    tools = client.send("tools/list", version=version)["result"]["tools"]

    assert {tool["name"] for tool in tools} == TOOLS
    for tool in tools:
        assert tool["inputSchema"]["type"] == "object"
        assert "$ref" not in json.dumps(tool)


@pytest.mark.parametrize(
    ("version", "status"), [(STATELESS, 404), (HANDSHAKE, 200)], ids=["stateless", "handshake"]
)
@pytest.mark.parametrize("method", ["prompts/list", "resources/read", "nothing", ""])
def test_an_unknown_method_is_an_error(client, version, status, method):
    body = message(method, version=version)

    assert error_of(client.post(body, **headers_of(body, version))) == (status, -32601)


@pytest.mark.parametrize(
    ("version", "method"),
    [(STATELESS, "initialize"), (STATELESS, "ping"), (HANDSHAKE, "server/discover")],
)
def test_a_method_of_the_other_era_is_unknown(client, version, method):
    body = message(method, version=version)

    assert error_of(client.post(body, **headers_of(body, version)))[1] == -32601


def test_an_unknown_tool_is_an_error(client):
    assert client.send("tools/call", {"name": "rm"})["error"]["code"] == -32602


@pytest.mark.parametrize(
    "changed",
    [
        {"MCP-Protocol-Version": None},
        {"Mcp-Method": None},
        {"Mcp-Method": "tools/list"},
        {"Mcp-Name": None},
        {"Mcp-Name": "withdraw"},
        {"Mcp-Name": "=?base64?!!?="},
        {"Mcp-Name": "=?base64?/w==?="},
        {"MCP-Protocol-Version": "2025-11-25, 2026-07-28"},
    ],
    ids=lambda changed: str(*changed.items()),
)
def test_headers_that_differ_from_the_body_are_refused(client, bob, agent, changed):
    body = message("tools/call", {"name": "request_approval", "arguments": REFUND})
    headers = {**headers_of(body), **changed}
    headers = {name: value for name, value in headers.items() if value is not None}

    status, code = error_of(client.post(body, accept="application/json", **headers))

    assert (status, code) in ((400, -32020), (400, -32022))
    assert bob.open_requests(agent) == []


def test_an_encoded_name_is_read(client):
    body = message("tools/call", {"name": "withdraw", "arguments": {}})
    name = f"=?base64?{b64encode(b'withdraw').decode()}?="

    answer = client.post(body, **{**headers_of(body), "Mcp-Name": name})

    assert answer.json()["result"]["isError"] is True


def test_an_unsupported_version_names_the_supported_ones(client):
    body = message("tools/list")
    body["params"]["_meta"][VERSION] = "2027-01-01"

    answer = client.post(body, **{**headers_of(body), "MCP-Protocol-Version": "2027-01-01"})

    assert error_of(answer) == (400, -32022)
    assert answer.json()["id"] == 1
    assert answer.json()["error"]["data"] == {
        "supported": ["2025-06-18", "2025-11-25", STATELESS],
        "requested": "2027-01-01",
    }


def test_a_body_without_capabilities_is_refused(client):
    body = message("tools/list")
    del body["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"]

    assert error_of(client.post(body, **headers_of(body))) == (400, -32602)


CALL = message("tools/call", {"name": "request_approval", "arguments": REFUND})
HOSTILE = {
    "empty": b"",
    "no JSON": b"{",
    "no UTF-8": b'{"jsonrpc": "2.0", "id": 1, "method": "\xff"}',
    "NaN": b'{"jsonrpc": "2.0", "id": NaN, "method": "ping"}',
    "NUL": json.dumps({**CALL, "method": "a\0b"}).encode(),
    "surrogate": b'{"jsonrpc": "2.0", "id": "\\ud800", "method": "ping"}',
    "duplicate key": b'{"jsonrpc": "2.0", "id": 1, "id": 2, "method": "ping"}',
    "deep": b'{"jsonrpc": "2.0", "id": 1, "method": "ping", "params": '
    + b'{"a":' * 5_000
    + b"1"
    + b"}" * 5_001,
    "long number": b'{"jsonrpc": "2.0", "id": ' + b"9" * 10_000 + b', "method": "ping"}',
    "batch": json.dumps([CALL, CALL]).encode(),
    "empty batch": b"[]",
    "null": b"null",
    "text": b'"ping"',
    "number": b"7",
    "null id": json.dumps({**CALL, "id": None}).encode(),
    "true id": json.dumps({**CALL, "id": True}).encode(),
    "fraction id": json.dumps({**CALL, "id": 1.5}).encode(),
    "list id": json.dumps({**CALL, "id": [1]}).encode(),
    "object id": json.dumps({**CALL, "id": {}}).encode(),
    "old JSON-RPC": json.dumps({**CALL, "jsonrpc": "1.0"}).encode(),
    "no method": json.dumps({"jsonrpc": "2.0", "id": 1}).encode(),
    "method of another type": json.dumps({**CALL, "method": 7}).encode(),
    "response": json.dumps({"jsonrpc": "2.0", "id": 1, "result": {}}).encode(),
    "list of parameters": json.dumps({**CALL, "params": [1]}).encode(),
    "null parameters": json.dumps({**CALL, "params": None}).encode(),
    "notification with a list": b'{"jsonrpc": "2.0", "method": "a", "params": []}',
}


UNREADABLE = {
    "duplicate argument": (b'"args": {', b'"args": {"a": 1, "a": 2, '),
    "NaN": (b"4750", b"NaN"),
    "deep": (b"4750", b"[" * 100 + b"]" * 100),
}


@pytest.mark.parametrize(("old", "new"), UNREADABLE.values(), ids=UNREADABLE.keys())
def test_arguments_that_cannot_be_read_are_told_to_the_model(client, bob, agent, old, new):
    body = message("tools/call", {"name": "request_approval", "arguments": REFUND})
    text = json.dumps({**body, "id": "call-7"}).encode().replace(old, new)

    answer = client.post(text, accept="application/json", **headers_of(body))

    assert (answer.status_code, answer.json()["id"]) == (200, "call-7")
    assert answer.json()["result"]["isError"] is True
    assert "cannot be read" in answer.json()["result"]["content"][0]["text"]
    assert bob.open_requests(agent) == []


def test_errors_of_a_tool_match_its_output_schema(client):
    tools = client.send("tools/list")["result"]["tools"]
    schemas = {tool["name"]: tool["outputSchema"] for tool in tools if "outputSchema" in tool}

    assert {*schemas} == {"request_approval", "ask_human", "wait_for_decision"}
    for name, schema in schemas.items():
        refused = client.call(name, {"colour": "red"})

        assert refused["isError"] is True
        Draft202012Validator(schema).validate(refused["structuredContent"])


def test_an_unknown_query_parameter_is_rejected(http, program):
    refused = McpClient(http, program.key, "/mcp?agnt=ci").post(message("tools/list"))

    assert (refused.status_code, refused.json()["code"]) == (422, "UNKNOWN_NAME")
    assert "`agent`" in refused.json()["detail"]


@pytest.mark.parametrize("body", HOSTILE.values(), ids=HOSTILE.keys())
@pytest.mark.parametrize("version", [STATELESS, HANDSHAKE, ""], ids=["stateless", "old", "none"])
def test_a_body_that_is_no_message_is_refused(client, bob, agent, body, version):
    headers = {"MCP-Protocol-Version": version} if version else {}

    status, code = error_of(client.post(body, **headers))

    assert status == 400
    assert code in (-32700, -32600, -32020)
    assert bob.open_requests(agent) == []


@pytest.mark.parametrize(
    "params",
    [
        {},
        {"name": 7},
        {"name": None},
        {"name": ["withdraw"]},
        {"name": {}},
        {"name": "withdraw", "arguments": "text"},
        {"name": "withdraw", "arguments": [1]},
        {"name": "withdraw", "_meta": "text"},
        {"name": "withdraw", "_meta": {"progressToken": {}}},
    ],
    ids=str,
)
@pytest.mark.parametrize("version", [STATELESS, HANDSHAKE], ids=["stateless", "handshake"])
def test_parameters_of_another_shape_are_refused(client, params, version):
    body = message("tools/call", params, version=version)
    if "_meta" in params and version == STATELESS:
        body["params"]["_meta"] = params["_meta"]
    headers = headers_of(body, version)

    answer = client.post(body, **{name: str(value) for name, value in headers.items()})

    assert answer.status_code in (200, 400)
    assert error_of(answer)[1] in (-32602, -32020)


def test_a_text_is_an_id_as_well(client):
    body = {**message("tools/list"), "id": "a/ä"}

    assert client.post(body, **headers_of(body)).json()["id"] == "a/ä"


@pytest.mark.parametrize("method", ["GET", "DELETE", "PUT", "PATCH", "OPTIONS"])
def test_there_is_no_other_method(client, http, method):
    answer = http.request(method, "/mcp", headers={"Authorization": f"Bearer {client.key}"})

    assert (answer.status_code, answer.headers["Allow"]) == (405, "POST")


@pytest.mark.parametrize("accept", ["text/html", "image/*", ""])
def test_clients_that_accept_no_json_are_refused(client, accept):
    body = message("tools/list")

    assert client.post(body, accept=accept, **headers_of(body)).status_code == 406


@pytest.mark.parametrize("accept", ["*/*", "application/*", "application/json;q=0.9, text/html"])
def test_clients_that_accept_json_only_get_json(asking, accept):
    body = message("tools/call", {"name": "request_approval"})
    body["params"]["arguments"] = {**REFUND, "wait_seconds": 0}

    answer = asking.post(body, accept=accept, **headers_of(body))

    assert answer.headers["Content-Type"] == "application/json"
    assert answer.json()["result"]["structuredContent"]["status"] == "open"


@pytest.mark.parametrize("kind", ["text/plain", "application/xml", ""])
def test_a_body_of_another_type_is_refused(client, kind):
    body = message("tools/list")

    assert client.post(body, **{**headers_of(body), "Content-Type": kind}).status_code == 415


def test_a_huge_body_is_refused(client):
    assert client.post(b" " * (2 * 1024 * 1024 + 1)).status_code == 413


def test_pages_of_other_origins_are_refused(client, http):
    body = message("tools/list")
    host = urlsplit(str(http.base_url)).netloc
    allowed = [f"http://{host}"]
    refused = ["https://evil.example.com", "null", f"http://{host}.evil.example.com", "http://["]

    for origin in [*allowed, *refused]:
        answer = client.post(body, **headers_of(body), Origin=origin)
        assert answer.status_code == (200 if origin in allowed else 403), origin


def test_a_page_whose_name_was_rebound_is_refused(client):
    body = message("tools/list")
    rebound = {"Origin": "http://evil.example.com", "Host": "evil.example.com"}

    assert client.post(body, **headers_of(body), **rebound).status_code == 403


@pytest.mark.parametrize("scopes", [["read"], ["decide"], ["read", "decide"]], ids=str)
def test_a_key_that_may_not_run_gets_nothing(product, http, scopes):
    body = message("tools/list")

    answer = McpClient(http, product.create_api_key(*scopes)).post(body, **headers_of(body))

    assert (answer.status_code, answer.json()["code"]) == (403, "FORBIDDEN")


@pytest.mark.parametrize("key", ["", "so_nothing"])
def test_without_a_valid_key_there_is_nothing(http, key):
    answer = McpClient(http, key).post(b"{")

    assert (answer.status_code, answer.json()["code"]) == (401, "UNAUTHENTICATED")
    assert answer.headers["WWW-Authenticate"] == "Bearer"


def test_each_message_counts_as_one_call(client):
    body = message("tools/list")

    first, second = (client.post(body, **headers_of(body)) for _ in range(2))

    def left(answer):
        return int(answer.headers["ratelimit"].split("r=")[1].split(";")[0])

    assert left(first) - left(second) == 1


def test_holding_clients_are_told_at_once(asking):
    with asking.streamed("request_approval", REFUND, progressToken="p") as events:
        assert next(events) is None
        progress = next(events)

    assert progress["params"]["progress"] == 0
