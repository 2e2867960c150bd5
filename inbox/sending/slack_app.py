"""Messages of a Slack app: posted and edited with its token, over Slack's Web API."""

import json
import re
from dataclasses import dataclass, replace
from typing import Any

import structlog
from django.conf import settings

from inbox.actions.notifications.messages import Message, SendResult
from inbox.platform.encryption import decrypt
from inbox.rules.notifications.events import SendProblem
from inbox.sending.chats import build_payload, escape_slack, slack_link, slack_text
from inbox.sending.outgoing_http import Answer
from inbox.sending.posting import failure, post, retry_after

#: Errors after which the same call may succeed: https://docs.slack.dev/reference/methods
_TEMPORARY = frozenset(
    {
        *("ratelimited", "rate_limited", "internal_error", "fatal_error", "request_timeout"),
        *("service_unavailable", "team_added_to_org", "accesslimited"),
    }
)
_ANSWER_SECONDS = 1.0
log = structlog.get_logger(__name__)
_REF = re.compile(r"([A-Z0-9]{1,40}):([0-9]{1,20}\.[0-9]{1,10})")


@dataclass(frozen=True)
class _Call:
    """A method of the Web API, and its arguments."""

    method: str
    body: dict[str, Any]


def send_slack_message(message: Message) -> SendResult:
    """
    Post a message as the app, or edit it, in the active language.

    Raises:
        DecryptionFailed: the key of the settings is another one.
    """
    app = decrypt(message.address)
    call = _call(message, app["channel"])
    headers = {
        "Authorization": f"Bearer {app['token']}",
        "Content-Type": "application/json; charset=utf-8",
    }
    body = json.dumps(call.body, ensure_ascii=False)
    answer = post(f"{settings.SLACK_API_URL}{call.method}", body, headers)
    return answer if isinstance(answer, SendResult) else _result(answer)


def _call(message: Message, channel: str) -> _Call:
    payload = build_payload(message)
    sent = _REF.fullmatch(message.message_ref)
    if sent is None:
        return _Call("chat.postMessage", {"channel": channel, **payload})
    edit = {name: payload[name] for name in ("text", "blocks")}
    return _Call("chat.update", {"channel": sent[1], "ts": sent[2], **edit})


def _result(answer: Answer) -> SendResult:
    """Return the result of a call: Slack answers 200 to most errors, with `ok: false`."""
    if not answer.is_success:
        return failure(replace(answer, body=""), settings.SLACK_API_URL)
    try:
        body = json.loads(answer.body)
    except (ValueError, RecursionError):
        body = None
    if not isinstance(body, dict):
        return SendResult(SendProblem.TEMPORARY, f"{answer.status} without JSON")
    if body.get("ok") is True:
        ref = f"{body.get('channel')}:{body.get('ts')}"
        return SendResult(message_ref=ref if _REF.fullmatch(ref) else "")
    error = str(body.get("error"))
    error = error if re.fullmatch(r"[a-z0-9_]{1,80}", error) else "unknown_error"
    if error in _TEMPORARY:
        return SendResult(SendProblem.TEMPORARY, error, retry_after(answer))
    return SendResult(SendProblem.REFUSED, error)


def answer_press(url: str, text: str, *, link: str = "", link_text: str = "") -> bool:
    """
    Tell the person who pressed a button something that only they see; return whether it arrived.

    Slack does not read the body of our response to a press, so this is a request of its own. It is
    short: Slack waits three seconds for the response. An answer that is lost changes nothing.
    """
    blocks = [{"type": "section", "text": slack_text(text)}]
    if link:
        blocks.append(slack_link(link, link_text))
    body = {
        "response_type": "ephemeral",
        "replace_original": False,
        "text": escape_slack(text),
        "blocks": blocks,
    }
    answer = post(url, json.dumps(body, ensure_ascii=False), {}, seconds=_ANSWER_SECONDS)
    is_sent = isinstance(answer, Answer) and answer.is_success
    if not is_sent:
        log.warning("press not answered")
    return is_sent
