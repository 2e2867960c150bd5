"""A Slack on a port of this machine: its Web API, and the URLs for answers to presses."""

import hashlib
import hmac
import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlencode

from inbox.actions.notifications.team_channels import ChatSettings, add_chat
from inbox.models import Channel
from inbox.rules.notifications.slack_app import SlackApp
from inbox.rules.people.access import SEED

SECRET = "0123456789abcdef0123456789abcdef"
TOKEN = "xoxb-1111-2222-verysecrettoken"
WORKSPACE, OPS = "T0TESTS", "C0OPS"
BOB_IN_SLACK = "U0BOB"


@dataclass
class SlackServer:
    """The messages by `ts` as people see them now, and the answers to presses."""

    url: str = ""
    error: str = ""  #: the next calls fail with it
    headers: dict[str, str] = field(default_factory=dict)  #: of answers
    tokens: set[str] = field(default_factory=set)
    messages: dict[str, dict[str, Any]] = field(default_factory=dict)
    calls: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    times: list[float] = field(default_factory=list)  #: of the calls, by the monotonic clock
    answers: list[dict[str, Any]] = field(default_factory=list)

    @property
    def answer_url(self) -> str:
        return f"{self.url}/actions/T0TESTS/1/x"

    def call(self, method: str, body: dict[str, Any]) -> dict[str, Any]:
        self.calls.append((method, body))
        self.times.append(time.monotonic())
        if self.error:
            return {"ok": False, "error": self.error}
        ts = body.get("ts") or f"1790000000.{len(self.messages) + 1:06}"
        if method == "chat.update" and ts not in self.messages:
            return {"ok": False, "error": "message_not_found"}
        self.messages[ts] = body
        return {"ok": True, "channel": body["channel"], "ts": ts, "message": body}

    def edits(self) -> list[dict[str, Any]]:
        return [body for method, body in self.calls if method == "chat.update"]


class _Handler(BaseHTTPRequestHandler):
    state: SlackServer

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.path.startswith("/actions/"):
            self.state.answers.append(body)
            answer: Any = {"ok": True}
        else:
            self.state.tokens.add(self.headers.get("Authorization", ""))
            answer = self.state.call(self.path.rpartition("/")[2], body)
        text = json.dumps(answer).encode()
        self.send_response(429 if self.state.error == "429" else 200)
        for name, value in self.state.headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_: object) -> None:
        """Print nothing: the output of tests is for failures."""


@contextmanager
def run_slack_server(settings: Any) -> Iterator[SlackServer]:
    """Run a Slack, and let the settings of Signoff name it."""
    state = SlackServer()
    handler = type("Handler", (_Handler,), {"state": state})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        server.daemon_threads = True
        state.url = f"http://127.0.0.1:{server.server_port}"
        settings.PRIVATE_WEBHOOK_HOSTS = frozenset({"127.0.0.1"})
        settings.SLACK_API_URL = f"{state.url}/api/"
        settings.SLACK_ANSWER_URL = f"{state.url}/actions/"
        threading.Thread(target=server.serve_forever, args=[0.01], daemon=True).start()
        yield state
        server.shutdown()


def add_slack_app(team_id: Any, *, secret: str = SECRET, workspace: str = WORKSPACE) -> Channel:
    """Add a Slack app that gets every event of a team at once."""
    app = SlackApp(TOKEN, secret, workspace, OPS)
    events = ["opened", "reminded", "escalated"]
    values = ChatSettings("#ops", "", events, "at_once", 5, app)
    return add_chat(team_id=team_id, kind="slack_app", values=values, language="en", actor=SEED)


def buttons_of(message: dict[str, Any]) -> list[dict[str, Any]]:
    """The buttons of a message that approve."""
    elements = [
        element
        for block in message["blocks"]
        if block["type"] == "actions"
        for element in block["elements"]
    ]
    return [element for element in elements if element.get("action_id") == "approve"]


def closed_requests(message: dict[str, Any]) -> set[str]:
    """The links of the requests that a message shows as closed."""
    closed, is_closed = set(), False
    for block in message["blocks"]:
        texts = [text["text"] for text in block.get("fields", ())]
        is_closed = is_closed or any(text.startswith("State: ") for text in texts)
        for button in block.get("elements", ()):
            closed |= {button["url"]} if is_closed and "url" in button else set()
            is_closed = False
    return closed


def press(button: dict[str, Any], *, by: str = BOB_IN_SLACK, **more: Any) -> dict[str, Any]:
    """The payload that Slack sends of a pressed button."""
    return {
        "type": "block_actions",
        "team": {"id": WORKSPACE, "domain": "tests"},
        "user": {"id": by, "username": by.lower(), "name": by.lower(), "team_id": WORKSPACE},
        "api_app_id": "A0TESTS",
        "channel": {"id": OPS, "name": "ops"},
        "container": {"type": "message", "message_ts": "1790000000.000001", "channel_id": OPS},
        "actions": [{"type": "button", "action_id": "approve", "value": button["value"]}],
        **more,
    }


def form_of(payload: Any) -> bytes:
    return urlencode({"payload": json.dumps(payload)}).encode()


def signed(body: bytes, *, secret: str = SECRET, at: float | None = None) -> dict[str, str]:
    """The headers that Slack signs a request with."""
    stamp = str(int(time.time() if at is None else at))
    base = b"v0:" + stamp.encode() + b":" + body
    signature = hmac.new(secret.encode(), base, hashlib.sha256).hexdigest()
    return {"X-Slack-Request-Timestamp": stamp, "X-Slack-Signature": f"v0={signature}"}
