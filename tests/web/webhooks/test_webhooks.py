"""The pages of webhooks: who sees them, a secret that is shown once, the log, and the banner."""

import re

import pytest

from inbox.actions.webhooks.endpoints import add_webhook, change_webhook
from inbox.models import Delivery, WebhookEndpoint
from inbox.platform.encryption import decrypt
from inbox.rules.people.access import SEED
from inbox.sending import webhook_sender
from tests.support.http.webhook_receiver import receiver
from tests.support.steps import start
from tests.support.web.pages import err, words

__all__ = ["receiver"]

URL = "https://hooks.example.com/signoff"


@pytest.fixture
def hook(world, receiver):
    row, receiver.secret = add_webhook(
        team_id=world.team.pk,
        url=receiver.url,
        description="Chat.",
        event_types=["run.finished"],
        actor=SEED,
    )
    return row


@pytest.fixture
def failed(world, receiver, hook):
    """A message that the receiver did not want."""
    receiver.status, receiver.answer = 500, b"<b>no\xe2\x80\xaeway</b>"
    start(world, "rehearse:echo")
    webhook_sender.deliver(hook.pk)
    return Delivery.objects.get()


def path(hook, what=""):
    return f"/webhooks/{hook.pk}/{what}"


def test_only_administrators_are_led_to_webhooks(hook, reads_ana, reads_bob):
    assert '/webhooks/"' in reads_ana.get("/teams/").content.decode()
    assert '/webhooks/"' not in reads_bob.get("/teams/").content.decode()
    assert hook.url in words(reads_ana.get("/webhooks/"))
    assert reads_bob.get("/webhooks/").status_code == 403


def test_a_webhook_is_added_and_its_secret_is_shown_once(reads_ana, world):
    form = {"url": URL, "description": "Chat.", "events": ["run.finished", "interrupt.opened"]}
    added = reads_ana.client.post("/webhooks/add", form)

    row = WebhookEndpoint.objects.get()
    (secret,) = re.findall(r'id="secret">([^<]*)<', added.content.decode())
    assert decrypt(row.secret) == secret
    assert (row.url, row.description) == (URL, "Chat.")
    assert row.event_types == ["run.finished", "interrupt.opened"]
    assert "no-store" in added.headers["Cache-Control"]
    assert secret not in reads_ana.get(path(row)).content.decode()


def test_what_makes_no_sense_is_said_beside_its_field(reads_ana, world):
    refused = reads_ana.client.post("/webhooks/add", {"url": "http://x.example.com/"})

    assert refused.status_code == 422
    assert "The URL must start with https://." in err(refused, "f-url")
    assert "Choose at least one of these events" in words(refused)
    assert not WebhookEndpoint.objects.exists()


def test_a_webhook_is_changed_switched_off_and_removed(reads_ana, hook):
    opened = reads_ana.get(path(hook, "change/")).content.decode()
    assert f'value="{hook.url}"' in opened
    assert re.findall(r'value="([a-z.]+)" checked', opened) == ["run.finished"]

    changed = reads_ana.client.post(path(hook, "save"), {"url": URL, "events": ["run.interrupted"]})
    reads_ana.client.post(path(hook, "switch"))
    hook.refresh_from_db()
    assert changed.status_code == 303
    assert (hook.url, hook.event_types) == (URL, ["run.interrupted"])
    assert hook.disabled_reason == "by_hand"
    assert "Disabled by a team admin." in words(reads_ana.get(path(hook)))

    reads_ana.client.post(path(hook, "switch"), {"on": "1"})
    hook.refresh_from_db()
    assert hook.disabled_at is None
    reads_ana.client.post(path(hook, "remove"))
    assert reads_ana.get(path(hook)).status_code == 404


def test_a_new_secret_is_shown_once(reads_ana, hook):
    rotated = reads_ana.client.post(path(hook, "rotate"))

    (secret,) = re.findall(r'id="secret">([^<]*)<', rotated.content.decode())
    hook.refresh_from_db()
    assert decrypt(hook.secret) == secret
    page = reads_ana.get(path(hook))
    assert secret not in page.content.decode()
    assert "Messages are also signed with the old secret" in words(page)


