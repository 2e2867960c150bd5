"""Chat messages: a payload for each kind of chat, posted to the URL of its webhook."""

import json
import re
from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from django.utils.translation import gettext

from inbox.actions.notifications.messages import Message, SendResult
from inbox.platform.encryption import decrypt
from inbox.rules.notifications.events import ChannelKind
from inbox.sending.message_texts import Block, MessageText, text_of
from inbox.sending.posting import failure, post

#: Requests that one message describes; it counts the others.
MAX_ITEMS = 5
#: Of Slack: https://docs.slack.dev/reference/block-kit/
_MAX_HEADER = 150
_MAX_FALLBACK = 3_000
_MAX_FIELDS = 10  # of a section
#: The name of the button that approves; presses of other buttons open links.
APPROVE_ACTION = "approve"
_HEADERS = {"Content-Type": "application/json; charset=utf-8"}


def send_chat_message(message: Message) -> SendResult:
    """
    Post a message to the webhook of a chat, or edit it there, in the active language.

    Raises:
        DecryptionFailed: the key of the URL is another one.
    """
    url = decrypt(message.address)
    method = "PATCH" if message.message_ref else "POST"
    is_discord = message.kind is ChannelKind.DISCORD
    address = _discord_url(url, message.message_ref) if is_discord else url
    body = json.dumps(build_payload(message), ensure_ascii=False)
    answer = post(address, body, _HEADERS, method=method)
    if isinstance(answer, SendResult):
        return answer
    if answer.is_success:
        return SendResult(message_ref=_discord_id(answer.body) if is_discord else "")
    return failure(answer, url)


def _discord_url(url: str, message_ref: str) -> str:
    """Return the URL that answers with the message, or that of a message; a thread remains."""
    parts = urlsplit(url)
    if message_ref:
        return urlunsplit(parts._replace(path=f"{parts.path.rstrip('/')}/messages/{message_ref}"))
    query = [pair for pair in parse_qsl(parts.query) if pair[0] != "wait"]
    return urlunsplit(parts._replace(query=urlencode([*query, ("wait", "true")])))


def _discord_id(body: str) -> str:
    """Return the id of the sent message, "" if the answer has none: it cannot be edited then."""
    try:
        sent = json.loads(body)
    except (ValueError, RecursionError):
        return ""
    name = sent.get("id") if isinstance(sent, dict) else None
    return name if isinstance(name, str) and re.fullmatch(r"[0-9]{1,20}", name) else ""


def build_payload(message: Message) -> dict[str, Any]:
    """Return the JSON for the chat; no text of an agent becomes a mention, a link or a format."""
    return _PAYLOADS[message.kind](text_of(message, most_blocks=MAX_ITEMS))


def _slack(text: MessageText) -> dict[str, Any]:
    """Return blocks whose texts are all `plain_text`, which Slack does not interpret."""
    blocks: list[dict[str, Any]] = [
        {"type": "header", "text": slack_text(text.subject[:_MAX_HEADER])}
    ]
    for block in text.blocks:
        pairs = (*block.facts, *block.details)
        fields = [slack_text(f"{label}: {value}") for label, value in pairs]
        blocks += [
            {"type": "section", "fields": fields[start : start + _MAX_FIELDS]}
            for start in range(0, len(fields), _MAX_FIELDS)
        ]
        if block.button:
            blocks += _slack_decision(block)
        elif block.url:
            blocks.append(slack_link(block.url, block.link_text))
    if text.summary:
        blocks.append({"type": "section", "text": slack_text("\n".join(text.summary))})
        if text.pending_url:
            blocks.append(slack_link(text.pending_url, gettext("Open the inbox")))
    fallback = escape_slack(text.subject)[:_MAX_FALLBACK]
    return {"text": fallback, "blocks": blocks, "unfurl_links": False, "unfurl_media": False}


def _slack_decision(block: Block) -> list[dict[str, Any]]:
    """
    Return the values of a call, and buttons to approve it and to open it.

    Rejecting needs a reason, which the request's page asks for. The value of a button has no
    authority: whoever presses it must be connected to a person who may decide.
    """
    texts = [slack_text(f"{name}: {value}") for name, value in block.values]
    confirm = {
        "title": slack_text(gettext("Approve this request?")),
        "text": slack_text(gettext("The agent goes on with these values.")),
        "confirm": slack_text(gettext("Approve")),
        "deny": slack_text(gettext("Back")),
    }
    approve = {
        "type": "button",
        "action_id": APPROVE_ACTION,
        "text": slack_text(gettext("Approve")),
        "style": "primary",
        "value": block.button,
        "confirm": confirm,
    }
    link = {"type": "button", "text": slack_text(gettext("Reject or review")), "url": block.url}
    fields = [{"type": "section", "fields": texts}] if texts else []
    buttons = [approve, link] if block.url else [approve]
    return [*fields, {"type": "actions", "elements": buttons}]


