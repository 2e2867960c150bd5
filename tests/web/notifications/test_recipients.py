"""The request's page says who was told of it."""

import re

import pytest

from inbox import sweeper
from tests.support.notifications.chat_server import run_chat_server
from tests.support.notifications.subscribed import add_team_chat, send_all, subscribe_person
from tests.support.steps import open_interrupts, start


@pytest.fixture
def server(settings):
    settings.PRIVATE_WEBHOOK_HOSTS = frozenset({"127.0.0.1"})
    with run_chat_server() as state:
        yield state


def words(response):
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", response.content.decode()))


def test_the_page_names_people_and_chats_that_were_told(world, reads_bob, bob, dora, server, later):
    subscribe_person(bob)
    subscribe_person(dora, mode="if_waiting", minutes=5)
    add_team_chat(world, server.url, label="#ops")
    (interrupt,) = open_interrupts(start(world, "rehearse:tool_call"))
    page = f"/interrupts/{interrupt.pk}/"
    assert "Notified" not in words(reads_bob.get(page))

    sweeper.send_notifications()
    later(minutes=2)  # Bob uses the inbox, so he is told a minute later
    send_all()

    text = words(reads_bob.get(page))
    assert "Notified" in text
    assert "Bob New request · just now" in text
    assert "#ops New request · just now" in text
    assert "Dora New request · Waiting" in text


def test_the_page_says_who_could_not_be_told(world, reads_bob, server):
    add_team_chat(world, server.url, label="<b>ops</b>")
    server.status = 404
    (interrupt,) = open_interrupts(start(world, "rehearse:tool_call"))

    send_all()

    page = reads_bob.get(f"/interrupts/{interrupt.pk}/")
    answer = reads_bob.client.get(f"/api/interrupts/{interrupt.pk}/notifications").json()
    (row,) = answer["results"]
    assert (row["name"], row["is_chat"], row["status"], row["reason"]) == (
        "<b>ops</b>",
        True,
        "failed",
        "refused",
    )
    assert "Failed: The server refused the message." in words(page)
    assert "<b>ops" not in page.content.decode()
