"""Requests to the hook of a Slack app that Slack has not sent: all are refused, none fails."""

import json
import random
import time

import pytest
from django.test import Client

from inbox.models import ChatLinkCode, Decision, RejectionCount
from inbox.web.notifications.slack_requests import MAX_BYTES
from tests.support.environment import IS_FULL
from tests.support.notifications.slack_server import (
    BOB_IN_SLACK,
    SECRET,
    add_slack_app,
    form_of,
    run_slack_server,
    signed,
)

FORM = "application/x-www-form-urlencoded"
COUNT = 12_000 if IS_FULL else 400
ZERO_DIGEST = "0" * 64
VALUE = f"01934f5e-7c10-7e4b-9a52-0d6c6a1f0001 {ZERO_DIGEST}"


@pytest.fixture
def slack(settings):
    with run_slack_server(settings) as state:
        yield state


@pytest.fixture
def channel(world, slack):
    return add_slack_app(world.team.pk)


def payload(**more):
    return {
        "type": "block_actions",
        "team": {"id": "T0TESTS"},
        "user": {"id": BOB_IN_SLACK, "username": "bob", "team_id": "T0TESTS"},
        "actions": [{"type": "button", "action_id": "approve", "value": VALUE}],
        **more,
    }


def post(channel, body, headers, content_type=FORM):
    client = Client(raise_request_exception=False)
    path = f"/hooks/slack/{channel.pk}"
    return client.generic("POST", path, body, content_type, headers=headers)


@pytest.mark.parametrize(
    ("name", "headers"),
    [
        ("no headers", lambda body: {}),
        ("no signature", lambda body: {"X-Slack-Request-Timestamp": str(int(time.time()))}),
        ("no time", lambda body: {"X-Slack-Signature": signed(body)["X-Slack-Signature"]}),
        ("old", lambda body: signed(body, at=time.time() - 301)),
        ("from the future", lambda body: signed(body, at=time.time() + 310)),
        ("huge time", lambda body: signed_at(body, "9" * 400)),
        ("very huge time", lambda body: signed_at(body, "9" * 5_000)),
        ("no number", lambda body: signed_at(body, "now")),
        ("infinite", lambda body: signed_at(body, "inf")),
        ("negative", lambda body: signed_at(body, "-1")),
        ("non-ASCII time", lambda body: signed_at(body, "é")),
        ("other digits", lambda body: signed_at(body, "\u0661\u0662")),
        ("other secret", lambda body: signed(body, secret="f" * 32)),
        ("empty secret", lambda body: signed(body, secret="")),
        ("non-ASCII signature", lambda body: signed(body) | {"X-Slack-Signature": "v0=é"}),
        ("other version", lambda body: changed(body, lambda text: text.replace("v0", "v1"))),
        ("truncated signature", lambda body: changed(body, lambda text: text[:-1])),
        ("capitals", lambda body: changed(body, str.upper)),
        ("two signatures", lambda body: changed(body, lambda text: f"{text}, {text}")),
    ],
)
def test_a_request_that_is_not_signed_now_is_refused(channel, name, headers):
    body = form_of(payload())

    answer = post(channel, body, headers(body))

    assert (answer.status_code, answer.content) == (401, b""), name


def signed_at(body, stamp):
    return signed(body) | {"X-Slack-Request-Timestamp": stamp}


def changed(body, change):
    headers = signed(body)
    return headers | {"X-Slack-Signature": change(headers["X-Slack-Signature"])}


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"payload",
        b"payload=",
        b"payload={",
        b"payload=[]",
        b"payload=5",
        b"payload=null",
        b"payload=%FF",
        b"\xff\xfe",
        b"payload=" + b"[" * 60_000,
        b"a=1&" * 50 + form_of({}),
        form_of(payload()) + b"&payload=%7B%7D",
        form_of(payload()) + b"&other=1",
        form_of(payload()).replace(b"payload=", b"other=", 1),
        form_of(payload(team={"id": "T0OTHER"})),
        form_of(payload(team={})),
        form_of(payload(team=None)),
        form_of(payload(team=["T0TESTS"])),
        form_of(payload(team="T0TESTS")),
        form_of(payload(team={"id": ["T0TESTS"]})),
        form_of(payload(user=None)),
        form_of(payload(user={"id": "U0BOB", "team_id": "T0OTHER"})),
        form_of(payload(user={"id": "U0BOB", "team_id": None})),
        form_of(payload(user={"id": 5})),
        form_of(payload(user={"id": "bob@example.com"})),
        form_of(payload(type="view_submission")),
        form_of(payload(type=None)),
        json.dumps(payload()).encode(),
    ],
)
def test_a_signed_request_that_is_odd_is_refused(channel, body):
    answer = post(channel, body, signed(body))

    assert (answer.status_code, answer.content) == (401, b"")