def slack_text(text: str) -> dict[str, Any]:
    return {"type": "plain_text", "text": escape_slack(text), "emoji": False}


def escape_slack(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def slack_link(url: str, text: str) -> dict[str, Any]:
    button = {"type": "button", "text": slack_text(text), "url": url}
    return {"type": "actions", "elements": [button]}


def _teams(text: MessageText) -> dict[str, Any]:
    """Return an Adaptive Card of rich text blocks, in which Teams reads no Markdown."""
    body: list[dict[str, Any]] = [_teams_text([_run(text.subject, is_title=True)])]
    for block in text.blocks:
        for label, value in (*block.facts, *block.details):
            body.append(_teams_text([_run(f"{label}: ", is_bold=True), _run(value)]))
        if block.url:
            body.append(_teams_link(block.url, block.link_text))
    body += [_teams_text([_run(line)]) for line in text.summary]
    if text.summary and text.pending_url:
        body.append(_teams_link(text.pending_url, gettext("Open the inbox")))
    card = {
        "$schema": "http://adaptivecards.io/schemas/adaptive-card.json",
        "type": "AdaptiveCard",
        "version": "1.4",
        "body": body,
    }
    kind = "application/vnd.microsoft.card.adaptive"
    return {"type": "message", "attachments": [{"contentType": kind, "content": card}]}


def _run(text: str, *, is_title: bool = False, is_bold: bool = False) -> dict[str, Any]:
    run: dict[str, Any] = {"type": "TextRun", "text": text}
    if is_title or is_bold:
        run["weight"] = "Bolder"
    return {**run, "size": "Large"} if is_title else run


def _teams_text(runs: list[dict[str, Any]]) -> dict[str, Any]:
    return {"type": "RichTextBlock", "inlines": runs}


def _teams_link(url: str, text: str) -> dict[str, Any]:
    action = {"type": "Action.OpenUrl", "title": text, "url": url}
    return {"type": "ActionSet", "actions": [action]}


def _discord(text: MessageText) -> dict[str, Any]:
    """Return embeds; values are code, in which Discord reads no Markdown, and nobody is pinged."""
    embeds: list[dict[str, Any]] = []
    for block in text.blocks:
        fields = [
            {"name": label, "value": _code(value), "inline": True} for label, value in block.facts
        ]
        fields += [
            {"name": label, "value": _code(value), "inline": False}
            for label, value in block.details
        ]
        embed: dict[str, Any] = {"title": block.link_text or text.subject, "fields": fields}
        embeds.append({**embed, "url": block.url} if block.url else embed)
    if text.summary:
        lines = "\n".join(map(_code, text.summary))
        embed = {"title": gettext("Open the inbox"), "description": lines}
        embeds.append({**embed, "url": text.pending_url} if text.pending_url else embed)
    return {
        "content": text.subject,
        "embeds": embeds[:10],
        "allowed_mentions": {"parse": []},
    }


def _compatible(text: MessageText) -> dict[str, Any]:
    """Return one text, as Mattermost and Rocket.Chat read no blocks; values are code."""
    lines = [text.subject]
    for block in text.blocks:
        pairs = (*block.facts, *block.details)
        lines += ["", *(f"{label}: {_code(value)}" for label, value in pairs)]
        lines += [_labelled_link(block)] if block.url else []
    if text.summary:
        lines += ["", *map(_code, text.summary), text.pending_url]
    return {"text": "\n".join(lines).rstrip(), "username": "Signoff"}


def _labelled_link(block: Block) -> str:
    return f"{block.link_text}: {block.url}"


def _code(text: str) -> str:
    """Return text between backticks; those in it become the modifier letter of that form."""
    return f"`{text.replace('`', chr(0x02CB))}`"


_PAYLOADS: dict[ChannelKind, Callable[[MessageText], dict[str, Any]]] = {
    ChannelKind.SLACK: _slack,
    ChannelKind.SLACK_APP: _slack,
    ChannelKind.TEAMS: _teams,
    ChannelKind.DISCORD: _discord,
    ChannelKind.SLACK_COMPATIBLE: _compatible,
}
