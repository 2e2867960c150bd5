"""REST: chats of a team."""

import pytest

from tests.support.policies.published import administrator

PATH = "/api/teams/tests/channels"
CHAT = {"kind": "teams", "label": "Finance", "url": "https://chat.example.com/very-secret"}


@pytest.fixture
def admin(client, world):
    client.force_login(type(world.bob).objects.get(pk=administrator(world).user_id))
    return client


def send(client, method, path, body):
    return getattr(client, method)(path, body, content_type="application/json")


def test_a_chat_is_added_changed_tested_and_removed(admin):
    added = send(admin, "post", PATH, CHAT)
    assert added.status_code == 201
    chat = added.json()
    path = f"/api/channels/{chat['id']}"
    assert (chat["mode"], chat["minutes"], chat["host"]) == ("if_waiting", 5, "chat.example.com")
    assert chat["events"] == ["escalated", "expiring", "opened", "reminded"]
    assert "very-secret" not in added.content.decode()

    changed = send(admin, "patch", path, {"events": ["opened"], "enabled": False}).json()

    assert (changed["events"], changed["enabled"]) == (["opened"], False)
    assert (changed["label"], changed["disabled_reason"]) == ("Finance", "by_hand")
    refused = send(admin, "post", f"{path}/test", {})
    assert (refused.status_code, refused.json()["code"]) == (422, "INVALID_VALUE")
    assert send(admin, "patch", path, {"enabled": True}).json()["enabled"] is True
    assert send(admin, "post", f"{path}/test", {}).status_code == 202
    (row,) = admin.get(f"{path}/notifications").json()["results"]
    assert (row["kind"], row["status"]) == ("test", "pending")
    assert [item["id"] for item in admin.get(PATH).json()["results"]] == [chat["id"]]
    assert admin.delete(path).status_code == 204
    assert admin.get(path).status_code == 404
    assert admin.get(PATH).json()["results"] == []


@pytest.mark.parametrize(
    "change",
    [
        {"url": "http://10.0.0.1/"},
        {"url": "https://"},
        {"label": ""},
        {"events": []},
        {"events": ["overridden"]},
        {"minutes": 0},
        {"kind": "email"},
    ],
)
def test_wrong_input_is_refused(admin, change):
    refused = send(admin, "post", PATH, {**CHAT, **change})

    assert refused.status_code in (400, 422), refused.content
