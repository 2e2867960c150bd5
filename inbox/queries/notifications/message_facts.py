"""The facts that messages contain: about requests, published policies and chats."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

from inbox.models import (
    Agent,
    Announcement,
    Channel,
    Decision,
    Interrupt,
    Notification,
    PolicyVersion,
    Team,
)
from inbox.queries.notifications.chat_messages import (
    ApproveButton,
    Closing,
    approve_button_of,
    closings_of,
)
from inbox.queries.runs.threads import HEAVY_OF_INTERRUPTS
from inbox.rules.decisions.bulk import value_text
from inbox.rules.notifications.events import OUTCOMES, AnnouncementKind, ChannelKind
from inbox.rules.people.team_settings import PROPOSAL_AGE
from inbox.rules.runs.states import InterruptStatus
from inbox.rules.schema.mask_agui import secrets_of_arguments
from inbox.rules.schema.secrets import MASK, Path

#: Requests of one message that have a button.
MAX_BUTTONS = 5
#: Messages about more requests have neither words of agents nor arguments.
MAX_DETAILED = 3
MAX_ARGUMENTS = 6


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
    words: str = ""  #: of the agent
    arguments: Sequence[tuple[str, str]] = ()  #: of the call, masked, if the team shows them


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


@dataclass(frozen=True)
class PausedAgent:
    """The facts about an agent that was paused, in a mail."""

    team: str
    agent: str
    at: datetime


@dataclass(frozen=True)
class WeakerSetting:
    """The facts about a weaker setting of a team, in a mail."""

    team: str
    team_slug: str
    name: str
    before: Any
    value: Any
    by: str
    until: datetime | None  #: when the proposal ends; None for a change


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
    by_id: dict[object, Interrupt] = {interrupt.pk: interrupt for interrupt in interrupts}
    if channel.kind == ChannelKind.SLACK_APP:
        for pk in [pk for pk in items if pk in by_id][:MAX_BUTTONS]:
            items[pk] = replace(items[pk], button=approve_button_of(by_id[pk], now))
    if len(items) <= MAX_DETAILED and channel.kind != ChannelKind.PUSH:
        for pk in items.keys() & by_id.keys():
            items[pk] = _with_details(items[pk], by_id[pk])
    return list(items.values())


def _with_details(item: Item, interrupt: Interrupt) -> Item:
    """Return the facts with the agent's words, and the arguments if the team shows them."""
    args = json.loads(interrupt.current_args) if interrupt.current_args else None
    secrets: set[str] = set()

    def mask(_path: Path, value: str) -> str:
        secrets.add(value)
        return MASK

    masked = secrets_of_arguments(interrupt.body).replaced(args, mask)
    words = interrupt.message
    # An agent may repeat a secret of the call.
    for secret in sorted(secrets - {""}, key=len, reverse=True):
        words = words.replace(secret, MASK)
    is_shown = interrupt.team.messages_show_arguments and isinstance(masked, dict)
    pairs = list(masked.items())[:MAX_ARGUMENTS] if is_shown and not item.button else []
    arguments = [(str(name), value_text(value)) for name, value in pairs]
    return replace(item, words=words, arguments=arguments)


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


def paused_agent_of(agent: Agent, at: datetime) -> PausedAgent:
    return PausedAgent(team=agent.team.name, agent=agent.slug, at=at)


def disabled_chat_of(channel: Channel) -> DisabledChat:
    return DisabledChat(
        team=channel.team.name if channel.team else "",
        team_slug=channel.team.slug if channel.team else "",
        label=channel.label,
        host=channel.host,
    )


def weaker_setting_of(team: Team, announcement: Announcement) -> WeakerSetting:
    is_proposal = announcement.kind == AnnouncementKind.SETTING_PROPOSED
    return WeakerSetting(
        team=team.name,
        team_slug=team.slug,
        until=announcement.at + PROPOSAL_AGE if is_proposal else None,
        **json.loads(announcement.setting),
    )


def preview_item(
    teams: Sequence[UUID], kind: ChannelKind, now: datetime, *, team: str
) -> tuple[Item, bool]:
    """
    Return the facts of the latest open request of these teams, as a message of this kind has them.

    Without one, those of an example in the team of this name; the second value is whether they are
    real.
    """
    rows = Interrupt.objects.filter(team__in=teams, status=InterruptStatus.OPEN)
    rows = rows.select_related("team", "agent", "run", "tool_call")
    interrupt = rows.defer(*HEAVY_OF_INTERRUPTS).order_by("-pk").first()
    if interrupt is None:
        expires_at = now + timedelta(hours=4)
        agent, tool = "refund-desk", "issue_refund"
        example = Item(uuid4(), AnnouncementKind.OPENED, team, agent, tool, "", expires_at)
        return example, False
    item = _item(interrupt, AnnouncementKind.OPENED)
    if kind is ChannelKind.SLACK_APP:
        item = replace(item, button=approve_button_of(interrupt, now))
    return (item if kind is ChannelKind.PUSH else _with_details(item, interrupt)), True
