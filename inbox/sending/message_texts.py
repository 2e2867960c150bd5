"""The text of messages, for every kind of channel: facts that Signoff knows, and links to it."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from django.conf import settings
from django.utils.formats import date_format
from django.utils.translation import gettext, ngettext

from inbox.actions.notifications.messages import DisabledChat, Item, Message, Publication
from inbox.rules.notifications.events import AnnouncementKind
from inbox.rules.notifications.outcomes import Closing, Outcome
from inbox.rules.people.access import POLICY
from inbox.rules.text.safe_text import escape_invisible

_MAX_NAME_CHARACTERS = 80
_MAX_REASON_CHARACTERS = 500
#: Agents and tools that a summary counts; it adds up the others.
_MAX_COUNTED = 10
#: What programs that display text make a link of.
_LINK = re.compile(r"://|(?<=\w)\.(?=\w)|@")
_LINK_IN_VALUE = re.compile(r"://|(?<=\w)\.(?=\w)(?!(?<=\d\.)\d)|@")


@dataclass(frozen=True)
class Block:
    """The facts about one request or event, as pairs of label and value, and a link to it."""

    facts: Sequence[tuple[str, str]]
    url: str = ""  #: "" if the installation does not know its own address
    link_text: str = ""
    #: Values of the call, and the value of a button that approves it: "" for no button.
    values: Sequence[tuple[str, str]] = ()
    button: str = ""


@dataclass(frozen=True)
class MessageText:
    """A message in the active language; `summary` has lines about what has no block."""

    subject: str
    blocks: Sequence[Block]
    summary: Sequence[str]
    pending_url: str  #: of all requests


def text_of(message: Message, *, most_blocks: int) -> MessageText:
    """Return what a message says; it has no arguments of calls."""
    items = message.items[:most_blocks]
    blocks = [
        *(_request(item) for item in items),
        *(_publication(item) for item in message.publications[:most_blocks]),
        *(_disabled_chat(item) for item in message.disabled_chats[:most_blocks]),
    ]
    open_items = [item for item in message.items[most_blocks:] if item.closing is None]
    return MessageText(_subject(message), blocks, _counts(open_items), link_to("/"))


def link_to(path: str) -> str:
    """Return the address of a page, "" if the installation does not know its own."""
    return f"{settings.PUBLIC_URL}{path}" if settings.PUBLIC_URL else ""


def _subject(message: Message) -> str:
    """Return a subject of facts that agents cannot set."""
    if message.is_mandatory:
        return _notice_subject(message)
    items = [item for item in message.items if item.closing is None]
    count = len(items)
    if message.items and not count:
        return _closed_subject(message.items)
    if count == 0:
        return gettext("Test of notifications by Signoff")
    if len(message.items) > 1:
        return ngettext(
            "{count} request waits for a decision", "{count} requests wait for a decision", count
        ).format(count=count)
    item = items[0]
    pattern = {
        AnnouncementKind.REMINDED: gettext("Reminder: {agent} waits for a decision"),
        AnnouncementKind.ESCALATED: gettext("Escalated: {agent} waits for a decision"),
    }.get(AnnouncementKind(item.kind), gettext("{agent} waits for a decision"))
    return pattern.format(agent=item.agent)


def _closed_subject(items: Sequence[Item]) -> str:
    if len(items) > 1:
        return gettext("None of these {count} requests waits any more").format(count=len(items))
    return gettext("A request of {agent} is closed").format(agent=items[0].agent)


def _notice_subject(message: Message) -> str:
    count = len(message.items) + len(message.publications) + len(message.disabled_chats)
    if count > 1:
        return gettext("{count} notices for administrators").format(count=count)
    if message.items:
        team = _plain(message.items[0].team)
        return gettext("A request was approved despite the policy of {team}").format(team=team)
    if message.disabled_chats:
        team = _plain(message.disabled_chats[0].team)
        return gettext("A chat of {team} was switched off").format(team=team)
    publication = message.publications[0]
    if not publication.team:
        return gettext("A policy of the installation was published")
    return gettext("A policy of {team} was published").format(team=_plain(publication.team))


def _request(item: Item) -> Block:
    until = date_format(item.expires_at, "DATETIME_FORMAT") + " UTC" if item.expires_at else ""
    taken_back = gettext("The approval was taken back.")
    facts = [
        (gettext("Team"), _plain(item.team)),
        (gettext("Agent"), item.agent),
        (gettext("Tool, as the agent names it"), _plain(item.tool)),
        (gettext("Requested by"), _plain(item.requester)),
        (gettext("Approved by"), _plain(item.decided_by)),
        (gettext("Expires"), until),
        (gettext("Reason"), _plain(item.override_reason, _MAX_REASON_CHARACTERS)),
        (gettext("Since then"), taken_back if item.is_withdrawn else ""),
        (gettext("State"), _state(item.closing) if item.closing else ""),
    ]
    url = link_to(f"/interrupts/{item.interrupt_id}/")
    link_text = gettext("Open the request")
    if item.button is None:
        return Block(_filled(facts), url, link_text)
    values = [(_value(name), _value(value)) for name, value in item.button.values]
    button = f"{item.interrupt_id} {item.button.view_digest}"
    return Block(_filled(facts), url, link_text, values, button)


def _state(closing: Closing) -> str:
    """Return the outcome of a request on one line: Bob approved, 10:42 UTC."""
    pattern = {
        Outcome.APPROVED: gettext("{who} approved"),
        Outcome.OVERRIDDEN: gettext("{who} approved despite the policy"),
        Outcome.REJECTED: gettext("{who} rejected"),
        Outcome.ANSWERED: gettext("{who} answered"),
        Outcome.CANCELLED: gettext("{who} cancelled"),
        Outcome.EXPIRED: gettext("Expired unanswered"),
    }[closing.outcome]
    who = _plain(closing.who)
    if closing.who == POLICY.label:
        who = gettext("the policy")
    return f"{pattern.format(who=who)}, {closing.at:%H:%M} UTC"


def _publication(item: Publication) -> Block:
    facts = [
        (gettext("Team"), _plain(item.team)),
        (gettext("Version"), str(item.number)),
        (gettext("Published by"), _plain(item.publisher)),
        (gettext("Comment"), _plain(item.comment)),
    ]
    path = f"/teams/{item.team_slug}/policy/{item.number}/" if item.team_slug else ""
    return Block(_filled(facts), link_to(path) if path else "", gettext("Open the policy"))


def _disabled_chat(item: DisabledChat) -> Block:
    facts = [
        (gettext("Team"), _plain(item.team)),
        (gettext("Chat"), _plain(item.label)),
        (gettext("Server"), _plain(item.host)),
    ]
    return Block(
        _filled(facts), link_to(f"/teams/{item.team_slug}/channels/"), gettext("Open the chats")
    )


def _filled(facts: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    return [(label, value) for label, value in facts if value]


def _counts(items: Sequence[Item]) -> list[str]:
    """Return how many requests there are of each agent and tool."""
    counts = Counter((item.agent, item.tool) for item in items)
    lines = []
    for (agent, tool), count in counts.most_common(_MAX_COUNTED):
        name = f"{agent}, {_plain(tool)}" if tool else agent
        lines.append(gettext("{count} more of {name}").format(count=count, name=name))
    if remaining := sum(count for _, count in counts.most_common()[_MAX_COUNTED:]):
        lines.append(
            ngettext("and {count} more", "and {count} more", remaining).format(count=remaining)
        )
    return lines


def _value(text: str) -> str:
    """Return a value of a call as `_plain` does, but with numbers as they are, and in full."""
    return _LINK_IN_VALUE.sub(lambda match: f"[{match[0]}]", escape_invisible(text))


def _plain(text: str, most: int = _MAX_NAME_CHARACTERS) -> str:
    """
    Return a text on one line, of which no program makes a link or an address: evil[.]com.

    So it cannot imitate a paragraph of the message either.
    """
    line = escape_invisible(" ".join(text.split()))[:most]
    return _LINK.sub(lambda match: f"[{match[0]}]", line)
