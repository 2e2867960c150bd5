"""An MCP client for tests that look at single messages, and the people who decide."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import httpx

STATELESS, HANDSHAKE = "2026-07-28", "2025-06-18"
TASKS = {"extensions": {"io.modelcontextprotocol/tasks": {}}}
REFUND = {
    "title": "Refund 47.50 EUR to Dana",
    "tool": "refund",
    "args": {"charge": "ch_17", "amount": 4750},
}
BOTH = "application/json, text/event-stream"


def message(method: str, params: Any = None, *, version: str = STATELESS, **meta: Any) -> Any:
    """Return a request as clients of this version send it; `meta` are capabilities and so on."""
    params = dict(params or {})
    if version == STATELESS:
        params["_meta"] = {
            "io.modelcontextprotocol/protocolVersion": version,
            "io.modelcontextprotocol/clientInfo": {"name": "claude-code", "version": "2.1.330"},
            "io.modelcontextprotocol/clientCapabilities": meta.pop("capabilities", {}),
            **meta,
        }
    elif meta:
        params["_meta"] = meta
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}


def headers_of(body: Any, version: str = STATELESS) -> dict[str, str]:
    """Return the headers that repeat parts of a message."""
    if version != STATELESS:
        return {"MCP-Protocol-Version": version}
    name = body["params"].get("name") or body["params"].get("taskId")
    headers = {"MCP-Protocol-Version": version, "Mcp-Method": body["method"]}
    return {**headers, "Mcp-Name": str(name)} if name else headers


@dataclass(frozen=True)
class McpClient:
    """A program with a key; `path` may have the defaults of its calls."""

    http: httpx.Client
    key: str
    path: str = "/mcp"

    def post(self, body: Any, *, accept: str = BOTH, **headers: str) -> httpx.Response:
        return self.http.post(self.path, **self._request(body, accept, headers))

    def send(
        self, method: str, params: Any = None, *, version: str = STATELESS, **meta: Any
    ) -> Any:
        """Return the JSON of a response without a stream."""
        body = message(method, params, version=version, **meta)
        return self.post(body, accept="application/json", **headers_of(body, version)).json()

    def call(self, tool: str, arguments: Any, *, version: str = STATELESS, **meta: Any) -> Any:
        """Call a tool and return its result."""
        answer = self.send("tools/call", _call(tool, arguments), version=version, **meta)
        assert "result" in answer, answer
        return answer["result"]

    @contextmanager
    def streamed(
        self, tool: str, arguments: Any, *, version: str = STATELESS, **meta: Any
    ) -> Iterator[Iterator[Any]]:
        """Call a tool; yields the messages of the stream, whose comments are None."""
        body = message("tools/call", _call(tool, arguments), version=version, **meta)
        request = self._request(body, BOTH, headers_of(body, version))
        with self.http.stream("POST", self.path, **request) as answer:
            assert answer.status_code == 200, answer.read()
            assert answer.headers["Content-Type"] == "text/event-stream"
            yield _events(answer)

    def _request(self, body: Any, accept: str, headers: dict[str, str]) -> dict[str, Any]:
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        key = {"Authorization": f"Bearer {self.key}"} if self.key else {}
        own = {"Content-Type": "application/json", "Accept": accept}
        return {"content": content, "headers": {**own, **key, **headers}}


@dataclass(frozen=True)
class Person:
    """A key that decides over REST."""

    http: httpx.Client
    key: str

    def decide(self, request_id: str, payload: Any) -> None:
        request = self._get(f"/api/requests/{request_id}")
        interrupt = self._get(f"/api/interrupts/{request['items'][0]['interrupt']}")
        answer = self.http.post(
            f"/api/interrupts/{interrupt['id']}/decide",
            json={
                "status": "resolved",
                "payload": payload,
                "view_digest": interrupt["view_digest"],
            },
            headers=self._headers,
        )
        assert answer.status_code == 200, answer.text

    def open_requests(self, agent: str) -> Any:
        return self._get(f"/api/requests?agent={agent}&status=open")["results"]

    def read(self, request_id: str) -> Any:
        return self._get(f"/api/requests/{request_id}")

    def _get(self, path: str) -> Any:
        answer = self.http.get(path, headers=self._headers)
        assert answer.status_code == 200, answer.text
        return answer.json()

    @property
    def _headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.key}"}


def _call(tool: str, arguments: Any) -> dict[str, Any]:
    return {"name": tool, "arguments": arguments}


def _events(answer: httpx.Response) -> Iterator[Any]:
    for line in answer.iter_lines():
        if line.startswith(":"):
            yield None
        elif line:
            yield json.loads(line.removeprefix("data: "))
