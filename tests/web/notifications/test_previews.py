"""The preview of a message, made by the code that sends it, and the result of a test."""

from tests.support.notifications.subscribed import add_team_chat
from tests.support.policies.published import administrator
from tests.support.steps import start
from tests.support.web.pages import words


def test_preview_of_a_chat_is_about_the_latest_open_request(client, world):
    channel = add_team_chat(world, "https://hooks.example.com/services/x")
    client.force_login(type(world.bob).objects.get(pk=administrator(world).user_id))
    assert "An example: no request waits now." in words(client.get(f"/channels/{channel.pk}/"))

    start(world, "rehearse:tool_call")

    page = words(client.get(f"/channels/{channel.pk}/"))
    assert "rehearsal waits for a decision" in page
    assert "Tool, as the agent names it send_email" in page
    assert "An example" not in page


def test_preview_of_mails_shows_no_request_of_another_team(world, reads_bob, reads_carol):
    start(world, "rehearse:tool_call")

    assert "send_email" in words(reads_bob.get("/account/notifications/"))
    assert "send_email" not in words(reads_carol.get("/account/notifications/"))
