"""The page of a Slack app: its secrets are entered and never shown."""

import pytest

from inbox.models import AuditEntry, Channel
from inbox.platform.encryption import decrypt
from tests.support.notifications.slack_server import SECRET, TOKEN
from tests.support.policies.published import administrator

PATH = "/teams/tests/channels/"


@pytest.fixture
def admin(client, world):
    client.force_login(type(world.bob).objects.get(pk=administrator(world).user_id))
    return client


def fields(**more):
    return {
        "kind": "slack_app",
        "label": "#ops",
        "token": TOKEN,
        "signing_secret": SECRET,
        "workspace": "T0TESTS",
        "channel": "C0OPS",
        "events": ["opened"],
        "mode": "at_once",
        "minutes": "5",
        **more,
    }


def test_an_app_is_added_and_its_page_has_the_request_url(admin, settings):
    settings.PUBLIC_URL = "https://signoff.example.com"

    page = admin.post(f"{PATH}add", fields()).url
    text = admin.get(page).content.decode()

    row = Channel.objects.get()
    assert f"https://signoff.example.com/hooks/slack/{row.pk}" in text
    assert "T0TESTS" in text
    assert TOKEN not in text
    assert SECRET not in text
    assert decrypt(row.address)["token"] == TOKEN
    entry = AuditEntry.objects.get(action="channel.added")
    assert entry.content["detail"]["workspace"] == "T0TESTS"
    assert "secret" not in str(entry.content)
    assert SECRET not in str(entry.content)


def test_what_is_left_empty_stays(admin):
    page = admin.post(f"{PATH}add", fields()).url

    changes = fields(token="", signing_secret="", channel="C0NEXT")
    assert admin.post(f"{page}save", changes).status_code == 303
    assert admin.post(f"{page}save", changes).status_code == 303

    app = decrypt(Channel.objects.get().address)
    assert (app["token"], app["signing_secret"], app["channel"]) == (TOKEN, SECRET, "C0NEXT")
    (entry,) = AuditEntry.objects.filter(action="channel.changed")
    assert entry.content["detail"]["changed"] == ["channel"]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("token", value) for value in ("", "xoxp-1111-2222-secret", "xoxb-", "xoxb-11 11-22")),
        *(("signing_secret", value) for value in ("", "short", "é" * 32)),
        *(("workspace", value) for value in ("", "C0OPS", "t0tests")),
        *(("channel", value) for value in ("", "#ops", "D0PERSON", "C0OPS/x")),
    ],
)
def test_settings_that_slack_does_not_have_are_refused(admin, name, value):
    answer = admin.post(f"{PATH}add", fields(**{name: value}))

    assert answer.status_code == 422
    assert f'id="f-{name}-err"' in answer.content.decode()
    assert not Channel.objects.exists()


def test_a_rejected_form_repeats_no_secret(admin):
    text = admin.post(f"{PATH}add", fields(channel="")).content.decode()

    assert TOKEN not in text
    assert SECRET not in text
    assert "T0TESTS" in text
