"""Push messages to the browsers of people: what is sent, when, and what becomes of failures."""

import json
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import jwt
import pytest
import webpush
from cryptography.hazmat.primitives.asymmetric import ec
from django.utils.translation import override

from inbox import sweeper
from inbox.actions.decisions.claims_and_comments import claim_interrupt
from inbox.actions.notifications.messages import Message
from inbox.actions.notifications.push_channels import (
    add_browser,
    choose_pushes,
    remove_browser,
    send_browser_test,
)
from inbox.actions.notifications.subscriptions import set_schedule
from inbox.models import AuditEntry, Channel, Notification, Subscription
from inbox.platform import clock, encryption
from inbox.queries.notifications.message_facts import Item
from inbox.queries.notifications.notifications import log_of_browsers, recipients_of
from inbox.queries.notifications.push_channels import browsers_of
from inbox.rules import errors
from inbox.rules.notifications.events import CHOICES, AnnouncementKind, ChannelKind
from inbox.rules.notifications.push_subscriptions import MAX_BROWSERS
from inbox.rules.notifications.schedule import Schedule
from inbox.sending import outgoing_http
from inbox.sending.pushes import (
    MAX_PAYLOAD_BYTES,
    authorization_for,
    build_payload,
    encrypt_push,
)
from tests.support.notifications.hostile_texts import HOSTILE_TEXTS
from tests.support.notifications.push_server import Browser, decode, run_push_server
from tests.support.notifications.subscribed import EVERY_EVENT, send_all, subscribe_person
from tests.support.policies.published import publish, rule, tool_is
from tests.support.steps import approve, reread, start

#: RFC 8291, section 5.
_SALT = "DGv6ra1nlYgDCS1FRnbzlw"
_SENDER = "yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw"
_RECEIVER = "q1dXpw3UpT5VOmu_cf_v6ih07Aems3njxI-JWgLcM94"
_AUTH = "BTBZMqHH6r4Tts7J_aSIgg"
_PLAIN = b"When I grow up, I want to be a watermelon"
_ENCRYPTED = (
    "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27ml"
    "mlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A_yl95bQpu6cVPT"
    "pK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN"
)


@pytest.fixture
def server(settings):
    settings.PRIVATE_WEBHOOK_HOSTS = frozenset({"127.0.0.1"})
    with run_push_server() as state:
        yield state


@pytest.fixture
def add(bob, server):
    """Return a function that adds a browser and returns it with its channel."""

    def add(name="one", *, actor=bob, language="en", mode="at_once", **values):
        browser = server.browser(name)
        channel = add_browser(
            subscription=browser.subscription,
            label="Firefox on Linux",
            language=language,
            actor=actor,
        )
        if mode:
            choose_pushes(
                **{"events": EVERY_EVENT, "mode": mode, "minutes": 5, "language": None} | values,
                actor=actor,
            )
        return browser, channel

    return add


def states():
    return [(row.status, row.why) for row in Notification.objects.order_by("pk")]


# -- encryption and identification ----------------------------------------------------------------


def test_a_message_is_encrypted_as_in_the_example_of_rfc_8291(monkeypatch):
    def key(text):
        return ec.derive_private_key(int.from_bytes(decode(text), "big"), ec.SECP256R1())

    browser = Browser("https://push.example.com/x", key(_RECEIVER), decode(_AUTH))
    assert browser.decrypt(decode(_ENCRYPTED)) == _PLAIN
    monkeypatch.setattr(webpush.os, "urandom", lambda _: decode(_SALT))
    monkeypatch.setattr(webpush.ec, "generate_private_key", lambda *_: key(_SENDER))

    assert encrypt_push(_PLAIN, browser.subscription) == decode(_ENCRYPTED)


def test_each_message_has_a_salt_and_a_key_of_its_own():
    browser = Browser("https://push.example.com/x")
    first, second = (encrypt_push(_PLAIN, browser.subscription) for _ in range(2))

    assert browser.decrypt(first) == browser.decrypt(second) == _PLAIN
    assert first[:16] != second[:16]
    assert first[21:86] != second[21:86]


