"""Posting messages to secret URLs, and the results that the servers' answers mean."""

from collections.abc import Collection, Mapping
from dataclasses import replace
from datetime import timedelta
from urllib.parse import parse_qsl, unquote, urlsplit

import httpx
from django.utils.translation import gettext

from agents.adapters.remote.allowed_addresses import AddressRefused
from inbox.actions.notifications.messages import SendResult
from inbox.platform.outgoing_hosts import webhook_hosts
from inbox.rules.notifications.events import SendProblem
from inbox.rules.text.safe_text import escape_invisible
from inbox.sending import outgoing_http
from inbox.sending.outgoing_http import Answer

#: Discord and Slack answer with the message itself.
_MAX_ANSWER_BYTES, _MAX_ANSWER_CHARACTERS = 100_000, 500
_SHORTEST_SECRET = 6


def post_message(
    url: str, body: str | bytes, headers: Mapping[str, str], *, gone: Collection[int] = ()
) -> SendResult:
    """
    Post a message to a URL that any member may have entered.

    `gone` are the statuses that say that its receiver does not exist. Of an answer from inside the
    network only the status is kept: the member must not read what stands there.
    """
    answer = post(url, body, headers)
    if isinstance(answer, SendResult):
        return answer
    if webhook_hosts().is_private(url):
        answer = replace(answer, body="")
    return SendResult() if answer.is_success else failure(answer, url, gone=gone)


def post(
    url: str,
    body: str | bytes,
    headers: Mapping[str, str],
    *,
    method: str = "POST",
    seconds: float | None = None,
) -> Answer | SendResult:
    """Send a body to an address that is allowed; return the problem without an answer."""
    try:
        return outgoing_http.post(
            url,
            body,
            headers,
            hosts=webhook_hosts(),
            most_bytes=_MAX_ANSWER_BYTES,
            method=method,
            seconds=seconds,
        )
    except AddressRefused:
        return SendResult(SendProblem.REFUSED, gettext("The address is not allowed."))
    except (TimeoutError, httpx.HTTPError, httpx.InvalidURL, OSError, UnicodeError) as error:
        return SendResult(SendProblem.TEMPORARY, type(error).__name__)


def failure(answer: Answer, url: str, *, gone: Collection[int] = ()) -> SendResult:
    """Return the result of an answer that is no success, without the secrets of the URL."""
    body = _without_secrets(answer.body[:_MAX_ANSWER_CHARACTERS], url)
    text = f"{answer.status} {escape_invisible(' '.join(body.split()))}".strip()
    if answer.status in gone:
        return SendResult(SendProblem.GONE, text)
    if answer.status in (408, 429) or answer.status >= 500:
        return SendResult(SendProblem.TEMPORARY, text, retry_after(answer))
    return SendResult(SendProblem.REFUSED, text)


def _without_secrets(text: str, url: str) -> str:
    """Return the answer of a server without the parts of the URL that it repeats."""
    parts = urlsplit(url)
    values = [value for _, value in parse_qsl(parts.query)]
    secrets = {url, parts.path, parts.query, *parts.path.split("/"), *values}
    secrets |= {unquote(secret) for secret in secrets}
    for secret in sorted(secrets, key=len, reverse=True):
        if len(secret) >= _SHORTEST_SECRET:
            text = text.replace(secret, "…")
    return text


def retry_after(answer: Answer) -> timedelta | None:
    """Return the seconds of a Retry-After header; dates are left out."""
    text = answer.headers.get("retry-after", "")
    is_number = text.isascii() and text.isdecimal() and len(text) < 6
    return timedelta(seconds=int(text)) if is_number else None
