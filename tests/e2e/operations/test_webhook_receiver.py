"""Webhooks of a running product, to the receiver that docs/webhooks.md shows."""

import json
import re
from http.server import HTTPServer
from pathlib import Path
from threading import Thread

import httpx
import pytest
from django.utils import timezone

from inbox.actions.webhooks.outbox import message
from inbox.rules.webhooks.delivery_rules import RETRY_DELAYS, EventType
from inbox.sending.webhook_sender import sign
from tests.support.processes import embedded_environment, manage, start_embedded
from tests.support.product_client import wait_for

DOCS = (Path(__file__).parents[3] / "docs" / "webhooks.md").read_text()
(SNIPPET,) = re.findall(r"```python\n(.*?)```", DOCS, re.DOTALL)


@pytest.fixture
def receiver(monkeypatch):
    """The documented receiver on a free port; it gets its secret when there is one."""
    monkeypatch.setenv("SIGNOFF_WEBHOOK_SECRET", "whsec_bm90IHlldA==")
    names = {"__name__": "receiver"}
    exec(SNIPPET, names)
    names["Receiver"].log_message = lambda *_: None
    server = HTTPServer(("127.0.0.1", 0), names["Receiver"])
    Thread(target=server.serve_forever, daemon=True).start()
    yield server, names
    server.shutdown()
    server.server_close()


def test_a_running_product_tells_the_documented_receiver_in_order(tmp_path, receiver):
    server, names = receiver
    url = f"http://127.0.0.1:{server.server_port}/signoff"
    environment = embedded_environment(tmp_path, SIGNOFF_PRIVATE_WEBHOOK_HOSTS="127.0.0.1")
    with start_embedded(environment, log=tmp_path / "log", demo=True) as web:
        secret = manage(environment, "add_webhook", url, "--team", "demo")
        names["webhook"] = names["Webhook"](secret)
        key = manage(
            *(environment, "create_api_key", "--name", "tests"),
            *("--scope", "run", "--scope", "decide", "--scope", "read"),
        )
        with httpx.Client(base_url=web.url, headers={"Authorization": f"Bearer {key}"}) as api:
            _approve_one(api, names["received"])

    assert in_order(names["received"]) == [
        *("run.interrupted", "interrupt.opened", "interrupt.decided", "run.finished"),
    ]


def _approve_one(api, received):
    """Answer as soon as the receiver was told that somebody is asked, and wait for the end."""
    body = {"agent": "rehearsal", "message": "rehearse:tool_call", "thread_id": "t-1"}
    api.post("/api/runs", json=body)
    message = wait_for_message("interrupt.opened", received)
    interrupt = api.get(f"/api/interrupts/{message['data']['interrupt']['id']}").json()
    decision = {"status": "resolved", "payload": {"approved": True}}
    api.post(
        f"/api/interrupts/{interrupt['id']}/decide",
        json={**decision, "view_digest": interrupt["view_digest"]},
    )
    wait_for_message("run.finished", received)


def wait_for_message(kind, received):
    messages = []

    def has_come():
        messages[:] = [message for message in ours(received) if message["type"] == kind]
        return bool(messages)

    assert wait_for(has_come, seconds=60, every=0.05), list(received.values())
    return messages[0]


def ours(received):
    """The messages about our thread; the demo's own may arrive beside them."""
    messages = list(received.values())
    return [
        message
        for message in messages
        if message["data"].get("thread", {}).get("thread_id") == "t-1"
    ]


def in_order(received):
    return [message["type"] for message in ours(received)]


def test_the_documented_receiver_refuses_what_is_not_signed(receiver):
    server, names = receiver
    url = f"http://127.0.0.1:{server.server_port}/"
    wrong = {"webhook-id": "m", "webhook-timestamp": "0", "webhook-signature": "nonsense"}

    for headers in ({}, wrong):
        assert httpx.post(url, json={"type": "run.finished"}, headers=headers).status_code == 400
    assert names["received"] == {}


def test_the_documented_receiver_takes_a_test(receiver):
    server, names = receiver
    body = message("webhook.test", {"webhook": "w", "by": "Ana"}, timezone.now())
    headers = sign("msg_1", body, ["whsec_bm90IHlldA=="], at=timezone.now())

    answer = httpx.post(f"http://127.0.0.1:{server.server_port}/", content=body, headers=headers)

    assert answer.status_code == 204
    assert names["received"]["msg_1"]["type"] == "webhook.test"


def test_the_documents_name_every_event_and_every_pause():
    assert re.findall(r"^\| `([a-z._]+)` \|", DOCS, re.MULTILINE) == [
        kind.value for kind in EventType
    ]
    pauses = "5 s, 30 s, 2 min, 10 min, 30 min, 1 h, 2 h, 4 h, 8 h and\n  16 h"
    assert pauses in DOCS
    units = {"s": 1, "min": 60, "h": 3600}
    durations = re.findall(r"(\d+) (s|min|h)\b", pauses)
    assert [int(count) * units[unit] for count, unit in durations] == [
        pause.total_seconds() for pause in RETRY_DELAYS
    ]


def test_the_documented_message_is_json():
    (text,) = re.findall(r"```json\n(.*?)```", DOCS, re.DOTALL)

    assert json.loads(text)["type"] == "interrupt.decided"
