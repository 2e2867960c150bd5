"""A person for the drivers, which run outside of the environment of Signoff."""

import json
import os
import sys
import traceback
from collections.abc import Awaitable, Callable
from urllib.request import Request, urlopen

import anyio

URL, KEY, AGENT = (os.environ[name] for name in ("SIGNOFF_URL", "SIGNOFF_KEY", "SIGNOFF_AGENT"))
PERSON = os.environ["SIGNOFF_PERSON"]
REFUND = {"title": "Refund?", "tool": "refund", "args": {"charge": "ch_17", "amount": 4750}}
APPROVED, DENIED = {"approved": True}, {"approved": False, "reason": "Not now"}


def _send(path: str, body: object = None) -> dict:
    headers = {"Authorization": f"Bearer {PERSON}", "Content-Type": "application/json"}
    data = None if body is None else json.dumps(body).encode()
    with urlopen(Request(URL + path, data=data, headers=headers), timeout=60) as answer:
        return json.load(answer)


def decide_open(payload: dict) -> str:
    """Decide the only open request of the agent, and return its id."""
    (request,) = _send(f"/api/requests?agent={AGENT}&status=open")["results"]
    path = f"/api/interrupts/{request['items'][0]['interrupt']}"
    digest = _send(path)["view_digest"]
    _send(f"{path}/decide", {"status": "resolved", "payload": payload, "view_digest": digest})
    return request["id"]


class Answerer:
    """A progress callback that decides as soon as the client is told that a person is asked."""

    def __init__(self, payload: dict) -> None:
        self._payload = payload
        self.messages: list[str] = []

    async def __call__(self, progress: float, total: float | None, message: str | None) -> None:
        self.messages.append(message or "")
        if len(self.messages) == 1:
            await anyio.to_thread.run_sync(decide_open, self._payload)


class Leaver:
    """A progress callback that cancels the call."""

    def __init__(self) -> None:
        self.scope = anyio.CancelScope()

    async def __call__(self, progress: float, total: float | None, message: str | None) -> None:
        self.scope.cancel()


def drive(scenarios: list[Callable[[], Awaitable[None]]]) -> None:
    """Run the scenarios and print a line of JSON for each."""
    for scenario in scenarios:
        error = ""
        try:
            anyio.run(scenario)
        except BaseException:
            error = traceback.format_exc()
        print(json.dumps({"scenario": scenario.__name__, "error": error}))
    sys.stdout.flush()
