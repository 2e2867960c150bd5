"""What a browser is told to forbid, and what it may not be tricked into."""

import itertools
import json
import re
import socket
from urllib.parse import quote, urlsplit

import httpx
import pytest
from django.apps import apps
from django.conf import settings
from django.test import Client

from inbox.models import AuditEntry
from tests.support.notifications.decision_links import allow_links, mailed_link
from tests.support.security.callers import NAMES, undone
from tests.support.security.routes import (
    SITE,
    STREAMS,
    Things,
    call,
    client_of,
)
from tests.support.web.pages import words

#: The token in the address is the permission, not the session: mail programs post without cookies
#: (RFC 8058).
BY_TOKEN = "POST unsubscribe/<str:token>/"
#: Slack's signature is the permission.
BY_SIGNATURE = "POST hooks/slack/<uuid:channel_id>"
WITHOUT_SESSION = {BY_TOKEN: 404, BY_SIGNATURE: 401}
CHANGING = [route for route in SITE if route.method == "POST" and str(route) not in WITHOUT_SESSION]
FORM = "application/x-www-form-urlencoded"
CROSS_SITE = {
    "text/plain": json.dumps({"agent": "rehearsal", "message": "rehearse:echo"}),
    FORM: "agent=rehearsal&message=rehearse:echo&status=resolved",
    "multipart/form-data; boundary=b": (
        '--b\r\nContent-Disposition: form-data; name="agent"\r\n\r\nrehearsal\r\n--b--\r\n'
    ),
}


def rows():
    """How many rows each table of ours has."""
    ours = apps.get_app_config("inbox").get_models()
    return {model.__name__: model.objects.count() for model in ours}


# -- headers --------------------------------------------------------------------------------------


def test_every_answer_forbids_frames_sniffing_and_what_is_not_ours(callers, things, subtests):
    for route, name in itertools.product(SITE, ("nobody", "stranger", "admin", "k_admin")):
        with subtests.test(f"{route} {name}"):
            headers = undone(call, route, callers[name], things).headers
            parts = headers["Content-Security-Policy"].split(";")
            # Files are sandboxed, by a directive without a value.
            policy = {name: value for name, _, value in (p.strip().partition(" ") for p in parts)}

            if "sandbox" in policy:
                assert not policy.keys() & {"style-src", "script-src"}
                assert policy["form-action"] == "'none'"
            else:
                assert policy["style-src"] == "'self'"
                # Pages of links in mails have no script, as mail programs open them.
                assert policy["script-src"] in ("'self'", "'none'")
                assert policy["form-action"] == "'self'"
            assert policy["default-src"] == policy["base-uri"] == "'none'"
            assert policy["frame-ancestors"] == "'none'"
            assert headers["X-Frame-Options"] == "DENY"
            assert headers["X-Content-Type-Options"] == "nosniff"
            # Pages with a token in their address send no referrer at all.
            assert headers["Referrer-Policy"] in ("same-origin", "no-referrer")
            assert "Access-Control-Allow-Origin" not in headers
            # Of every text its encoding; JSON has one only.
            media_type, _, parameters = headers.get("Content-Type", "").partition(";")
            assert media_type or "Location" in headers or headers["Content-Length"] == "0"
            assert not media_type.startswith("text/") or "charset=utf-8" in parameters.lower()


@pytest.mark.parametrize("path", ["/nothing/", "/api/nothing", "/api/runs/no-uuid"])
def test_an_address_that_is_not_there_has_the_same_headers(db, path):
    headers = Client().get(path).headers

    assert "default-src 'none'" in headers["Content-Security-Policy"]
    assert headers["X-Frame-Options"] == "DENY"


@pytest.fixture
def streamed(product, demo_callers):
    """Ask an address that streams from another origin; returns the headers of its answer."""

    def ask(route):
        things = Things.missing()
        if route.pattern.startswith("agui/"):
            things = Things("", "", "", slug="rehearsal")
        return httpx.request(
            route.method,
            product.url + route.path(things),
            json=None if route.method == "GET" else {},
            headers={**demo_callers["k_read"].headers, "Origin": "http://evil.example"},
        ).headers

    return ask


@pytest.mark.parametrize("route", STREAMS, ids=str)
def test_an_answer_that_streams_is_not_sniffed_and_not_for_other_origins(route, streamed):
    headers = streamed(route)

    assert headers["X-Content-Type-Options"] == "nosniff"
    assert "Access-Control-Allow-Origin" not in headers


