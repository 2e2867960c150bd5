"""The text of messages, for every kind of channel: facts that Signoff knows, and links to it."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from django.conf import settings
from django.utils.formats import date_format
from django.utils.translation import gettext, gettext_noop, ngettext

from inbox.actions.notifications.messages import DisabledChat, Item, Message, Publication
from inbox.rules.decisions.outcomes import Outcome
from inbox.rules.notifications.events import AnnouncementKind
from inbox.rules.text.safe_text import escape_invisible

_MAX_NAME_CHARACTERS = 80
_MAX_REASON_CHARACTERS = 500
#: Agents and tools that a summary counts; it adds up the others.
_MAX_COUNTED = 10
OUTCOME_WORDS = {
    Outcome.APPROVED: gettext_noop("Approved"),
    Outcome.APPROVED_WITH_CHANGES: gettext_noop("Approved with changes"),
    Outcome.REJECTED: gettext_noop("Rejected"),
    Outcome.ANSWERED: gettext_noop("Answered"),
    Outcome.CANCELLED: gettext_noop("Cancelled"),
    Outcome.EXPIRED: gettext_noop("Expired"),
}
#: What programs that display text make a link of.
_LINK = re.compile(r"://|(?<=\w)\.(?=\w)|@")


@dataclass(frozen=True)
class Block:
    """The facts about one request or event, as pairs of label and value, and a link to it."""

    facts: Sequence[tuple[str, str]]
    url: str = ""  #: "" if the installation does not know its own address
    link_text: str = ""
    decide_url: str = ""  #: of the page that decides it without signing in, in mails only


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
    return MessageText(
        _subject(message), blocks, _counts(message.items[most_blocks:]), link_to("/")
    )


def link_to(path: str) -> str:
    """Return the address of a page, "" if the installation does not know its own."""
    return f"{settings.PUBLIC_URL}{path}" if settings.PUBLIC_URL else ""


def _subject(message: Message) -> str:
    """Return a subject of facts that agents cannot set."""
    if message.is_mandatory:
        return _notice_subject(message)
    count = len(message.items)
    if count == 0:
        return gettext("Test of notifications by Signoff")
    if count > 1 and message.items[0].outcome is not None:
        return ngettext("{count} request was closed", "{count} requests were closed", count).format(
            count=count
        )
    if count > 1:
        return ngettext(
            "{count} request waits for a decision", "{count} requests wait for a decision", count
        ).format(count=count)
    item = message.items[0]
    if item.outcome is not None:
        return _outcome_subject(item, item.outcome)
    pattern = {
        AnnouncementKind.REMINDED: gettext("Reminder: {agent} waits for a decision"),
        AnnouncementKind.ESCALATED: gettext("Escalated: {agent} waits for a decision"),
        AnnouncementKind.EXPIRING: gettext("Expires soon: {agent} waits for a decision"),
    }.get(AnnouncementKind(item.kind), gettext("{agent} waits for a decision"))
    return pattern.format(agent=item.agent)


def _outcome_subject(item: Item, outcome: Outcome) -> str:
    word = gettext(OUTCOME_WORDS[outcome])
    if item.kind == AnnouncementKind.OVERRULED:
        text = gettext("{outcome}, although you had approved it: a request of {agent}")
    else:
        text = gettext("{outcome}: your request, {agent}")
    return text.format(outcome=word, agent=item.agent)


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
        (gettext("You are the deputy of"), _plain(item.deputy_of)),
        (gettext("Outcome"), gettext(OUTCOME_WORDS[item.outcome]) if item.outcome else ""),
        (_decider_label(item), _plain(item.decided_by)),
        (gettext("Expires"), until),
        (gettext("Reason"), _plain(item.override_reason, _MAX_REASON_CHARACTERS)),
        (gettext("Since then"), taken_back if item.is_withdrawn else ""),
    ]
    url = link_to(f"/interrupts/{item.interrupt_id}/")
    decide_url = link_to(f"/decide/{item.link_token}/") if item.link_token else ""
    return Block(_filled(facts), url, gettext("Open the request"), decide_url)


def _decider_label(item: Item) -> str:
    return gettext("Decided by") if item.outcome else gettext("Approved by")


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


def _plain(text: str, most: int = _MAX_NAME_CHARACTERS) -> str:
    """
    Return a text on one line, of which no program makes a link or an address: evil[.]com.

    So it cannot imitate a paragraph of the message either.
    """
    line = escape_invisible(" ".join(text.split()))[:most]
    return _LINK.sub(lambda match: f"[{match[0]}]", line)
