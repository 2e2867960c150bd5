"""A caller of the running product: REST and the AG-UI door, over keep-alive connections."""

import json
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, Self
from uuid import uuid4

import httpx

APPROVE = {"approved": True}
_TIMEOUT = httpx.Timeout(90.0)


class Client:
    """One API key; may be shared by threads."""

    def __init__(self, url: str, key: str) -> None:
        self.http = httpx.Client(
            base_url=url,
            headers={"Authorization": f"Bearer {key}"},
            timeout=_TIMEOUT,
            limits=httpx.Limits(max_connections=200, max_keepalive_connections=50),
            trust_env=False,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.http.close()

    def start(self, message: str, *, key: str = "", agent: str = "rehearsal") -> httpx.Response:
        """Start a run over REST; with an idempotency key it may be sent again."""
        headers = {"Idempotency-Key": key} if key else {}
        return self.http.post(
            "/api/runs", json={"agent": agent, "message": message}, headers=headers
        )

    def run(self, run_id: str) -> dict[str, Any]:
        answer = self.http.get(f"/api/runs/{run_id}")
        answer.raise_for_status()
        run: dict[str, Any] = answer.json()
        return run

    def pending(self) -> list[dict[str, Any]]:
        """Every open interrupt of the team, page by page."""
        rows: list[dict[str, Any]] = []
        after = None
        while True:
            answer = self.http.get("/api/interrupts", params={"after": after} if after else None)
            if answer.status_code == 404 and after:
                return rows  # the last one of the page was answered meanwhile
            answer.raise_for_status()
            page = answer.json()
            rows += page["results"]
            after = page["next_after"]
            if not after:
                return rows

    def decide(
        self, interrupt: dict[str, Any], payload: Any, status: str = "resolved"
    ) -> httpx.Response:
        """Answer an interrupt as `pending` has told it."""
        return self.http.post(
            f"/api/interrupts/{interrupt['id']}/decide",
            json={"status": status, "payload": payload, "view_digest": interrupt["view_digest"]},
        )

    def agui(self, body: dict[str, Any]) -> list[dict[str, Any]]:
        """Send a RunAgentInput and return all events up to the terminal one."""
        answer = self.http.post(
            "/agui/rehearsal/", json=body, headers={"Accept": "text/event-stream"}
        )
        answer.raise_for_status()
        return [
            json.loads(line.removeprefix("data: "))
            for line in answer.text.split("\n")
            if line.startswith("data: ")
        ]


def run_input(
    *, text: str = "", thread_id: str = "", resume: list[dict[str, Any]] | None = None
) -> dict[str, Any]:
    """A RunAgentInput that says `text`, or resumes."""
    body: dict[str, Any] = {
        "threadId": thread_id or str(uuid4()),
        "runId": str(uuid4()),
        "messages": [{"id": str(uuid4()), "role": "user", "content": text}] if text else [],
        "state": None,
        "tools": [],
        "context": [],
        "forwardedProps": None,
    }
    return body | ({"resume": resume} if resume is not None else {})


def interrupts_of(events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The questions of a run that ended interrupted, else none."""
    outcome = events[-1].get("outcome") or {}
    interrupts: list[dict[str, Any]] = outcome.get("interrupts", [])
    return interrupts


def at_once(calls: list[Callable[[], Any]]) -> list[Any]:
    """Make all calls at the same moment; returns results, raises what a call raised."""
    gate = threading.Barrier(len(calls), timeout=30)

    def run(call: Callable[[], Any]) -> Any:
        gate.wait()
        return call()

    with ThreadPoolExecutor(len(calls)) as pool:
        return list(pool.map(run, calls))


def wait_for(condition: Callable[[], bool], *, seconds: float, every: float = 0.2) -> bool:
    """Wait until the condition holds; false if it did not in time."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(every)
    return True


@contextmanager
def in_background(call: Callable[[threading.Event], None]) -> Iterator[None]:
    """Run `call(stop)` in a thread beside the block, and have it stop and end after it."""
    stop = threading.Event()
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(call, stop)
        try:
            yield
        finally:
            stop.set()
            running.result(timeout=60)