@pytest.mark.parametrize("route", STREAMS, ids=str)
def test_an_answer_that_streams_forbids_frames_too(route, streamed):
    headers = streamed(route)

    assert headers["X-Frame-Options"] == "DENY"
    assert "frame-ancestors 'none'" in headers["Content-Security-Policy"]


@pytest.mark.parametrize("path", ["/", "/login/", "/api/runs", "/agui/rehearsal/", "/livez"])
def test_trace_is_refused(product, path):
    answer = httpx.request("TRACE", product.url + path, headers={"X-Secret": "a-secret"})

    assert answer.status_code in (302, 401, 405)
    assert "a-secret" not in answer.text


def test_a_request_with_two_lengths_is_refused(product):
    """Otherwise a proxy and this server could see two different requests in the same bytes."""
    address = urlsplit(product.url)
    smuggled = b"GET /smuggled HTTP/1.1\r\nHost: localhost\r\n\r\n"
    head = (
        b"POST /login/ HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n"
        b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
    )
    with socket.create_connection((address.hostname, address.port), timeout=20) as connection:
        connection.sendall(head % (len(smuggled) + 5) + smuggled)
        answers = b"".join(iter(lambda: connection.recv(65_536), b""))

    assert answers.startswith(b"HTTP/1.1 400")
    assert answers.count(b"HTTP/1.1") == 1


def test_every_cookie_has_the_prefix_of_https(world, settings):
    settings.SESSION_COOKIE_SECURE = settings.CSRF_COOKIE_SECURE = True
    settings.LANGUAGE_COOKIE_SECURE = True
    settings.COOKIE_PREFIX = "__Host-"
    settings.SESSION_COOKIE_NAME, settings.CSRF_COOKIE_NAME = "__Host-s", "__Host-c"
    settings.LANGUAGE_COOKIE_NAME = "__Host-l"
    settings.PUBLIC_URL = "https://signoff.example.com"
    allow_links(world)
    _, token = mailed_link(world, world.actor(world.bob))
    client = Client()

    client.get("/login/", secure=True)
    client.post("/theme", {"theme": "dark", "next": "/"}, secure=True)
    client.post("/language/", {"language": "de", "next": "/"}, secure=True)
    client.get(f"/decide/{token}/", secure=True)
    client.post("/login/", {"username": "bob", "password": "bob-password"}, secure=True)

    assert len(client.cookies) == 6
    for name, cookie in client.cookies.items():
        assert cookie["secure"], name
        assert cookie["samesite"] in ("Lax", "Strict"), name
        assert name.startswith(("__Host-", "__Secure-")), name
        assert not name.startswith("__Host-") or (cookie["path"], cookie["domain"]) == ("/", "")


def test_a_static_file_forbids_frames_too(product):
    page = httpx.get(f"{product.url}/login/").text
    path = re.search(r'"(/static/[^"]+\.svg)"', page)[1]

    headers = httpx.get(product.url + path).headers

    assert "frame-ancestors 'none'" in headers["Content-Security-Policy"]
    assert headers["X-Content-Type-Options"] == "nosniff"


def test_the_session_cookie_is_out_of_reach_of_scripts_and_of_other_sites(world):
    answer = Client().post("/login/", {"username": "bob", "password": "bob-password"})

    cookie = answer.cookies["sessionid"]
    assert cookie["httponly"] is True
    assert cookie["samesite"] == "Lax"


# -- requests from elsewhere ----------------------------------------------------------------------


def test_nothing_is_changed_under_a_session_without_its_csrf_token(callers, things, subtests):
    before = rows()
    client = client_of(callers["admin"])
    for route in CHANGING:
        with subtests.test(str(route)):
            client.cookies.pop("csrftoken", None)
            body, path = route.body(things), route.path(things)

            if route.is_api:
                answer = client.post(path, json.dumps(body), "application/json")
            else:
                answer = client.post(path, body)

            assert answer.status_code == 403
            assert rows() == before


@pytest.mark.parametrize(("name", "status"), WITHOUT_SESSION.items())
def test_an_address_without_csrf_token_takes_no_session(callers, things, name, status):
    (route,) = (route for route in SITE if str(route) == name)
    before = rows()

    answer = client_of(callers["admin"]).post(route.path(things), route.body(things))

    assert answer.status_code == status
    assert rows() == before


