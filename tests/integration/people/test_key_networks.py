"""API keys that work only from the networks that they are bound to."""

import pytest
from django.test import Client

from inbox.actions.people.api_key_usage import flush_usage
from inbox.actions.people.api_keys import change_networks, make_key, rotate_key
from inbox.platform.clock import database_now
from inbox.queries.people.access import require_current
from inbox.queries.people.api_keys import actor_of_key, check_credentials_valid
from inbox.queries.people.live_access import live_access_of
from inbox.realtime.websocket_auth import authenticate, close_code_of
from inbox.rules.errors import (
    InvalidValue,
    MoreThanOwn,
    NetworkNotAllowed,
    RequestRejected,
    Unauthenticated,
)
from inbox.rules.people.access import SEED, Permission
from inbox.rules.people.key_networks import (
    check_within_networks,
    is_address_allowed,
    parse_networks,
)
from tests.support.audit.entries import audited
from tests.support.http.rest_client import key_with

__all__ = ["key_with"]

OFFICE = ["192.0.2.0/24", "2001:db8::/32"]


@pytest.fixture
def key(world):
    scopes = {Permission.READ, Permission.RUN, Permission.DECIDE, Permission.ADMIN}
    return make_key(
        team_id=world.team.pk, name="office", scopes=scopes, networks=OFFICE, actor=SEED
    )


def call(token, *, address="192.0.2.7", path="/api/threads", **headers):
    headers["Authorization"] = f"Bearer {token}"
    return Client().get(path, headers=headers, REMOTE_ADDR=address)


@pytest.mark.parametrize(
    ("address", "status"),
    [
        ("192.0.2.7", 200),
        ("::ffff:192.0.2.7", 200),
        ("2001:db8::5", 200),
        ("192.0.3.7", 403),
        ("2001:db9::5", 403),
        ("127.0.0.1", 403),
    ],
)
def test_a_key_works_from_its_networks_only(key, address, status):
    answer = call(key[1], address=address)

    assert answer.status_code == status
    assert status == 200 or answer.json()["code"] == "NETWORK_NOT_ALLOWED"


def test_keys_without_networks_work_from_everywhere(world):
    assert call(world.key, address="203.0.113.9").status_code == 200


@pytest.mark.parametrize(
    ("proxies", "forwarded", "status"),
    [
        (0, "192.0.2.7", 403),  # without a trusted proxy the header is the client's own text
        (1, "192.0.2.7", 200),
        (1, "192.0.2.7, 203.0.113.9", 403),  # the first address is what the client claims
        (2, "192.0.2.7, 203.0.113.9", 200),
    ],
)
def test_the_address_is_that_of_the_trusted_proxies(settings, key, proxies, forwarded, status):
    settings.ALLAUTH_TRUSTED_PROXY_COUNT = proxies

    answer = call(key[1], address="10.0.0.1", **{"X-Forwarded-For": forwarded})

    assert answer.status_code == status


def test_use_from_elsewhere_is_audited_with_the_address(key):
    call(key[1], address="203.0.113.9")
    flush_usage()

    detail = audited("key.refused")[-1][1]
    assert (detail["name"], detail["reason"]) == ("office", "network")
    assert detail["address"] == "203.0.113.9"


def test_a_socket_from_elsewhere_is_refused(key):
    scope = {
        "type": "websocket",
        "path": "/ws/live/",
        "query_string": b"",
        "headers": [(b"authorization", f"Bearer {key[1]}".encode())],
        "client": ("203.0.113.9", 1),
        "server": ("testserver", 80),
    }
    with pytest.raises(RequestRejected) as refused:
        authenticate(scope)

    assert close_code_of(refused.value) == 4403
    assert authenticate({**scope, "client": ("192.0.2.7", 1)}).key_id == key[0].pk


def test_new_networks_end_connections_from_elsewhere(world, key):
    row, token = key
    actor = actor_of_key(token, "192.0.2.7")
    assert live_access_of([actor]) != [None]

    change_networks(key_id=row.pk, networks=["198.51.100.0/24"], actor=SEED)

    assert live_access_of([actor]) == [None]
    with pytest.raises(Unauthenticated):
        check_credentials_valid(actor)
    with pytest.raises(NetworkNotAllowed):
        require_current(actor, world.team.pk, Permission.READ, now=database_now())
    assert audited("key.networks_changed") == [
        (
            "key.networks_changed",
            {
                "key": str(row.pk),
                "name": "office",
                "prefix": row.prefix,
                "before": OFFICE,
                "networks": ["198.51.100.0/24"],
            },
        )
    ]


def test_a_key_cannot_make_or_widen_a_key_beyond_its_networks(world, key):
    row, token = key
    actor = actor_of_key(token, "192.0.2.7")
    about = {"team_id": world.team.pk, "name": "more", "scopes": {Permission.READ}}

    for networks in ([], ["0.0.0.0/0"], ["192.0.2.0/25", "203.0.113.0/24"]):
        with pytest.raises(MoreThanOwn):
            make_key(networks=networks, actor=actor, **about)
        with pytest.raises(MoreThanOwn):
            change_networks(key_id=row.pk, networks=networks, actor=actor)

    assert make_key(networks=["192.0.2.64/26"], actor=actor, **about)[1]


def test_a_key_cannot_take_the_token_of_a_key_with_more_networks(world, key):
    actor = actor_of_key(key[1], "192.0.2.7")
    about = {"team_id": world.team.pk, "scopes": {Permission.READ}, "actor": SEED}
    wider, _ = make_key(name="anywhere", **about)
    narrower, _ = make_key(name="desk", networks=["192.0.2.9"], **about)

    with pytest.raises(MoreThanOwn):
        rotate_key(key_id=wider.pk, actor=actor)

    assert rotate_key(key_id=narrower.pk, actor=actor)[1]


@pytest.mark.parametrize(
    ("texts", "networks"),
    [
        ([], []),
        ([" 192.0.2.7 "], ["192.0.2.7/32"]),
        (["2001:DB8::/32", "10.0.0.0/8", "10.0.0.0/8"], ["10.0.0.0/8", "2001:db8::/32"]),
    ],
)
def test_networks_are_stored_in_one_form(texts, networks):
    assert parse_networks(texts) == networks


@pytest.mark.parametrize("text", ["192.0.2.7/24", "example.com", "", "1.2.3.4/33", "0/0", "::/129"])
def test_what_is_no_network_is_refused(text):
    with pytest.raises(InvalidValue) as refused:
        parse_networks([text])

    assert list(refused.value.detail["problems"]) == ["networks"]


def test_a_key_has_up_to_50_networks():
    with pytest.raises(InvalidValue):
        parse_networks([f"10.0.{number}.0/24" for number in range(51)])


def test_no_address_is_in_no_network():
    assert not is_address_allowed("", ["0.0.0.0/0"])
    assert is_address_allowed("", [])
    check_within_networks([], [])


def test_rest_creates_reads_and_changes_networks(world, key_with):
    admin = key_with("read", "admin")
    body = {"name": "ci", "scopes": ["read"], "networks": ["192.0.2.0/24"]}
    created = admin.post("/api/teams/tests/keys", body).json()
    path = f"/api/keys/{created['id']}"

    changed = admin.patch(path, {"networks": ["198.51.100.7"]})
    refused = admin.patch(path, {"networks": ["nonsense"]})

    assert created["networks"] == ["192.0.2.0/24"]
    assert (changed.status_code, changed.json()["networks"]) == (200, ["198.51.100.7/32"])
    assert (refused.status_code, list(refused.json()["problems"])) == (422, ["networks"])
