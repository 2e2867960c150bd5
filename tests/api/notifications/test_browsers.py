"""REST: the browsers of the person who asks that get push messages."""

import json

import pytest
from django.test import Client

from inbox.models import Channel, Notification
from tests.support.notifications.push_server import Browser

PATH = "/api/me/channels"
ENDPOINT = "https://updates.push.services.mozilla.com/wpush/v2/very-secret"
FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Gecko/20100101 Firefox/130.0"


@pytest.fixture
def me(client, world):
    client.force_login(world.bob)
    return client


def add(client, body=None, **headers):
    body = body or Browser(ENDPOINT).body
    headers = {"user-agent": FIREFOX} | headers
    return client.post(PATH, body, content_type="application/json", headers=headers)


def test_people_add_list_test_and_remove_their_browsers(me):
    added = add(me)

    assert added.status_code == 201, added.content
    (browser,) = me.get(PATH).json()["results"]
    assert browser == added.json()
    assert browser["kind"] == "push"
    assert browser["label"] == "Firefox on Linux"
    assert browser["host"] == "updates.push.services.mozilla.com"
    assert (browser["mode"], browser["minutes"]) == ("if_waiting", 5)
    assert "very-secret" not in added.content.decode()
    assert (
        me.post(f"{PATH}/{browser['id']}/test", content_type="application/json").status_code == 202
    )
    assert Notification.objects.get().status == "pending"
    assert me.delete(f"{PATH}/{browser['id']}").status_code == 204
    assert me.get(PATH).json()["results"] == []


def test_the_name_of_a_browser_is_in_the_language_of_its_messages(me):
    body = {**Browser(ENDPOINT).body, "language": "de"}

    assert add(me, body).json()["label"] == "Firefox auf Linux"
    assert Channel.objects.get().language == "de"
    body.pop("language")
    assert add(me, body).json()["label"] == "Firefox auf Linux"
    assert Channel.objects.get().language == "de"


@pytest.mark.parametrize("user_agent", ["", "x" * 5_000, "<script>alert(1)</script>"])
def test_a_browser_of_an_unknown_kind_has_a_name_too(me, user_agent):
    assert add(me, **{"user-agent": user_agent}).json()["label"] == "A browser"


def test_a_choice_is_for_all_browsers(me):
    for name in ("one", "two"):
        add(me, Browser(f"{ENDPOINT}/{name}").body)

    choice = {"events": ["reminded"], "mode": "at_once", "minutes": 3}
    chosen = me.put(PATH, choice, content_type="application/json")

    assert chosen.status_code == 200, chosen.content
    rows = chosen.json()["results"]
    assert [{name: row[name] for name in choice} for row in rows] == [choice] * 2


def change(**values):
    body = Browser(ENDPOINT).body
    keys = body["keys"] | {name: values.pop(name) for name in ("p256dh", "auth") if name in values}
    return {**body, "keys": keys, **values}


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        (change(endpoint="http://push.example.com/x"), "must start with https://"),
        (change(endpoint="https://169.254.169.254/latest"), "points to a private network"),
        (change(endpoint="https://[::1]/x"), "points to a private network"),
        (change(endpoint="file:///etc/passwd"), "begins with http:// or https://"),
        (change(endpoint="https://push.example.com/" + "x" * 1_000_000), "no more than 2000"),
        (change(p256dh="AAAA"), "a point of P-256"),
        (change(p256dh="x" * 1_000_000), "no more than 100"),
        (change(auth="AAAA"), "16 bytes"),
        (change(keys={}), "p256dh"),
        (change(keys="x"), "keys"),
        (change(language="fr"), "language"),
        (change(endpoint=["https://push.example.com/"]), "endpoint"),
        (change(former_endpoint="javascript:alert(1)"), "former_endpoint"),
        ({"endpoint": None}, "endpoint"),
        ([], ""),
    ],
)
def test_hostile_subscriptions_are_refused_with_a_reason(me, body, problem):
    refused = add(me, body or [1])

    assert refused.status_code in (400, 422), refused.content
    assert problem in json.dumps(refused.json())
    assert not Channel.objects.exists()


def test_people_see_and_remove_only_their_own(me, world):
    added = add(me).json()
    carol = Client()
    carol.force_login(world.carol)

    assert carol.get(PATH).json()["results"] == []
    assert carol.delete(f"{PATH}/{added['id']}").status_code == 404
    assert (
        carol.post(f"{PATH}/{added['id']}/test", content_type="application/json").status_code == 404
    )
    assert len(me.get(PATH).json()["results"]) == 1


def test_a_key_of_a_program_has_no_browsers(client, world):
    headers = {"authorization": f"Bearer {world.key}"}

    assert client.get(PATH, headers=headers).status_code == 403
    assert add(client, **headers).status_code == 403


def test_another_site_cannot_add_a_browser(world):
    client = Client(enforce_csrf_checks=True)
    client.force_login(world.bob)

    assert add(client).status_code == 403
    assert not Channel.objects.exists()