@pytest.mark.parametrize("content_type", CROSS_SITE)
def test_a_body_that_a_form_of_another_site_can_send_is_refused(
    content_type, callers, things, subtests
):
    before = rows()
    client = Client(enforce_csrf_checks=True, headers={"Origin": "http://evil.example"})
    for name, value in callers["admin"].cookies.items():
        client.cookies[name] = value
    body = CROSS_SITE[content_type]

    for route in (route_ for route_ in CHANGING if route_.is_api):
        with subtests.test(str(route)):
            answer = client.generic("POST", route.path(things), body, content_type)
            assert answer.status_code == 403
            assert rows() == before


@pytest.mark.parametrize("content_type", CROSS_SITE)
def test_rest_takes_nothing_but_json_also_with_a_key(content_type, callers, things):
    client = client_of(callers["k_run"])

    answer = client.generic("POST", "/api/runs", CROSS_SITE[content_type], content_type)

    assert answer.status_code == 415


@pytest.mark.parametrize("method", ["GET", "HEAD"])
def test_reading_changes_nothing_whatever_the_address(method, callers, things, settings):
    settings.RATE_LIMIT = settings.RATE_LIMIT_ANONYMOUS = ""  # more than 300 without an account
    before = rows()

    for route in SITE:
        for name in NAMES:
            client_of(callers[name]).generic(method, route.path(things))

    # Downloads of files are recorded, and nothing else.
    downloads = AuditEntry.objects.filter(action="file.downloaded").count()
    for table in ("AuditEntry", "AuditPayload"):
        before[table] += downloads
    assert rows() == before


# -- signing in -----------------------------------------------------------------------------------


def sign_in(client, username, password, **more):
    return client.post("/login/", {"username": username, "password": password, **more})


def test_an_unknown_name_and_a_wrong_password_read_the_same(world):
    wrong = sign_in(Client(), "bob", "guess")
    unknown = sign_in(Client(), "eve", "guess")

    assert wrong.status_code == unknown.status_code == 422
    assert words(wrong) == words(unknown)


def test_a_name_that_nobody_has_is_locked_like_one_that_somebody_has(world):
    answers = {}
    for name in ("bob", "eve"):
        for _ in range(settings.AXES_FAILURE_LIMIT):
            answers[name] = sign_in(Client(), name, "guess")

    assert answers["bob"].status_code == answers["eve"].status_code == 429
    assert words(answers["bob"]) == words(answers["eve"])
    assert "Too many sign-in attempts" in words(answers["eve"])


def test_an_account_that_is_inactive_reads_like_a_wrong_password(world):
    type(world.bob).objects.filter(pk=world.bob.pk).update(is_active=False)

    inactive = sign_in(Client(), "bob", "bob-password")

    assert inactive.status_code == 422
    assert words(inactive) == words(sign_in(Client(), "alice", "guess"))


@pytest.mark.parametrize(
    "target",
    [
        "http://evil.example/",
        "//evil.example",
        "https:evil.example",
        "/\\evil.example",
        "javascript:alert(1)",
        "http:///evil.example",
        "\thttp://evil.example",
    ],
)
def test_signing_in_never_leads_to_another_site(world, target):
    client = Client()

    assert sign_in(client, "bob", "bob-password", next=target).url == "/"
    assert client.get(f"/login/?next={quote(target)}").url == "/"


@pytest.mark.parametrize(
    "host", ["evil.example", "localhost.evil.example", "localhost@evil", "x y"]
)
@pytest.mark.parametrize("path", ["/login/", "/runs/"])
def test_a_host_that_is_not_ours_is_refused(db, settings, host, path):
    settings.ALLOWED_HOSTS = ["localhost", "127.0.0.1", "[::1]"]

    answer = Client().get(path, headers={"Host": host})

    assert answer.status_code == 400
    assert b"evil" not in answer.content


def test_signing_in_replaces_a_planted_session(world):
    client = Client()
    session = client.session
    session["planted"] = True
    session.save()
    planted = client.cookies["sessionid"].value

    sign_in(client, "bob", "bob-password")

    assert client.cookies["sessionid"].value != planted
    victim = Client()
    victim.cookies["sessionid"] = planted
    assert victim.get("/").status_code == 302


def test_a_session_ends_where_it_is_signed_out(world):
    client = Client()
    sign_in(client, "bob", "bob-password")
    session_key = client.cookies["sessionid"].value
    client.post("/logout/")

    thief = Client()
    thief.cookies["sessionid"] = session_key

    assert thief.get("/").status_code == 302
