"""Requests that Slack sends when somebody presses a button: their signature, then their fields."""

import json
import re
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import parse_qsl
from uuid import UUID

from django.conf import settings
from django.http import HttpRequest
from slack_sdk.signature import SignatureVerifier

from inbox.rules.notifications.slack_app import SlackApp
from inbox.sending.chats import APPROVE_ACTION

MAX_BYTES: Final = 64 * 1024
_FORM: Final = "application/x-www-form-urlencoded"
_USER: Final = re.compile(r"[UW][A-Z0-9]{2,30}")
_VALUE: Final = re.compile(r"([0-9a-f-]{36}) ([0-9a-f]{64})")
_MAX_NAME_CHARACTERS: Final = 80
_MAX_URL_CHARACTERS: Final = 500


@dataclass(frozen=True)
class Press:
    """A pressed button; `interrupt_id` is None unless it approves a request."""

    external_id: str
    name: str  #: which the person has chosen
    interrupt_id: UUID | None
    view_digest: str
    answer_url: str  #: "" if there is none that is Slack's


def read_press(request: HttpRequest, app: SlackApp) -> Press | None:
    """
    Return what a person pressed; None unless the workspace of the app has sent and signed it.

    The signature is checked before anything else is read. Slack repeats requests for which it gets
    no answer, so that one may come several times in five minutes.
    """
    # The signature of a longer body does not match its beginning.
    body = request.read(MAX_BYTES)
    if not _is_signed(body, request, app.signing_secret):
        return None
    if request.content_type != _FORM:
        return None
    payload = _payload(body)
    user = _object(payload.get("user"))
    workspaces = [_object(payload.get("team")).get("id"), user.get("team_id", app.workspace)]
    external_id = user.get("id")
    if workspaces != [app.workspace] * 2 or not isinstance(external_id, str):
        return None
    if payload.get("type") != "block_actions" or not _USER.fullmatch(external_id):
        return None
    interrupt_id, view_digest = _subject(payload.get("actions"))
    name = _printable(user.get("username") or user.get("name"))
    url = payload.get("response_url")
    return Press(external_id, name, interrupt_id, view_digest, _answer_url(url))


def _is_signed(body: bytes, request: HttpRequest, secret: str) -> bool:
    """Return whether the secret signed the body in the last five minutes."""
    stamp = request.headers.get("X-Slack-Request-Timestamp", "")
    signature = request.headers.get("X-Slack-Signature", "")
    try:
        return bool(secret) and SignatureVerifier(secret).is_valid(body, stamp, signature)
    except (ValueError, TypeError, ArithmeticError):
        # It raises errors for texts that are no UTF-8 or ASCII, and for times that are no numbers.
        return False


def _payload(body: bytes) -> dict[str, Any]:
    """Return the payload of a form, empty if it is not valid or not the only field."""
    try:
        fields = parse_qsl(body.decode(), keep_blank_values=True, max_num_fields=10)
        ((name, text),) = fields
        return _object(json.loads(text)) if name == "payload" else {}
    except (ValueError, RecursionError):
        return {}


def _object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _subject(actions: Any) -> tuple[UUID | None, str]:
    """Return the interrupt and view digest of the button that approves, if it was pressed."""
    action = _object(actions[0]) if isinstance(actions, list) and len(actions) == 1 else {}
    value = action.get("value")
    match = _VALUE.fullmatch(value) if isinstance(value, str) else None
    if action.get("action_id") != APPROVE_ACTION or match is None:
        return None, ""
    try:
        return UUID(match[1]), match[2]
    except ValueError:
        return None, ""


def _printable(name: Any) -> str:
    text = name if isinstance(name, str) else ""
    return "".join(filter(str.isprintable, text))[:_MAX_NAME_CHARACTERS]


def _answer_url(url: Any) -> str:
    """Return the URL for the answer if it is one of Slack's, as others could be anybody's."""
    is_ours = isinstance(url, str) and url.startswith(settings.SLACK_ANSWER_URL)
    return url if is_ours and len(url) <= _MAX_URL_CHARACTERS else ""
