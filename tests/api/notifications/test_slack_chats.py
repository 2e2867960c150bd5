"""REST: Slack apps of a team."""

import pytest

from inbox.models import Channel
from inbox.platform.encryption import decrypt
from tests.support.notifications.slack_server import SECRET, TOKEN
from tests.support.policies.published import administrator

PATH = "/api/teams/tests/channels"
APP = {
    "kind": "slack_app",
    "label": "#ops",
    "token": TOKEN,
    "signing_secret": SECRET,
    "workspace": "T0TESTS",
    "channel": "C0OPS",
}


@pytest.fixture
def admin(client, world):
    client.force_login(type(world.bob).objects.get(pk=administrator(world).user_id))
    return client


def send(client, method, path, body):
    return getattr(client, method)(path, body, content_type="application/json")


def test_an_app_is_added_and_changed(admin):
    added = send(admin, "post", PATH, APP)
    assert added.status_code == 201
    chat = added.json()
    assert (chat["workspace"], chat["channel"], chat["host"]) == ("T0TESTS", "C0OPS", "slack.com")
    assert chat["request_url"].endswith(f"/hooks/slack/{chat['id']}")

    changed = send(admin, "patch", f"/api/channels/{chat['id']}", {"channel": "C0NEXT"})

    assert changed.json()["channel"] == "C0NEXT"
    assert decrypt(Channel.objects.get().address)["token"] == TOKEN
    for answer in (added, changed, admin.get(PATH)):
        assert TOKEN not in answer.content.decode()
        assert SECRET not in answer.content.decode()


@pytest.mark.parametrize("name", ["token", "signing_secret", "workspace", "channel"])
def test_an_app_needs_all_its_settings(admin, name):
    settings = {key: value for key, value in APP.items() if key != name}

    refused = send(admin, "post", PATH, settings)

    assert refused.status_code == 422
    assert list(refused.json()["problems"]) == [name]


def test_a_webhook_needs_a_url(admin):
    refused = send(admin, "post", PATH, {"kind": "slack", "label": "#ops"})

    assert list(refused.json()["problems"]) == ["url"]