@pytest.mark.parametrize("kind", ["application/json", "text/plain", "multipart/form-data", "", "x"])
def test_another_content_type_is_refused(channel, kind):
    body = form_of(payload())

    assert post(channel, body, signed(body), kind).status_code == 401


def test_a_signed_request_is_limited_in_size(channel):
    padded = form_of(payload(pad="x" * (MAX_BYTES - 700)))
    assert post(channel, padded, signed(padded)).status_code == 200
    for size in (MAX_BYTES, 1_000_000, 5_000_000):
        body = form_of(payload(pad="x" * size))
        assert post(channel, body, signed(body)).status_code == 401


def test_the_secret_of_another_channel_is_refused(world, channel):
    other = add_slack_app(world.team.pk, secret="b" * 32)
    body = form_of(payload())

    assert post(channel, body, signed(body, secret="b" * 32)).status_code == 401
    assert post(other, body, signed(body)).status_code == 401
    assert post(other, body, signed(body, secret="b" * 32)).status_code == 200


def test_unknown_and_other_channels_look_alike(world, channel, slack):
    body = form_of(payload())
    chat = type(channel)(pk="01934f5e-7c10-7e4b-9a52-0d6c6a1f0001")

    assert post(chat, body, signed(body)).status_code == 401
    assert post(chat, body, signed(body, secret="")).status_code == 401


def test_mutated_requests_are_never_accepted_and_never_an_error(channel, slack):
    draw = random.Random(7)
    for _ in range(COUNT):
        body = form_of(payload())
        headers = signed(body)
        body, headers, kind = _mutate(draw, body, headers)
        answer = post(channel, body, headers, kind)
        assert (answer.status_code, answer.content) == (401, b""), (body[:300], headers, kind)

    assert not Decision.objects.exists()
    assert not ChatLinkCode.objects.exists()
    assert not RejectionCount.objects.exists()
    assert (slack.calls, slack.answers) == ([], [])


def _mutate(draw, body, headers):
    """Change one or two parts of a request that was valid; the signature never fits any more."""
    kind = FORM
    for what in draw.sample(_MUTATIONS, draw.choice((1, 1, 2))):
        body, headers = what(draw, body, dict(headers))
    if draw.random() < 0.2:
        kind = draw.choice(("application/json", "text/plain", "", "multipart/form-data"))
    return body, headers, kind


def _flip_a_byte(draw, body, headers):
    at = draw.randrange(len(body))
    return body[:at] + bytes([body[at] ^ draw.randrange(1, 256)]) + body[at + 1 :], headers


def _truncate(draw, body, headers):
    return body[: draw.randrange(len(body))], headers


def _append(draw, body, headers):
    return body + draw.randbytes(draw.randrange(1, 40)), headers


def _grow(draw, body, headers):
    return body + b"x" * draw.choice((MAX_BYTES, 200_000)), headers


def _insert_text(draw, body, headers):
    texts = (b"&payload=%7B%7D", b"\x00", b"\xff", "é".encode(), b"&" * 50, b"%", b"=")
    at = draw.randrange(len(body))
    return body[:at] + draw.choice(texts) + body[at:], headers


def _change_the_time(draw, body, headers):
    now = int(time.time()) - 10
    stamps = (now + 1, now - 1, now - 301, -now, 0, 10**400, "1e9", "nan", "", " ", "é", "\u0661")
    return body, headers | {"X-Slack-Request-Timestamp": str(draw.choice(stamps))}


def _change_the_signature(draw, body, headers):
    text = headers.get("X-Slack-Signature", "v0=")
    at = draw.randrange(len(text))
    other = draw.choice("ghij\u00e9\u0661 ~")
    return body, headers | {"X-Slack-Signature": text[:at] + other + text[at + 1 :]}


def _sign_with_another_secret(draw, body, headers):
    secret = draw.choice(("", "f" * 32, SECRET[:-1], SECRET.upper(), f"{SECRET}0"))
    return body, signed(body, secret=secret)


def _sign_long_ago(draw, body, headers):
    return body, signed(body, at=time.time() - draw.randrange(301, 10**9))


def _leave_a_header_out(draw, body, headers):
    headers.pop(draw.choice(sorted(headers)))
    return body, headers


_MUTATIONS = (
    *(_flip_a_byte, _truncate, _append, _grow, _insert_text, _change_the_time),
    *(_change_the_signature, _sign_with_another_secret, _sign_long_ago, _leave_a_header_out),
)
