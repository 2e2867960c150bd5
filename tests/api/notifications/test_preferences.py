"""REST: the notifications of the person who asks."""

import pytest

from inbox.models import Channel, Notification, Subscription
from tests.support.notifications.subscribed import confirm_address

PATH = "/api/me/notifications"
HOURS = {"quiet_from": "22:00", "quiet_to": "07:00", "zone": "Europe/Berlin"}


@pytest.fixture
def me(client, world, bob):
    confirm_address(bob, "bob@example.com")
    client.force_login(world.bob)
    return client


def put(client, body):
    return client.put(PATH, body, content_type="application/json")


def test_people_choose_read_and_end_their_notifications(me):
    assert me.get(PATH).json()["enabled"] is False

    chosen = put(me, {"events": ["opened"], "mode": "digest", "digest_at": "09:15", **HOURS})

    assert chosen.status_code == 200, chosen.content
    mine = me.get(PATH).json()
    assert mine == chosen.json()
    assert (mine["address"], mine["events"]) == ("bob@example.com", ["opened"])
    assert (mine["mode"], mine["digest_at"], mine["quiet_to"]) == ("digest", "09:15", "07:00")
    Channel.objects.update(language="de")
    put(me, {"mode": "at_once"})
    assert Channel.objects.get().language == "de"
    assert me.get(PATH).json()["quiet_from"] == "22:00"
    put(me, {"quiet_from": "", "quiet_to": ""})
    assert me.get(PATH).json()["quiet_from"] == ""
    assert me.delete(PATH).status_code == 204
    assert not Subscription.objects.exists()


def test_a_test_mail_is_queued(me):
    assert me.post(f"{PATH}/test", content_type="application/json").status_code == 202
    assert Notification.objects.get().status == "pending"


@pytest.mark.parametrize(
    "body",
    [
        {"events": []},
        {"events": ["overridden"]},
        {"mode": "never"},
        {"minutes": 0},
        {"zone": "Berlin"},
        {"quiet_from": "22:00", "quiet_to": ""},
        {"digest_at": "9"},
    ],
)
def test_wrong_choices_are_refused(me, body):
    assert put(me, body).status_code in (400, 422)
    assert not Subscription.objects.exists()


def test_people_without_an_address_are_told_so(client, world):
    client.force_login(world.bob)

    refused = put(client, {})

    assert refused.status_code == 422
    assert "Confirm an e-mail address first." in refused.json()["detail"]