@pytest.mark.parametrize(
    ("endpoint", "audience"),
    [
        ("https://push.example.com/x", "https://push.example.com"),
        ("https://push.example.com:443/x", "https://push.example.com"),
        ("https://push.example.com:8443/x?y", "https://push.example.com:8443"),
        ("http://127.0.0.1:8080/x", "http://127.0.0.1:8080"),
        ("https://[2001:db8::1]:8443/x", "https://[2001:db8::1]:8443"),
    ],
)
def test_the_installation_identifies_itself_to_the_push_service(endpoint, audience, settings):
    settings.VAPID_SUBJECT = "mailto:ops@example.com"
    scheme, token, key = authorization_for(endpoint).replace("t=", "").replace("k=", "").split(" ")

    point = ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), decode(key))
    claims = jwt.decode(token.rstrip(","), point, algorithms=["ES256"], audience=audience)

    assert (scheme, key) == ("vapid", encryption.push_public_key())
    assert claims["sub"] == "mailto:ops@example.com"
    lifetime = datetime.fromtimestamp(claims["exp"], UTC) - clock.now()
    assert timedelta(hours=1) < lifetime <= timedelta(hours=24)


# -- sending --------------------------------------------------------------------------------------


def test_each_browser_gets_a_message_about_a_new_request(add, ask, server):
    browsers = {f"/push/{name}-very-secret": add(name)[0] for name in ("one", "two")}
    interrupt = ask()

    send_all()
    send_all()

    assert states() == [("sent", "")] * 2
    assert {path for path, *_ in server.messages} == set(browsers)
    for path, headers, body in server.messages:
        message = browsers[path].read(body)
        assert message["title"] == "rehearsal waits for a decision"
        assert message["url"] == f"/interrupts/{interrupt.pk}/"
        assert message["tag"] == interrupt.pk.hex == headers["Topic"]
        assert "Team: Tests" in message["body"]
        assert (headers["Content-Encoding"], headers["Urgency"]) == ("aes128gcm", "high")
        assert headers["TTL"] == "86400"
        assert headers["Content-Type"] == "application/octet-stream"


def test_who_was_told_tells_a_push_message_from_a_mail(add, ask, bob):
    subscribe_person(bob)
    add()
    interrupt = ask()

    send_all()

    recipients = [(row.name, row.is_push, row.status) for row in recipients_of(interrupt)]
    assert sorted(recipients) == [("Bob", False, "sent"), ("Bob", True, "sent")]


def test_a_message_has_no_arguments_of_the_call(add, ask, server):
    browser, _ = add()
    interrupt = ask()
    values = [str(value) for value in json.loads(interrupt.args).values()]

    send_all()

    ((_, headers, body),) = server.messages
    plain = browser.decrypt(body).decode()
    assert values
    assert not any(value in plain for value in values)
    assert interrupt.title not in plain
    assert not any(value in json.dumps(headers) for value in values)


def test_several_requests_are_one_message_that_counts(add, ask, server):
    browser, _ = add()
    for _ in range(3):
        ask()

    send_all()

    ((_, headers, body),) = server.messages
    message = browser.read(body)
    assert message["title"] == "3 requests wait for a decision"
    assert "2 more of rehearsal, send_email" in message["body"]
    assert message["url"] == "/"
    assert headers["Topic"] == Notification.objects.first().message_id.hex


def test_a_message_is_in_the_language_of_the_browser(add, ask, server):
    browser, _ = add(language="de")
    ask()

    send_all()

    assert browser.read(server.messages[0][2])["title"] == "rehearsal wartet auf eine Entscheidung"


def test_a_message_is_kept_by_the_service_until_the_request_expires(add, ask, server):
    add()
    interrupt = ask()
    expires_at = clock.now() + timedelta(minutes=10)
    type(interrupt).objects.filter(pk=interrupt.pk).update(expires_at=expires_at)

    send_all()

    assert 580 < int(server.messages[0][1]["TTL"]) <= 600


def test_browsers_are_told_later_unless_somebody_takes_the_request(
    add, ask, dora, bob, server, later
):
    browser, _ = add(mode="if_waiting")
    claimed, waiting, closed = ask(), ask(), ask()
    send_all()
    assert server.messages == []
    approve(closed, bob)
    later(minutes=4, seconds=59)

    claim_interrupt(interrupt_id=claimed.pk, actor=dora)
    later(minutes=5)
    send_all()

    ((*_, body),) = server.messages
    assert str(waiting.pk) in browser.read(body)["url"]
    assert sorted(states()) == [("dropped", "claimed"), ("dropped", "closed"), ("sent", "")]


