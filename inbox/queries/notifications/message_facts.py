"""The facts that messages contain: about requests, published policies and chats."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from uuid import UUID

from inbox.models import Channel, Decision, Interrupt, Notification, PolicyVersion
from inbox.queries.notifications.chat_messages import (
    ApproveButton,
    Closing,
    approve_button_of,
    closings_of,
)
from inbox.rules.notifications.events import OUTCOMES, AnnouncementKind, ChannelKind

#: Requests of one message that have a button.
MAX_BUTTONS = 5


@dataclass(frozen=True)
class Item:
    """The facts about one request in a message."""

    interrupt_id: UUID
    kind: str
    team: str
    agent: str
    tool: str  #: "" if the request is about no tool call
    requester: str  #: "" if unknown
    expires_at: datetime | None
    decided_by: str = ""  #: of a decision despite the policy
    override_reason: str = ""
    is_withdrawn: bool = False  #: the decision was taken back since
    closing: Closing | None = None  #: of a closed request, except for one despite the policy
    deputy_of: str = ""  #: the person who is away, whose deputy the reader is
    link_token: str = field(default="", repr=False)  #: of a link to decide the request
    button: ApproveButton | None = None  #: None if the chat cannot approve the request


@dataclass(frozen=True)
class Publication:
    """The facts about a published policy in a message."""

    team: str  #: "" for the installation
    team_slug: str
    number: int
    publisher: str
    comment: str


@dataclass(frozen=True)
class DisabledChat:
    """The facts about a chat that was switched off, in a mail."""

    team: str
    team_slug: str
    label: str
    host: str


def items_of(
    channel: Channel,
    rows: Sequence[Notification],
    now: datetime,
    tokens: Mapping[UUID, str] | None = None,
) -> list[Item]:
    """
    Return the facts of each request once, with the latest event; of each override, too.

    `tokens` has the tokens of links to decide requests, by interrupt.
    """
    interrupts = [row.announcement.interrupt for row in rows if row.announcement.interrupt]
    closings = closings_of(interrupts)
    items: dict[object, Item] = {}
    for row in rows:
        announcement, interrupt = row.announcement, row.announcement.interrupt
        if interrupt is None:
            continue
        if announcement.kind == AnnouncementKind.OVERRIDDEN:
            items[announcement.pk] = _override(interrupt, announcement.at)
            continue
        items[interrupt.pk] = replace(
            _item(interrupt, announcement.kind),
            closing=closings.get(interrupt.pk),
            deputy_of=row.away.display_name if row.away else "",
            link_token=(tokens or {}).get(interrupt.pk, ""),
        )
    if channel.kind == ChannelKind.SLACK_APP:
        _add_buttons(items, interrupts, now)
    return list(items.values())


def _add_buttons(items: dict[object, Item], interrupts: Sequence[Interrupt], now: datetime) -> None:
    """Add the buttons of the first requests, which are those that a message describes."""
    by_id = {interrupt.pk: interrupt for interrupt in interrupts}
    for pk in list(items)[:MAX_BUTTONS]:
        interrupt = by_id.get(pk)  # type: ignore[call-overload]  # overrides have other keys
        if interrupt is not None:
            items[pk] = replace(items[pk], button=approve_button_of(interrupt, now))


def _item(interrupt: Interrupt, kind: str) -> Item:
    requester = interrupt.run.requester_user
    return Item(
        interrupt_id=interrupt.pk,
        kind=kind,
        team=interrupt.team.name,
        agent=interrupt.agent.slug,
        tool=interrupt.tool,
        requester=requester.display_name if requester else "",
        expires_at=None if kind in OUTCOMES else interrupt.expires_at,
    )


def _override(interrupt: Interrupt, at: datetime) -> Item:
    """Return the facts about the decision of this time despite the policy, also if taken back."""
    decisions = Decision.objects.filter(interrupt=interrupt, created_at=at)
    decision = decisions.exclude(override_reason="").first()
    item = _item(interrupt, AnnouncementKind.OVERRIDDEN)
    if decision is None:
        return item
    return replace(
        item,
        decided_by=decision.actor_label,
        override_reason=decision.override_reason,
        is_withdrawn=decision.withdrawn_at is not None,
    )


def publication_of(version: PolicyVersion) -> Publication:
    return Publication(
        team=version.team.name if version.team else "",
        team_slug=version.team.slug if version.team else "",
        number=version.number,
        publisher=version.publisher_label,
        comment=version.comment,
    )


def disabled_chat_of(channel: Channel) -> DisabledChat:
    return DisabledChat(
        team=channel.team.name if channel.team else "",
        team_slug=channel.team.slug if channel.team else "",
        label=channel.label,
        host=channel.host,
    )
