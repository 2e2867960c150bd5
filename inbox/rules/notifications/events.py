"""Notifications: kinds, states, and the times at which they are due."""

from collections.abc import Collection
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final

from inbox.rules.errors import raise_for
from inbox.rules.policies.language.policy import Slot
from inbox.rules.policies.slots import Person
from inbox.rules.text.messages import TranslatableMessage


class AnnouncementKind(StrEnum):
    """The events that people are notified of."""

    OPENED = "opened"  #: a request is open, or open again
    REMINDED = "reminded"  #: a policy reminds people of it
    ESCALATED = "escalated"  #: more people may decide it from now on
    EXPIRING = "expiring"  #: it expires soon
    DECIDED = "decided"  #: a request of one's own run is closed
    ASSIGNED = "assigned"  #: a request is assigned to a person
    MENTIONED = "mentioned"  #: a comment mentions a person
    OVERRULED = "overruled"  #: a request was closed despite approvals of some of several people
    OVERRIDDEN = "overridden"  #: a request was approved despite the policy
    UNDECIDABLE = "undecidable"  #: too few people of the team may approve a request
    POLICY_PUBLISHED = "policy_published"
    CHANNEL_DISABLED = "channel_disabled"  #: a channel of a team was switched off
    SETTING_PROPOSED = "setting_proposed"  #: an administrator proposed a weaker setting
    SETTING_WEAKENED = "setting_weakened"  #: decisions need less than before
    AGENT_PAUSED = "agent_paused"  #: an agent was paused, because it asked beyond its limits
    TEST = "test"  #: a test message, to which nobody subscribes


#: The kinds about requests that wait for a decision, which those who may decide them get.
WAITING: Final = (
    AnnouncementKind.OPENED,
    AnnouncementKind.REMINDED,
    AnnouncementKind.ESCALATED,
    AnnouncementKind.EXPIRING,
)

#: The kinds about closed requests, which the people concerned get.
OUTCOMES: Final = (AnnouncementKind.DECIDED, AnnouncementKind.OVERRULED)

#: The kinds that one person gets.
PERSONAL: Final = (AnnouncementKind.ASSIGNED, AnnouncementKind.MENTIONED)

#: The kinds that people can choose; chats get those of `WAITING`.
CHOICES: Final = (*WAITING, *OUTCOMES, *PERSONAL)

#: The kinds about a setting of a team.
SETTINGS: Final = (AnnouncementKind.SETTING_PROPOSED, AnnouncementKind.SETTING_WEAKENED)

#: The kinds that all administrators of the team get, without a subscription.
MANDATORY: Final = (
    AnnouncementKind.OVERRIDDEN,
    AnnouncementKind.UNDECIDABLE,
    AnnouncementKind.POLICY_PUBLISHED,
    AnnouncementKind.CHANNEL_DISABLED,
    AnnouncementKind.AGENT_PAUSED,
    *SETTINGS,
)


class ChannelKind(StrEnum):
    """The ways to reach people: an address or a browser of a person, or a chat of a team."""

    EMAIL = "email"
    PUSH = "push"  #: a browser, over the push service of its maker (RFC 8030)
    SLACK_APP = "slack_app"  #: an app in a workspace, whose messages have buttons
    SLACK = "slack"
    TEAMS = "teams"
    DISCORD = "discord"
    SLACK_COMPATIBLE = "slack_compatible"  #: Mattermost, Rocket.Chat and others


#: The kinds of which a team has channels, each with the URL of a webhook of the chat.
WEBHOOK_CHATS: Final = (
    ChannelKind.SLACK,
    ChannelKind.TEAMS,
    ChannelKind.DISCORD,
    ChannelKind.SLACK_COMPATIBLE,
)
#: The kinds of which a team has channels.
CHAT_KINDS: Final = (*WEBHOOK_CHATS, ChannelKind.SLACK_APP)


class ChannelEnd(StrEnum):
    """The reason why a channel was switched off."""

    REFUSED = "refused"  #: the server has refused messages for good, for a day
    FAILING = "failing"  #: the server has taken no message for a day
    BY_HAND = "by_hand"


class DeliveryMode(StrEnum):
    """The time of a notification about a new request."""

    AT_ONCE = "at_once"
    IF_WAITING = "if_waiting"  #: if the request still waits after some minutes
    DIGEST = "digest"  #: once a day, of what still waits


class NotificationStatus(StrEnum):
    PENDING = "pending"  #: to be sent when it is due
    SENT = "sent"  #: the server has accepted the message
    DROPPED = "dropped"  #: not needed any more
    FAILED = "failed"  #: the server refused the message for good


class DisplayedState(StrEnum):
    """The state of a request that a sent message shows, where the chat can edit messages."""

    OPEN = "open"
    EDITING = "editing"  #: a worker has claimed the edit
    STALE = "stale"  #: the request was opened again
    CLOSED = "closed"
    FINAL = ""  #: the message cannot be edited


#: What the sweeper compares with the state of the request.
EDITABLE: Final = (DisplayedState.OPEN, DisplayedState.EDITING, DisplayedState.STALE)