def test_browsers_are_silent_in_quiet_hours(add, ask, bob, server):
    add()
    now = clock.now()
    quiet = Schedule("UTC", (now - timedelta(hours=1)).time(), (now + timedelta(hours=1)).time())
    set_schedule(schedule=quiet, actor=bob)
    ask()

    send_all()

    assert server.messages == []
    assert states() == [("pending", "")]


def test_people_who_may_not_decide_get_no_message(add, ask, alice, server):
    add(actor=alice)
    ask()

    send_all()

    assert server.messages == []


def test_reminders_of_policies_are_sent_at_once(world, add, server, later):
    publish(world, rule("slow", "ask", tool_is("send_email"), require={"remind": ["PT10M"]}))
    browser, _ = add(events=("reminded",))
    start(world, "rehearse:tool_call")
    later(minutes=11)
    sweeper.sweep()
    send_all()

    titles = [browser.read(body)["title"] for *_, body in server.messages]
    assert titles == ["Reminder: rehearsal waits for a decision"]


# -- what the push service answers ----------------------------------------------------------------


@pytest.mark.parametrize("status", [404, 410])
def test_a_browser_that_has_unsubscribed_is_removed_at_once(add, ask, bob, server, status):
    _, channel = add()
    server.status = status
    ask()
    ask()

    send_all()

    row = reread(channel)
    assert row.removed_at is not None
    assert (row.address, row.address_digest) == ("", "")
    assert states() == [("failed", "gone")] * 2
    assert browsers_of(bob) == []
    assert [entry.why for entry in log_of_browsers(bob.user_id)] == ["gone", "gone"]
    entry = AuditEntry.objects.get(action="channel.removed")
    assert "system:notifications" in json.dumps(entry.content)
    ask()
    send_all()
    assert len(server.messages) == 1


@pytest.mark.parametrize("status", [400, 401, 403, 413])
def test_a_refused_message_is_given_up_and_the_browser_stays(add, ask, bob, server, status):
    add()
    server.status = status
    ask()

    send_all()

    assert states() == [("failed", "refused")]
    (browser,) = browsers_of(bob)
    assert browser.answer.startswith(str(status))
    assert not browser.is_disabled


@pytest.mark.parametrize(("status", "wait"), [(429, 40), (500, 5), (503, 5)])
def test_a_service_that_cannot_take_a_message_gets_it_later(add, ask, server, later, status, wait):
    add()
    ask()
    server.status, server.headers = status, {"Retry-After": "40"} if status == 429 else {}
    send_all()
    assert states() == [("pending", "")]

    later(seconds=wait - 1)
    send_all()
    assert len(server.messages) == 1
    server.status = 201
    later(seconds=wait + 1)
    send_all()

    assert states() == [("sent", "")]
    topics = {headers["Topic"] for _, headers, _ in server.messages}
    assert len(topics) == 1


def test_a_redirect_of_the_service_is_not_followed(add, ask, server):
    add()
    server.status, server.headers = 307, {"Location": "http://169.254.169.254/latest"}
    ask()

    send_all()

    assert len(server.messages) == 1
    assert states() == [("failed", "refused")]


def test_a_slow_or_broken_service_is_tried_again(add, ask, server, later, monkeypatch):
    monkeypatch.setattr(outgoing_http, "ANSWER_SECONDS", 0.3)
    _, channel = add()
    ask()
    server.may_answer.clear()
    send_all()
    assert reread(channel).answer == "TimeoutError"
    server.may_answer.set()
    server.is_nonsense = True
    later(seconds=6)
    send_all()
    assert reread(channel).answer == "RemoteProtocolError"
    server.is_nonsense = False

    later(minutes=2)
    send_all()

    assert states() == [("sent", "")]


def test_a_browser_that_was_refused_for_a_day_is_switched_off(add, ask, bob, server, later):
    _, channel = add()
    server.status = 403
    for hours in (0, 13, 25):
        later(hours=hours)
        ask()
        send_all()
    (browser,) = browsers_of(bob)
    assert browser.is_disabled

    server.status = 201
    send_browser_test(channel_id=channel.pk, actor=bob)
    send_all()

    assert not browsers_of(bob)[0].is_disabled
    assert len(server.messages) == 4


def test_of_an_answer_from_inside_the_network_the_status_is_kept(add, ask, bob, server):
    add()
    server.status, server.answer = 403, b"no /push/one-very-secret here"
    ask()

    send_all()

    assert browsers_of(bob)[0].answer == "403"


