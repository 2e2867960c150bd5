"""Who gets what at which address: every route, every method, every kind of caller."""

import re

import httpx
import pytest

from tests.support.http.agui_client import Door, run_input
from tests.support.notifications.decision_links import allow_links, mailed_link, send
from tests.support.security import routes
from tests.support.security.callers import (
    CSRF,
    NAMES,
    OUTSIDERS,
    undone,
)
from tests.support.security.routes import (
    METHODS,
    SITE,
    STREAMS,
    Things,
    call,
    client_of,
)

TELLTALES = (
    "dana@example.com",
    "send_email",
    "Alice",
    "Bob",
    "127.0.0.1:1/",
    "X-Key",
    "a-secret-path",
)
#: Otherwise every answer would differ by the name of its request.
SAME_NAME = {"X-Request-ID": "matrix"}
#: Their details change from second to second, and are not of any team.
PROBES = ("livez", "readyz", "metrics")
GUARDED = [route for route in SITE if route.names_a_thing]


@pytest.fixture(autouse=True)
def _without_rate_limits(settings):
    """The calls of the matrix come so fast that some would be refused, depending on the machine."""
    settings.RATE_LIMIT = settings.RATE_LIMIT_ANONYMOUS = ""


def test_every_address_of_the_site_is_declared():
    assert routes.site_patterns() == {route.pattern for route in SITE}


@pytest.mark.parametrize("family", routes.FAMILIES, ids=str)
def test_no_line_of_a_family_is_left_over(family):
    assert family.routes()


def test_every_address_that_streams_is_declared():
    assert routes.streaming_patterns() == {route.pattern for route in STREAMS}


def test_everybody_gets_what_the_table_says(callers, things, subtests):
    for route in SITE:
        with subtests.test(str(route)):
            got = {name: undone(call, route, callers[name], things).status_code for name in NAMES}
            assert got == route.statuses


def test_a_link_to_decide_is_for_its_person_and_whoever_is_signed_out(
    callers, things, world, settings
):
    settings.PUBLIC_URL = "https://signoff.example.com"
    reviewer = type(world.bob).objects.get(username="the-reviewer")
    allow_links(world)
    _, token = mailed_link(world, world.actor(reviewer))
    others = ("stranger", "viewer", "admin", "left")
    expected = dict.fromkeys(NAMES, 200) | dict.fromkeys(others, 403)

    def decide_by_link(caller):
        client = client_of(caller)
        client.cookies["signoff_decide"] = "s" * 43
        return send(client, token, secret="s" * 43)

    opened = {name: client_of(callers[name]).get(f"/decide/{token}/").status_code for name in NAMES}
    decided = {name: undone(decide_by_link, callers[name]).status_code for name in NAMES}
    assert opened == decided == expected


def test_a_key_that_may_only_run_is_told_that_it_cancelled(callers, things):
    answer = client_of(callers["k_run"]).generic("POST", f"/api/runs/{things.run_id}/cancel")

    assert (answer.status_code, answer.json()["status"]) == (200, "cancelled")


def test_a_method_that_is_not_declared_is_refused_also_to_admins(callers, things, subtests):
    for pattern in {route.pattern for route in SITE} - {"healthz"}:
        of_pattern = [route for route in SITE if route.pattern == pattern]
        path = of_pattern[0].path(things)
        # Signing in would redirect those who are signed in already.
        client = client_of(callers["nobody" if pattern == "login/" else "admin"])
        client.cookies["csrftoken"] = CSRF

        for method in set(METHODS) - {route.method for route in of_pattern}:
            with subtests.test(f"{method} {pattern}"):
                answer = client.generic(
                    method, path, b"{}", "application/json", headers={"X-CSRFToken": CSRF}
                )
                assert answer.status_code == 405


def test_an_outsider_cannot_tell_what_is_there_from_what_is_not(callers, things, subtests):
    nowhere = Things.missing(view_digest=things.view_digest)

    for route in GUARDED:
        with subtests.test(str(route)):
            for name in outsiders_of(route):
                existing = undone(call, route, callers[name], things)
                missing = undone(call, route, callers[name], nowhere)
                assert as_asked(missing, nowhere, things) == as_asked(existing, things, things), (
                    name
                )


def outsiders_of(route):
    """Also the key of another agent, where it is told that there is nothing."""
    return (*OUTSIDERS, *(["k_other_agent"] if route.statuses["k_other_agent"] == 404 else []))


