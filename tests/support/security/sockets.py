"""The declared table of every WebSocket, and what comes of it for each caller."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import ClientConnection, connect

from inbox.realtime.urls import websocket_urlpatterns
from tests.support.security.callers import NAMES, Caller
from tests.support.security.routes import Things

#: The columns are those of NAMES. A number is the status that refuses the handshake; otherwise the
#: socket is open, and a word says what follows: `hello` of a page, `ran` and `resumed` of a run, or
#: the code of an error. The first word is the first frame that the caller sends.
_SOCKETS = """
nothing  ws/live/                               401 hello     hello     hello   hello   hello     401 hello     hello     hello     hello     hello     401 hello     hello     401
nothing  ws/live/?thread=<uuid:thread_id>       401 404       hello     hello   hello   404       401 hello     404       404       404       404       401 hello     404       401
nothing  ws/live/?interrupt=<uuid:interrupt_id> 401 404       hello     hello   hello   404       401 hello     404       404       404       404       401 hello     404       401
message  ws/agui/<slug:slug>/                   401 NOT_FOUND ran       ran     ran     NOT_FOUND 401 FORBIDDEN ran       FORBIDDEN FORBIDDEN NOT_FOUND 401 ran       NOT_FOUND 401
approval ws/agui/<slug:slug>/                   401 NOT_FOUND FORBIDDEN resumed resumed NOT_FOUND 401 FORBIDDEN FORBIDDEN resumed   FORBIDDEN NOT_FOUND 401 FORBIDDEN NOT_FOUND 401
"""  # noqa: E501
_PATIENCE_SECONDS = 20


@dataclass(frozen=True)
class Socket:
    """One use of one WebSocket, and what comes of it for each caller."""

    sends: str
    address: str
    outcomes: dict[str, str]

    def __str__(self) -> str:
        return f"{self.sends} {self.address}"

    @property
    def pattern(self) -> str:
        return self.address.partition("?")[0]

    def path(self, things: Things) -> str:
        path = self.address.replace("<slug:slug>", things.slug)
        for name in ("thread_id", "interrupt_id"):
            path = path.replace(f"<uuid:{name}>", getattr(things, name))
        return f"/{path}"


def _parse(table: str) -> list[Socket]:
    rows = [line.split() for line in table.strip().splitlines()]
    return [
        Socket(sends, address, dict(zip(NAMES, outcomes, strict=True)))
        for sends, address, *outcomes in rows
    ]


SOCKETS = _parse(_SOCKETS)


def socket_patterns() -> set[str]:
    """Return the addresses of all WebSockets; the last pattern refuses every other address."""
    patterns = {str(each.pattern) for each in websocket_urlpatterns}
    assert "" in patterns
    return patterns - {""}


def open_socket(url: str, path: str, caller: Caller, origin: str) -> ClientConnection:
    headers = {"Origin": origin, **caller.headers}
    if caller.cookies:
        headers["Cookie"] = "; ".join(f"{name}={value}" for name, value in caller.cookies.items())
    return connect(
        url.replace("http", "ws") + path, additional_headers=headers, open_timeout=_PATIENCE_SECONDS
    )


def outcome(opens: Callable[[], ClientConnection], frame: dict[str, Any] | None) -> str:
    """Return what comes of a socket, in the words of the table."""
    try:
        socket = opens()
    except InvalidStatus as refused:
        return str(refused.response.status_code)
    with socket:
        if frame is not None:
            socket.send(json.dumps(frame))
        event: dict[str, Any] = {}
        try:
            while event.get("type") != "hello":
                event = json.loads(socket.recv(timeout=_PATIENCE_SECONDS))
        except ConnectionClosed:
            if event["type"] == "RUN_ERROR":
                return str(event["code"])
            return "resumed" if frame and frame.get("resume") else "ran"
        return "hello"