def test_an_endpoint_inside_our_network_is_never_called(add, ask, server, settings):
    _, channel = add()
    settings.PRIVATE_WEBHOOK_HOSTS = frozenset()
    ask()

    send_all()

    assert server.messages == []
    assert reread(channel).answer == "The address is not allowed."


def test_without_its_key_the_installation_sends_later(add, ask, server, settings, later):
    add()
    ask()
    key, settings.VAPID_KEY = settings.VAPID_KEY, ""
    send_all()
    assert states() == [("pending", "")]

    settings.VAPID_KEY = key
    later(seconds=6)
    send_all()

    assert states() == [("sent", "")]


# -- payloads -------------------------------------------------------------------------------------


def message_about(kind, *texts, language="en"):
    items = [
        Item(uuid4(), kind, text, "rehearsal", text, text, datetime(2030, 1, 1, tzinfo=UTC))
        for text in texts
    ]
    return Message(uuid4(), 1, uuid4(), ChannelKind.PUSH, "", language, items)


@pytest.mark.parametrize("language", ["en", "de"])
@pytest.mark.parametrize("kind", CHOICES)
def test_no_hostile_text_breaks_a_message_or_adds_a_link(kind, language):
    messages = [message_about(kind, text) for text in HOSTILE_TEXTS]
    messages += [message_about(kind, text, *HOSTILE_TEXTS[:50]) for text in HOSTILE_TEXTS]
    messages.append(message_about(AnnouncementKind.TEST))
    with override(language):
        for message in messages:
            payload = build_payload(message)

            content = json.loads(payload)
            assert len(payload) <= MAX_PAYLOAD_BYTES
            assert set(content) == {"title", "body", "url", "tag"}
            assert content["url"].startswith("/")
            assert not content["url"].startswith("//")
            assert "://" not in content["body"].replace("[://]", "")
            assert "evil.example" not in content["body"] + content["title"]
            assert len(content["tag"]) == 32


def test_a_message_that_would_be_too_long_is_shortened():
    texts = ["\U0001d54a" * 80 + str(number) for number in range(20)]

    payload = build_payload(message_about("opened", *texts))

    assert MAX_PAYLOAD_BYTES // 2 < len(payload) <= MAX_PAYLOAD_BYTES
    assert json.loads(payload)["body"].endswith("…")


# -- browsers -------------------------------------------------------------------------------------


def test_the_endpoint_is_stored_encrypted_and_in_no_audit_entry(add, bob):
    _, channel = add()

    assert "very-secret" not in json.dumps(Channel.objects.values().get(), default=str)
    (entry,) = AuditEntry.objects.filter(action="channel.added")
    detail = entry.content["detail"]
    assert (detail["host"], detail["label"]) == ("127.0.0.1", "Firefox on Linux")
    remove_browser(channel_id=channel.pk, actor=bob)
    entries = AuditEntry.objects.filter(action__startswith="channel.")
    assert [entry.action for entry in entries.order_by("pk")] == [
        "channel.added",
        "channel.removed",
    ]
    assert not any("very-secret" in json.dumps(entry.content) for entry in entries)


def test_the_same_browser_again_has_one_channel_with_its_new_keys(add, ask, server):
    add()
    browser, _ = add(mode="")
    ask()

    send_all()

    ((*_, body),) = server.messages
    assert browser.read(body)["title"]
    assert AuditEntry.objects.filter(action="channel.added").count() == 1


def test_a_browser_belongs_to_the_person_who_subscribed_last(add, ask, bob, dora, server):
    add()
    browser, _ = add(actor=dora)
    ask()

    send_all()

    ((*_, body),) = server.messages
    assert browser.read(body)["title"]
    assert browsers_of(bob) == []
    assert len(browsers_of(dora)) == 1
    assert AuditEntry.objects.filter(action="channel.removed").count() == 1


def test_a_browser_with_a_new_endpoint_keeps_its_channel(add, bob, server):
    former, channel = add()
    renewed = server.browser("renewed")

    add_browser(
        subscription=renewed.subscription,
        label="other",
        language=None,
        former_endpoint=former.subscription.endpoint,
        actor=bob,
    )

    (browser,) = browsers_of(bob)
    assert (browser.id, browser.label) == (channel.pk, "Firefox on Linux")
    assert browser.digest == renewed.subscription.digest