class Reason(StrEnum):
    """The reason why a notification was dropped or has failed."""

    CLOSED = "closed"  #: the request was decided, was withdrawn or has expired
    REOPENED = "reopened"  #: the decision was taken back
    CLAIMED = "claimed"  #: another person claimed the request
    SEEN = "seen"  #: the person has opened the request
    NO_ACCESS = "no_access"  #: the person may not decide the request any more
    NO_DEPUTY = "no_deputy"  #: the person is back, or has another deputy
    REASSIGNED = "reassigned"  #: the request is not assigned to the person any more
    NOT_ADMIN = "not_admin"  #: the person does not administer the team any more
    UNSUBSCRIBED = "unsubscribed"
    REMOVED = "removed"  #: the channel was removed
    GONE = "gone"  #: the browser has unsubscribed
    NO_ADDRESS = "no_address"  #: the account has no confirmed address
    REFUSED = "refused"  #: the mail server refused the address or the message
    DISABLED = "disabled"  #: the address was switched off after it had been refused repeatedly
    BROKEN = "broken"  #: an internal error


DEFAULT_MINUTES: Final = 5
#: Messages at once come so much later to a person who has used the inbox within this time.
ACTIVE_DELAY: Final = timedelta(seconds=60)
MAX_MINUTES: Final = 24 * 60
#: How long sent and dropped notifications stay in the log.
LOG_RETENTION: Final = timedelta(days=30)
#: Requests that open within this time after a mail are in one mail.
PAUSE: Final = timedelta(seconds=20)
#: After so many mails in an hour, further notifications wait for the end of the hour.
MAX_MAILS_PER_HOUR: Final = 12
#: The delays after the first failure of the mail server, the second, ...; then always the last.
RETRY_DELAYS: Final = tuple(timedelta(seconds=seconds) for seconds in (5, 30, 120, 600))
#: An address is switched off after so many refusals in a row over so long a time.
MAX_REFUSALS, MAX_REFUSED_TIME = 3, timedelta(hours=24)
#: A chat is switched off after so many failures in a row over so long a time.
MAX_FAILURES, MAX_FAILING_TIME = 10, timedelta(hours=24)
#: A server may ask to wait so long.
MAX_WAIT: Final = timedelta(minutes=30)
MAX_CHANNELS: Final = 20  #: of a team
MAX_LABEL_CHARACTERS: Final = 80


class SendProblem(StrEnum):
    """The reason why a mail was not sent."""

    TEMPORARY = "temporary"  #: no connection, or the server asks to try again
    REFUSED = "refused"  #: the server refuses the address or the message for good
    GONE = "gone"  #: the push service does not know the browser any more
    BROKEN = "broken"  #: an internal error


def due_at(
    kind: str, mode: str, minutes: int, at: datetime, *, is_active: bool = False
) -> datetime:
    """
    Return the time of a notification; only new requests wait for somebody to take them.

    A person who is active in the inbox, and sees new requests there, is told a little later. The
    digest of a person is later; see `PersonalTime`.
    """
    if kind != AnnouncementKind.OPENED:
        return at
    if mode != DeliveryMode.AT_ONCE:
        return at + timedelta(minutes=minutes)
    return at + ACTIVE_DELAY if is_active else at


def retry_delay(failures: int) -> timedelta:
    """Return the time until the next try after so many failures in a row."""
    return RETRY_DELAYS[min(failures, len(RETRY_DELAYS)) - 1]


def next_message_at(sent_at: Collection[datetime], kind: str) -> datetime | None:
    """
    Return when the next message may be sent, given the times of those of the last hour.

    Only mails are limited by the hour: a chat is for all who look at it, and a push is short.
    """
    if not sent_at:
        return None
    times = sorted(sent_at)
    after_pause = times[-1] + PAUSE
    if kind != ChannelKind.EMAIL or len(times) < MAX_MAILS_PER_HOUR:
        return after_pause
    return max(after_pause, times[-MAX_MAILS_PER_HOUR] + timedelta(hours=1))


def fits_a_slot(person: Person, slots: Collection[Collection[Slot]]) -> bool:
    """Return whether the person can fill one of the slots of a requirement."""
    return any(person.fits(slot) for options in slots for slot in options)


def check_subscription(
    *, events: Collection[str], mode: str, minutes: int, choices: Collection[str] = CHOICES
) -> None:
    """
    Raise unless the values describe a subscription to some of the `choices`.

    Raises:
        InvalidValue: with all `problems` by field.
    """
    problems: dict[str, list[TranslatableMessage]] = {}
    if not events or not set(events) <= set(choices):
        problems["events"] = [TranslatableMessage("Choose at least one event.")]
    if mode not in set(DeliveryMode):
        problems["mode"] = [TranslatableMessage("Choose when you are notified.")]
    if not 1 <= minutes <= MAX_MINUTES:
        text = TranslatableMessage("Enter a number from 1 to {count}.", count=MAX_MINUTES)
        problems["minutes"] = [text]
    raise_for(problems)
