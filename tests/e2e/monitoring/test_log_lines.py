"""Log lines of the running product: who was refused, and no secret of any field."""

import json
import logging
import re
from uuid import uuid4

import httpx
import pytest

from inbox.platform.logs import LOGGING_CONFIGURATION
from tests.support.product import embedded_product
from tests.support.product_client import Client, wait_for

#: A different one for each field, so that a failure names the field.
CANARY = re.compile(r"canary-[a-z-]+")


@pytest.fixture(scope="module", params=["text", "json"])
def product(request, tmp_path_factory):
    settings = {"SIGNOFF_LOG": request.param, "SIGNOFF_RATE_LIMIT": "40/minute"}
    with embedded_product(tmp_path_factory.mktemp(request.param), **settings) as running:
        yield running


def lines(product):
    return product.web.log.read_text().splitlines()


def fill_every_field(product):
    """Send a canary in each field that people and programs fill in."""
    key = product.create_api_key("run", "read", "decide", "admin")
    with httpx.Client(base_url=product.url, follow_redirects=True) as http:
        page = http.get("/login/")
        token = re.search(r'name="csrfmiddlewaretoken" value="(\w+)"', page.text)[1]
        http.post(
            "/login/",
            data={
                "csrfmiddlewaretoken": token,
                "username": "canary-name",
                "password": "canary-password",
            },
        )
        http.get("/api/runs", headers={"Authorization": "Bearer canary-key"})
        http.get("/api/runs", headers={"Cookie": "sessionid=canary-session"})
        http.get("/invitations/?token=canary-query")
        for page in ("decide", "join", "unsubscribe", "chats/link"):
            http.get(f"/{page}/canary-token-of-a-link-that-is-long-enough/")
        http.post("/mcp", headers={"Authorization": "Bearer canary-mcp"}, json={"jsonrpc": "2.0"})
    with Client(product.url, key) as client:
        client.start("rehearse:echo canary-message", key="canary-idempotency")
        client.http.post("/api/runs", content=b'{"canary-json"')
        client.http.post("/api/runs", json={"agent": "rehearsal", "canary-field": 1})
        run = client.start("rehearse:tool_call").json()["id"]
        assert wait_for(lambda: client.run(run)["status"] == "interrupted", seconds=30, every=2)
        (interrupt,) = [row for row in client.pending() if row["run"] == run]
        address = f"/api/interrupts/{interrupt['id']}"
        client.http.post(f"{address}/comments", json={"text": "canary-comment"})
        client.decide(interrupt, {"approved": False, "reason": "canary-reason"})
        client.http.post(
            "/api/webhooks",
            json={"url": "https://127.0.0.1:1/canary-webhook", "event_types": ["run.finished"]},
        )
        client.http.put(
            "/api/agents/canary-agent",
            json={
                "name": "Remote",
                "url": "http://127.0.0.1:1/canary-url",
                "headers": {"Authorization": "Bearer canary-header"},
            },
        )
        client.http.get("/api/runs", params={"status": "canary-filter"})


def test_no_field_of_people_or_programs_is_in_the_log(product):
    fill_every_field(product)

    # The slug of an agent is part of its address, which is no place for secrets.
    leaks = [line for line in lines(product) if set(CANARY.findall(line)) - {"canary-agent"}]
    assert leaks == []
    assert any("sign-in failed" in line for line in lines(product))


def test_refusals_are_logged_with_the_id_of_the_key(product):
    key = product.create_api_key("run")
    with Client(product.url, key) as client:
        missing = client.http.get(f"/api/runs/{uuid4()}")
        forbidden = client.http.post(f"/api/interrupts/{uuid4()}/decide", json={"status": "x"})
    assert missing.status_code == 404
    assert forbidden.status_code >= 400
    anonymous = httpx.get(f"{product.url}/api/threads")

    refused = [line for line in lines(product) if "call refused" in line]
    named = [line for line in refused if re.search(r"key:[0-9a-f-]{36}", line)]
    assert named
    assert any(missing.headers["X-Request-ID"] in line for line in named)
    assert anonymous.status_code == 401
    assert any("UNAUTHENTICATED" in line and "127.0.0.1" in line for line in refused)
    assert not [line for line in lines(product) if key in line]


def test_limits_are_logged_once_for_ten_hits(product):
    with Client(product.url, product.create_api_key("read")) as client:
        statuses = [client.http.get("/api/agents").status_code for _ in range(60)]

    hits = [line for line in lines(product) if "RATE_LIMITED" in line]
    assert statuses.count(429) >= 11
    assert len(hits) == 2  # the first and the tenth
    assert all(re.search(r"limited\W+key:[0-9a-f-]{36}", line) for line in hits)


def test_each_line_has_a_date_and_a_zone_and_json_has_no_other_lines(product):
    for line in lines(product):
        if product.environment["SIGNOFF_LOG"] == "json" and "timestamp" in line:
            assert json.loads(line)["timestamp"].endswith("Z")
    dated = [line for line in lines(product) if re.search(r"\d{4}-\d\d-\d\dT[\d:.]+Z", line)]
    assert len(dated) > 10


@pytest.mark.parametrize("mark", ["\u2028", "\u202e", "\x9b31m", "\x1b[2J", "\r"])
def test_marks_that_steer_a_viewer_are_escaped(mark):
    configuration = LOGGING_CONFIGURATION._standard()["formatters"]["line"].copy()
    formatter = configuration.pop("()")(**configuration)
    record = logging.LogRecord("ours", logging.INFO, "", 0, f"a{mark}b", None, None)

    assert mark not in formatter.format(record)