def test_nobody_takes_a_channel_by_naming_its_endpoint_as_former(add, bob, dora, server):
    former, channel = add()

    add_browser(
        subscription=server.browser("other").subscription,
        label="other",
        language="en",
        former_endpoint=former.subscription.endpoint,
        actor=dora,
    )

    assert [browser.id for browser in browsers_of(bob)] == [channel.pk]


def test_a_new_browser_gets_what_the_others_get(add):
    _, first = add(events=("reminded",), mode="at_once", minutes=9)
    _, second = add("two", mode="")

    values = ("events", "mode", "minutes")
    rows = Subscription.objects.filter(channel__in=[first, second]).values_list(*values)
    assert list(rows) == [(["reminded"], "at_once", 9)] * 2


def test_the_first_browser_gets_all_events_that_wait(add):
    add(mode="")

    row = Subscription.objects.get()
    assert (row.events, row.mode, row.minutes) == (list(CHOICES), "if_waiting", 5)


def test_a_choice_is_for_all_browsers_and_audited_once(add, bob):
    add(mode="")
    add("two", mode="")
    for _ in range(2):
        choose_pushes(events=["opened"], mode="at_once", minutes=7, language="de", actor=bob)

    rows = Subscription.objects.values_list("events", "mode", "minutes")
    assert list(rows) == [(["opened"], "at_once", 7)] * 2
    assert set(Channel.objects.values_list("language", flat=True)) == {"de"}
    assert AuditEntry.objects.filter(action="subscription.changed").count() == 1


@pytest.mark.parametrize(
    ("values", "field"),
    [
        ({"events": []}, "events"),
        ({"events": ["test"]}, "events"),
        ({"mode": "digest"}, "mode"),
        ({"mode": "never"}, "mode"),
        ({"minutes": 0}, "minutes"),
    ],
)
def test_wrong_choices_are_refused(add, bob, values, field):
    add(mode="")
    choice = {"events": ["opened"], "mode": "at_once", "minutes": 5, "language": None}

    with pytest.raises(errors.InvalidValue) as refused:
        choose_pushes(**choice | values, actor=bob)

    assert list(refused.value.detail["problems"]) == [field]


def test_without_a_browser_there_is_nothing_to_choose(bob):
    with pytest.raises(errors.InvalidValue, match="in a browser first"):
        choose_pushes(events=["opened"], mode="at_once", minutes=5, language=None, actor=bob)


def test_a_person_has_a_limited_number_of_browsers(add):
    for number in range(MAX_BROWSERS):
        add(str(number), mode="")

    with pytest.raises(errors.InvalidValue, match="at most 10 browsers"):
        add("too-many", mode="")
    add("0", mode="")  # a known one


def test_people_remove_and_test_only_their_own_browsers(add, dora, bob):
    _, channel = add()
    for act in (remove_browser, send_browser_test):
        with pytest.raises(errors.NotFound):
            act(channel_id=channel.pk, actor=dora)
    remove_browser(channel_id=channel.pk, actor=bob)

    with pytest.raises(errors.NotFound):
        send_browser_test(channel_id=channel.pk, actor=bob)


def test_an_address_for_mails_is_no_browser(bob):
    channel = subscribe_person(bob)

    for act in (remove_browser, send_browser_test):
        with pytest.raises(errors.NotFound):
            act(channel_id=channel.pk, actor=bob)


def test_a_removed_browser_gets_nothing_that_waited(add, ask, bob, server):
    _, channel = add()
    ask()
    sweeper.send_notifications()
    remove_browser(channel_id=channel.pk, actor=bob)

    send_all()

    assert server.messages == []
    assert ("dropped", "removed") in states()


def test_a_test_message_says_that_messages_will_arrive(add, bob, server):
    browser, channel = add()

    send_browser_test(channel_id=channel.pk, actor=bob)
    send_all()

    ((*_, body),) = server.messages
    assert browser.read(body)["title"] == "Test of notifications by Signoff"
    assert browser.read(body)["url"] == "/account/notifications/"


def test_labels_have_no_invisible_characters_and_a_limited_length(bob, server):
    channel = add_browser(
        subscription=server.browser().subscription,
        label="\u202eevil" + "x" * 100,
        language="en",
        actor=bob,
    )

    assert "\u202e" not in channel.label
    assert len(channel.label) == 80


def test_an_installation_without_a_key_adds_no_browser(bob, server, settings):
    settings.VAPID_KEY = ""

    with pytest.raises(errors.InvalidValue, match="sends no push messages"):
        add_browser(subscription=server.browser().subscription, label="x", language="en", actor=bob)
