"""The subjects of messages: facts of which agents can set none."""

import re
from collections.abc import Sequence

from django.utils.translation import gettext, gettext_noop, ngettext

from inbox.actions.notifications.messages import Message
from inbox.queries.notifications.message_facts import Item
from inbox.rules.decisions.outcomes import Outcome
from inbox.rules.notifications.events import OUTCOMES, PERSONAL, AnnouncementKind
from inbox.rules.text.safe_text import escape_invisible

_MAX_NAME_CHARACTERS = 80
#: What programs that display text make a link of.
_LINK = re.compile(r"://|(?<=\w)\.(?=\w)|@")
_OUTCOMES = {
    Outcome.APPROVED: gettext_noop("Approved"),
    Outcome.APPROVED_WITH_CHANGES: gettext_noop("Approved with changes"),
    Outcome.REJECTED: gettext_noop("Rejected"),
    Outcome.SENT_BACK: gettext_noop("Sent back"),
    Outcome.ANSWERED: gettext_noop("Answered"),
    Outcome.CANCELLED: gettext_noop("Cancelled"),
    Outcome.EXPIRED: gettext_noop("Expired"),
}


def subject_of(message: Message) -> str:
    """Return the subject of a message."""
    if message.is_mandatory:
        return _notice_subject(message)
    if not message.items:
        return gettext("Test of notifications by Signoff")
    topics = ((OUTCOMES, _outcome_subject), (PERSONAL, _personal_subject))
    for kinds, subject in topics:
        if message.items[0].kind in kinds:
            return subject(message.items)
    items = [item for item in message.items if item.closing is None]
    if not items:
        return _closed_subject(message.items)
    if len(message.items) > 1:
        return ngettext(
            "{count} request waits for a decision",
            "{count} requests wait for a decision",
            len(items),
        ).format(count=len(items))
    item = items[0]
    pattern = {
        AnnouncementKind.REMINDED: gettext("Reminder: {agent} waits for a decision"),
        AnnouncementKind.ESCALATED: gettext("Escalated: {agent} waits for a decision"),
        AnnouncementKind.EXPIRING: gettext("Expires soon: {agent} waits for a decision"),
    }.get(AnnouncementKind(item.kind), gettext("{agent} waits for a decision"))
    return pattern.format(agent=item.agent)


def _personal_subject(items: Sequence[Item]) -> str:
    """Return the subject of a message to the assignee of requests, or to a mentioned person."""
    if len(items) > 1:
        return gettext("{count} requests are assigned to you or mention you").format(
            count=len(items)
        )
    if items[0].kind == AnnouncementKind.MENTIONED:
        return gettext("A comment mentions you: a request of {agent}").format(agent=items[0].agent)
    return gettext("Assigned to you: a request of {agent}").format(agent=items[0].agent)


def _closed_subject(items: Sequence[Item]) -> str:
    """Return the subject of an edited message whose requests are all closed."""
    if len(items) > 1:
        return gettext("None of these {count} requests waits any more").format(count=len(items))
    return gettext("A request of {agent} is closed").format(agent=items[0].agent)


def _outcome_subject(items: Sequence[Item]) -> str:
    """Return the subject of a message to the people whom closed requests concern."""
    count, item = len(items), items[0]
    if count > 1 or item.closing is None:
        return ngettext("{count} request was closed", "{count} requests were closed", count).format(
            count=count
        )
    text = (
        gettext("{outcome}, although you had approved it: a request of {agent}")
        if item.kind == AnnouncementKind.OVERRULED
        else gettext("{outcome}: your request, {agent}")
    )
    return text.format(outcome=gettext(_OUTCOMES[item.closing.outcome]), agent=item.agent)


def _notice_subject(message: Message) -> str:
    notices = (
        message.items,
        message.publications,
        message.disabled_chats,
        message.paused_agents,
        message.weaker_settings,
    )
    count = sum(map(len, notices))
    if count > 1:
        return gettext("{count} notices for administrators").format(count=count)
    if message.items:
        pattern = {
            AnnouncementKind.UNDECIDABLE: gettext("Nobody can approve a request of {team}"),
            AnnouncementKind.OVERRIDDEN: gettext(
                "A request was approved despite the policy of {team}"
            ),
        }[AnnouncementKind(message.items[0].kind)]
        return pattern.format(team=plain(message.items[0].team))
    if message.disabled_chats:
        team = plain(message.disabled_chats[0].team)
        return gettext("A chat of {team} was switched off").format(team=team)
    if message.paused_agents:
        agent = message.paused_agents[0].agent
        return gettext("The agent {agent} was paused").format(agent=agent)
    if message.weaker_settings:
        setting = message.weaker_settings[0]
        pattern = (
            gettext("A weaker setting of {team} is proposed")
            if setting.until
            else gettext("A setting of {team} was weakened")
        )
        return pattern.format(team=plain(setting.team))
    publication = message.publications[0]
    pattern = (
        gettext("A policy of {team} was published")
        if publication.team
        else gettext("A policy of the installation was published")
    )
    return pattern.format(team=plain(publication.team))


def plain(text: str, most: int = _MAX_NAME_CHARACTERS) -> str:
    """
    Return a text on one line, of which no program makes a link or an address: evil[.]com.

    So it cannot imitate a paragraph of the message either.
    """
    line = escape_invisible(" ".join(text.split()))[:most]
    return _LINK.sub(lambda match: f"[{match[0]}]", line)
