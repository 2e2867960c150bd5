"""The pages of a team's chats."""

import pytest

from inbox.models import Channel, Notification
from tests.support.notifications.chat_server import run_chat_server
from tests.support.notifications.subscribed import add_team_chat, send_all
from tests.support.policies.published import administrator
from tests.support.steps import start

PATH = "/teams/tests/channels/"
HOSTILE = "<script>alert(1)</script>\u202eops"


@pytest.fixture
def admin(client, world):
    client.force_login(type(world.bob).objects.get(pk=administrator(world).user_id))
    return client


@pytest.fixture
def server(settings):
    settings.PRIVATE_WEBHOOK_HOSTS = frozenset({"127.0.0.1"})
    with run_chat_server() as state:
        yield state


def fields(**more):
    return {
        "kind": "slack",
        "label": "#ops",
        "url": "https://hooks.example.com/services/very-secret",
        "events": ["opened", "reminded"],
        "mode": "at_once",
        "minutes": "5",
        **more,
    }


def add(admin, **more):
    done = admin.post(f"{PATH}add", fields(**more))
    assert done.status_code == 303
    return done.url


def text_of(response):
    return response.content.decode()


def test_a_chat_is_added_tested_and_removed(admin, server):
    page = add(admin, url=server.url)

    assert admin.post(f"{page}test").url == page
    send_all()

    assert server.bodies[0]["text"] == "Test of notifications by Signoff"
    assert "Sent" in text_of(admin.get(page))
    assert "#ops" in text_of(admin.get(PATH))
    assert admin.post(f"{page}remove").url == PATH
    assert "No chat gets messages" in text_of(admin.get(PATH))
    assert admin.get(page).status_code == 404


def test_a_failure_shows_the_answer_of_the_server(admin, server):
    server.status, server.answer = 403, b"invalid_token <b>"
    page = add(admin, url=server.url)
    admin.post(f"{page}test")

    send_all()

    text = text_of(admin.get(page))
    assert "403 invalid_token &lt;b&gt;" in text
    assert "The server refused the message." in text
    assert "Failing" in text_of(admin.get(PATH))


def test_a_chat_is_changed_and_switched(admin):
    page = add(admin)
    changed = fields(label="#alerts", url="", events=["escalated"], mode="if_waiting", minutes="9")

    assert admin.post(f"{page}save", changed).status_code == 303
    assert admin.post(f"{page}switch", {"on": "0"}).status_code == 303

    channel = Channel.objects.get()
    subscription = channel.subscription
    assert channel.label == "#alerts"
    assert channel.host == "hooks.example.com"
    assert (subscription.events, subscription.minutes) == (["escalated"], 9)
    text = text_of(admin.get(page))
    assert "An administrator switched it off." in text
    assert "Send a test message" not in text
    admin.post(f"{page}switch", {"on": "1"})
    assert "Send a test message" in text_of(admin.get(page))


def test_no_page_shows_the_url_and_hostile_names_are_text(admin):
    page = add(admin, label=HOSTILE)

    for path in (PATH, page):
        text = text_of(admin.get(path))
        assert "very-secret" not in text
        assert "<script>alert" not in text
    assert "\u202e" not in text_of(admin.get(PATH))


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"url": "http://example.com/"}, "url"),
        ({"label": ""}, "label"),
        ({"events": []}, "events"),
        ({"minutes": "soon"}, "minutes"),
        ({"mode": "never"}, "mode"),
        ({"kind": "pager"}, "kind"),
    ],
)
def test_errors_are_at_their_field_and_the_input_stays(admin, change, field):
    refused = admin.post(f"{PATH}add", fields(**change))

    text = text_of(refused)
    assert refused.status_code == 422
    assert f'href="#f-{field}"' in text
    assert f'id="f-{field}"' in text
    assert change.get("label") == "" or 'value="#ops"' in text
    assert not Channel.objects.exists()
    assert not Notification.objects.exists()


def test_a_test_of_a_chat_that_was_switched_off_meanwhile_is_refused(admin):
    page = add(admin)
    admin.post(f"{page}switch", {"on": "0"})

    refused = admin.post(f"{page}test")

    assert refused.status_code == 422
    assert "This chat is switched off." in text_of(refused)


def test_the_page_and_rest_count_notifications(admin, world, server, ask_and_send):
    ask_and_send()

    text = admin.get(PATH).content.decode()
    (row,) = admin.get("/api/teams/tests/notifications/metrics").json()["results"]

    assert "Last 7 days" in text
    assert (row["kind"], row["sent_count"], row["failed_count"]) == ("slack", 1, 0)
    assert row["p95_seconds"] >= 0


@pytest.fixture
def ask_and_send(world, server):
    def run():
        add_team_chat(world, server.url)
        start(world, "rehearse:tool_call")
        send_all()

    return run
