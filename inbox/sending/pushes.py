"""Push messages: their text, encrypted for one browser and posted to its push service."""

import json
from datetime import timedelta
from typing import Final
from urllib.parse import urlsplit

import jwt
from django.conf import settings
from django.utils.translation import gettext
from pydantic import AnyHttpUrl
from webpush import WebPush
from webpush.types import WebPushKeys, WebPushSubscription

from inbox.actions.notifications.messages import Message, SendResult
from inbox.platform import clock, encryption
from inbox.rules.notifications.events import SendProblem
from inbox.rules.notifications.push_subscriptions import PushSubscription
from inbox.sending.message_texts import text_of
from inbox.sending.posting import post_message

#: Push services take 4,096 bytes, with the encryption.
MAX_PAYLOAD_BYTES: Final = 3_000
#: A push service keeps a message for so long while the browser is not connected.
_MAX_LIFETIME: Final = timedelta(days=1)
#: RFC 8292 allows 24 hours.
_TOKEN_LIFETIME: Final = timedelta(hours=12)
#: The statuses of a subscription that has ended (RFC 8030, section 7.3).
_GONE: Final = (404, 410)
_DEFAULT_PORTS: Final = {"http": 80, "https": 443}


def send_push(message: Message) -> SendResult:
    """
    Send a push message to a browser, in the active language.

    Raises:
        DecryptionFailed: the key of the subscription is another one.
    """
    if not encryption.is_push_on():
        text = gettext("This installation sends no push messages.")
        return SendResult(SendProblem.TEMPORARY, text)
    subscription = PushSubscription(**encryption.decrypt(message.address))
    headers = {
        "Authorization": authorization_for(subscription.endpoint),
        "Content-Encoding": "aes128gcm",
        "TTL": str(int(lifetime_of(message).total_seconds())),
        "Topic": _topic(message),
        "Urgency": "high",
    }
    encrypted = encrypt_push(build_payload(message), subscription)
    return post_message(subscription.endpoint, encrypted, headers, gone=_GONE)


def build_payload(message: Message) -> bytes:
    """
    Return the JSON that the service worker shows, of at most MAX_PAYLOAD_BYTES.

    It describes the first request and counts the others. The URL is a path of this site.
    """
    text = text_of(message, most_blocks=1)
    facts = [f"{label}: {value}" for block in text.blocks for label, value in block.facts]
    body = "\n".join([*facts, *text.summary])
    if not message.items:
        body = gettext("Messages about requests will arrive in this browser.")
    values = {"title": text.subject, "url": _path(message), "tag": _topic(message)}
    payload = _json({**values, "body": body})
    while len(payload) > MAX_PAYLOAD_BYTES:
        body = body[: len(body) * 3 // 4]
        payload = _json({**values, "body": f"{body}…"})
    return payload


def _json(value: dict[str, str]) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode()


def _path(message: Message) -> str:
    if len(message.items) == 1:
        return f"/interrupts/{message.items[0].interrupt_id}/"
    return "/" if message.items else "/account/notifications/"


def _topic(message: Message) -> str:
    """
    Return at most 32 characters: a message replaces an earlier one with the same, if still there.

    So a reminder replaces the first message about a request; a retry replaces the same message.
    """
    return message.items[0].interrupt_id.hex if len(message.items) == 1 else message.message_id.hex


def lifetime_of(message: Message) -> timedelta:
    """Return how long the push service keeps the message: until the last request expires."""
    times = [item.expires_at for item in message.items]
    left = [at - clock.now() for at in times if at is not None]
    if not left or len(left) < len(times):
        return _MAX_LIFETIME
    return min(_MAX_LIFETIME, max(timedelta(), *left))


def encrypt_push(payload: bytes, subscription: PushSubscription) -> bytes:
    """Return a payload that only the browser can read (RFC 8291)."""
    private, public = encryption.push_pem_keys()
    keys = WebPushKeys(auth=subscription.auth, p256dh=subscription.p256dh)
    receiver = WebPushSubscription(endpoint=AnyHttpUrl(subscription.endpoint), keys=keys)
    # One instance for each message: `get` changes it.
    message = WebPush(private, public).get(payload, receiver, subscriber=settings.VAPID_SUBJECT)
    encrypted: bytes = message.encrypted
    return encrypted


def authorization_for(endpoint: str) -> str:
    """
    Return the header that identifies the installation to a push service (RFC 8292).

    The one of the library has no port in `aud`, and only mail addresses in `sub`.
    """
    claims = {
        "aud": _origin(endpoint),
        "exp": int((clock.now() + _TOKEN_LIFETIME).timestamp()),
        "sub": settings.VAPID_SUBJECT,
    }
    token = jwt.encode(claims, encryption.push_pem_keys()[0], algorithm="ES256")
    return f"vapid t={token}, k={encryption.push_public_key()}"


def _origin(url: str) -> str:
    """Return the origin of a URL (RFC 6454), with its port unless it is the default one."""
    parts = urlsplit(url)
    host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname
    is_default = parts.port in (None, _DEFAULT_PORTS.get(parts.scheme))
    return f"{parts.scheme}://{host}" + ("" if is_default else f":{parts.port}")
