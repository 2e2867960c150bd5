"""A small AG-UI client, for tests that look at single frames."""

import json
from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import httpx


def run_input(text: str = "", **fields: Any) -> dict[str, Any]:
    """A RunAgentInput that says `text`."""
    messages = [{"id": str(uuid4()), "role": "user", "content": text}] if text else []
    return {
        "threadId": str(uuid4()),
        "runId": str(uuid4()),
        "messages": messages,
        "state": {},
        "tools": [],
        "context": [],
        "forwardedProps": {},
        **fields,
    }


def resume(events: list[dict[str, Any]], **fields: Any) -> dict[str, Any]:
    """An input that answers the interrupts that `events`, those of an interrupted run, end with."""
    entries = [
        {"interruptId": item["id"], "status": "resolved", "payload": {"approved": True}}
        for item in interrupts(events)
    ]
    return run_input(threadId=events[0]["threadId"], **{"resume": entries, **fields})


def interrupts(events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    interrupts_: list[dict[str, Any]] = events[-1]["outcome"]["interrupts"]
    return interrupts_


def types(events: list[dict[str, Any]]) -> list[str]:
    return [event["type"] for event in events]


class Door:
    """The AG-UI door over HTTP, and REST beside it."""

    def __init__(self, http: httpx.Client, key: str) -> None:
        self.http = http
        self.headers = {"Authorization": f"Bearer {key}"} if key else {}

    def run(self, body: dict[str, Any], agent: str = "rehearsal") -> list[dict[str, Any]]:
        """Every event of the answer, up to its end."""
        return list(self.stream(f"/agui/{agent}/", body))

    def connect(self, thread_id: str) -> list[dict[str, Any]]:
        return list(self.stream("/agui/rehearsal/connect/", {"threadId": thread_id}))

    def stream(self, path: str, body: Any) -> Iterator[dict[str, Any]]:
        with self.http.stream("POST", path, json=body, headers=self.headers) as answer:
            assert answer.status_code == 200, answer.read()
            for _, event in numbered(answer):
                yield event

    def post(self, path: str, content: bytes | str, **headers: str) -> httpx.Response:
        base = {**self.headers, "Content-Type": "application/json"}
        return self.http.post(path, content=content, headers={**base, **headers})

    def get(self, path: str, **headers: str) -> Any:
        answer = self.http.get(path, headers={**self.headers, **headers})
        assert answer.status_code == 200, answer.text
        return answer.json()

    def thread(self, thread_id: str) -> dict[str, Any]:
        """The thread with this AG-UI id, as REST tells it."""
        threads: list[dict[str, Any]] = self.get("/api/threads")["results"]
        return next(thread for thread in threads if thread["thread_id"] == thread_id)


def numbered(answer: httpx.Response) -> Iterator[tuple[int, dict[str, Any]]]:
    """The events of a stream with their `id:` (0 without one), as they arrive."""
    seq = 0
    for line in answer.iter_lines():
        if line.startswith("id: "):
            seq = int(line[4:])
        elif line.startswith("data: "):
            yield seq, json.loads(line[6:])
            seq = 0