def as_asked(answer, path, things):
    """All of an answer; where it repeats what was asked for, as if the same thing had been."""
    # One is a digest of the body, which is compared; the other counts what was asked before.
    aside = ("etag", "ratelimit")
    headers = {name: text for name, text in answer.headers.items() if name.lower() not in aside}
    text = f"{answer.status_code} {headers} {answer.content.decode()}"
    for name in (
        *("slug", "remote", "interrupt_id", "thread_id", "run_id", "view_id", "webhook_id"),
        *("session_id", "passkey_id", "team", "key_id", "user", "invitation_id", "call_id"),
        *("group", "grant_id", "channel_id", "identity_id", "presentation_id", "file_id"),
        *("request_id", "asking"),
    ):
        text = text.replace(getattr(path, name) or " ", getattr(things, name) or " ")
    text = re.sub(r'value="\w{64}"', "", text)  # tokens of forms are others each time
    text = re.sub(r"(?i)(-ends\W+)\d+", r"\1", text)  # the session lasts from the call on
    return re.sub(r"\d\d:\d\d:\d\d GMT", "", text)


def test_no_answer_tells_an_outsider_anything_of_the_team(callers, things, subtests):
    for route in SITE:
        with subtests.test(str(route)):
            for name in OUTSIDERS:
                text = undone(call, route, callers[name], things).content.decode()
                # Tokens of forms are letters by chance, which make a name now and then.
                text = re.sub(r'value="\w{64}"', "", text)
                assert not [word for word in TELLTALES if word in text], name


# -- the addresses that stream, on a running product ----------------------------------------------


@pytest.fixture(scope="session")
def streamed(product, demo_callers):
    """A thread of the running product."""
    with httpx.Client(base_url=product.url, timeout=20) as http:
        door = Door(http, demo_callers["k_run"].token)
        external_id = door.run(run_input("rehearse:echo"))[0]["threadId"]
        headers = demo_callers["k_read"].headers
        threads = http.get("/api/threads", headers=headers).json()["results"]
    thread = next(thread for thread in threads if thread["thread_id"] == external_id)
    return Things(
        interrupt_id="",
        run_id="",
        slug="rehearsal",
        thread_id=thread["id"],
        external_id=thread["thread_id"],
    )


@pytest.fixture(scope="session")
def stream_call(product):
    with httpx.Client(base_url=product.url, timeout=20) as http:

        def send(route, caller, things, method=None):
            body = run_input("rehearse:echo")
            if route.pattern.endswith(("/connect", "/connect/")):
                body = {"threadId": things.external_id}
            elif route.pattern == "mcp":
                body = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
            return http.request(
                method or route.method,
                route.path(things),
                json=None if (method or route.method) == "GET" else body,
                headers={**caller.headers, "Cookie": _cookie_header(caller), **SAME_NAME},
            )

        yield send


def _cookie_header(caller):
    return "; ".join(f"{name}={value}" for name, value in caller.cookies.items())


@pytest.mark.parametrize("route", STREAMS, ids=str)
def test_everybody_gets_from_a_stream_what_the_table_says(
    route, stream_call, demo_callers, streamed
):
    got = {name: stream_call(route, demo_callers[name], streamed).status_code for name in NAMES}

    assert got == route.statuses


@pytest.mark.parametrize(
    "route", [route for route in STREAMS if route.pattern not in PROBES], ids=str
)
def test_outsider_gets_the_same_answer_for_existing_and_missing_streams(
    route, stream_call, demo_callers, streamed
):
    nowhere = Things.missing(external_id="nowhere")

    for name in outsiders_of(route):
        existing = stream_call(route, demo_callers[name], streamed)
        missing = stream_call(route, demo_callers[name], nowhere)
        assert as_asked(missing, nowhere, streamed) == as_asked(existing, streamed, streamed), name


@pytest.mark.parametrize("route", STREAMS, ids=str)
def test_a_stream_takes_the_declared_method_only(route, stream_call, demo_callers, streamed):
    for method in set(METHODS) - {route.method}:
        answer = stream_call(route, demo_callers["admin"], streamed, method)
        assert answer.status_code == 405, method


#: Addresses that take keys only, whatever the session.
FOR_KEYS = ("mcp",)


@pytest.mark.parametrize(
    "route",
    [each for each in STREAMS if each.method == "POST" and each.pattern not in FOR_KEYS],
    ids=str,
)
def test_a_session_without_its_csrf_token_starts_no_stream(route, product, demo_callers, streamed):
    answer = httpx.post(
        product.url + route.path(streamed),
        json=run_input("rehearse:echo"),
        headers={"Cookie": _cookie_header(demo_callers["admin"])},
    )

    assert (answer.status_code, answer.json()["code"]) == (403, "FORBIDDEN")