def test_the_log_shows_every_attempt_and_nothing_that_the_receiver_hides(reads_ana, hook, failed):
    page = reads_ana.get(path(hook))

    text = words(page)
    assert "The receiver answered with status 500." in text
    assert "Retrying" in text
    assert "run.finished" in text
    assert "<b>no" not in page.content.decode()
    assert "\N{RIGHT-TO-LEFT OVERRIDE}" not in page.content.decode()


def test_a_message_is_sent_again_from_the_log(reads_ana, hook, failed, receiver):
    receiver.status = 204
    sent = reads_ana.client.post(f"/deliveries/{failed.message_id}/send")
    webhook_sender.deliver(hook.pk)

    assert sent.status_code == 303
    assert [delivery.id for delivery in receiver.received] == [f"msg_{failed.message_id.hex}"] * 2
    assert "Delivered" in words(reads_ana.get(path(hook)))


def test_all_that_was_given_up_is_sent_again(reads_ana, hook, failed, receiver):
    assert "replay" not in reads_ana.get(path(hook)).content.decode()
    Delivery.objects.update(status="failed")
    assert path(hook, "replay") in reads_ana.get(path(hook)).content.decode()

    receiver.status = 204
    reads_ana.client.post(path(hook, "replay"))
    webhook_sender.deliver(hook.pk)

    assert Delivery.objects.get().status == "delivered"


@pytest.mark.parametrize("what", ["test", "replay", "send"])
def test_what_cannot_be_sent_is_said_on_the_page(reads_ana, hook, failed, what):
    change_webhook(endpoint_id=hook.pk, enabled=False, actor=SEED)
    where = f"/deliveries/{failed.message_id}/send" if what == "send" else path(hook, what)

    refused = reads_ana.client.post(where)

    assert refused.status_code == 409
    assert "Enable it first" in words(refused)


def test_a_test_is_sent(reads_ana, hook, receiver):
    reads_ana.client.post(path(hook, "test"))
    webhook_sender.deliver(hook.pk)

    assert receiver.types == ["webhook.test"]
    assert "webhook.test" in words(reads_ana.get(path(hook)))


def test_the_log_goes_on_page_by_page(reads_ana, hook, world, monkeypatch):
    monkeypatch.setattr("inbox.web.webhooks.webhooks.PAGE", 1)
    for _ in range(2):
        start(world, "rehearse:echo")
    first, second = Delivery.objects.order_by("pk")

    latest = reads_ana.get(path(hook)).content.decode()
    before = reads_ana.get(f"{path(hook)}?before={second.message_id}").content.decode()

    assert f"before={second.message_id}" in latest
    assert f"sent-{first.message_id}" in before
    assert reads_ana.get(f"{path(hook)}?before=nonsense").status_code == 200


def test_a_webhook_that_was_left_alone_is_a_banner_for_administrators(
    reads_ana, reads_bob, reads_carol, hook, receiver, world
):
    banner = "A webhook was disabled:"
    assert banner not in words(reads_ana.get("/"))
    receiver.status = 410
    start(world, "rehearse:echo")
    webhook_sender.deliver(hook.pk)

    for address in ("/", "/decided/", "/agents/", "/webhooks/"):
        page = reads_ana.get(address)
        assert banner in words(page), address
        assert path(hook) in page.content.decode()
    for stranger in (reads_bob, reads_carol):
        assert banner not in words(stranger.get("/"))
    assert "(410)" in words(reads_ana.get(path(hook)))

    change_webhook(endpoint_id=hook.pk, enabled=True, actor=SEED)
    assert banner not in words(reads_ana.get("/"))


def test_one_that_was_switched_off_by_hand_is_no_trouble(reads_ana, hook):
    change_webhook(endpoint_id=hook.pk, enabled=False, actor=SEED)

    assert "A webhook was disabled:" not in words(reads_ana.get("/"))
