"""The text of messages, for every kind of channel: facts that Signoff knows, and links to it."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from django.conf import settings
from django.utils.formats import date_format
from django.utils.translation import gettext, gettext_noop, ngettext

from inbox.actions.notifications.messages import Message
from inbox.queries.notifications.chat_messages import Closing
from inbox.queries.notifications.message_facts import (
    DisabledChat,
    Item,
    PausedAgent,
    Publication,
    WeakerSetting,
)
from inbox.rules.decisions.outcomes import Outcome
from inbox.rules.notifications.events import AnnouncementKind
from inbox.rules.people.access import POLICY
from inbox.rules.people.required_sign_in import RequiredSignIn
from inbox.rules.runs.headings import MAX_HEADING_CHARACTERS
from inbox.rules.text.safe_text import escape_invisible
from inbox.sending.message_subjects import plain, subject_of

_MAX_REASON_CHARACTERS = 500
_MAX_ARGUMENT = 80
#: Agents and tools that a summary counts; it adds up the others.
_MAX_COUNTED = 10
_STATES = {
    Outcome.APPROVED: gettext_noop("{who} approved"),
    Outcome.APPROVED_WITH_CHANGES: gettext_noop("{who} approved with changes"),
    Outcome.REJECTED: gettext_noop("{who} rejected"),
    Outcome.SENT_BACK: gettext_noop("{who} sent this back"),
    Outcome.ANSWERED: gettext_noop("{who} answered"),
    Outcome.CANCELLED: gettext_noop("{who} cancelled"),
    Outcome.EXPIRED: gettext_noop("Expired unanswered"),
}
#: The settings that can be weakened, as the page of the team names them.
_SETTINGS = {
    "self_approval": gettext_noop("Requesters may approve the tool calls of their own runs"),
    "two_administrators": gettext_noop(
        "Another administrator than the author publishes the policy"
    ),
    "override_group": gettext_noop("Who may override the policy in an emergency"),
    "inbox_only": gettext_noop("Answer requests on these pages only, not over the API"),
    "requires_view_digest": gettext_noop(
        "Require AG-UI clients to state which version of a request they showed"
    ),
    "required_sign_in": gettext_noop("How members sign in"),
}
_VALUES: dict[str | bool | None, str] = {
    True: gettext_noop("Yes"),
    False: gettext_noop("No"),
    None: gettext_noop("Until two people can decide"),
    "": gettext_noop("Nobody"),
    RequiredSignIn.ANY: gettext_noop("As they like"),
    RequiredSignIn.SECOND_FACTOR: gettext_noop(
        "With a second factor or a passkey, here or at an identity provider"
    ),
    RequiredSignIn.PROVIDER: gettext_noop("At an identity provider"),
}
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
    #: Words of the agent and arguments of the call, as pairs of label and value; not in pushes.
    details: Sequence[tuple[str, str]] = ()
    decide_url: str = ""  #: of the page that decides it without signing in, in mails only


@dataclass(frozen=True)
class MessageText:
    """A message in the active language; `summary` has lines about what has no block."""

    subject: str
    blocks: Sequence[Block]
    summary: Sequence[str]
    pending_url: str  #: of all requests


def text_of(message: Message, *, most_blocks: int) -> MessageText:
    """Return what a message says."""
    items = message.items[:most_blocks]
    blocks = [
        *(_request(item) for item in items),
        *(_publication(item) for item in message.publications[:most_blocks]),
        *(_disabled_chat(item) for item in message.disabled_chats[:most_blocks]),
        *(_paused_agent(item) for item in message.paused_agents[:most_blocks]),
        *(_weaker_setting(item) for item in message.weaker_settings[:most_blocks]),
    ]
    open_items = [item for item in message.items[most_blocks:] if item.closing is None]
    return MessageText(subject_of(message), blocks, _counts(open_items), link_to("/"))


def link_to(path: str) -> str:
    """Return the address of a page, "" if the installation does not know its own."""
    return f"{settings.PUBLIC_URL}{path}" if settings.PUBLIC_URL else ""


def _request(item: Item) -> Block:
    until = date_format(item.expires_at, "DATETIME_FORMAT") + " UTC" if item.expires_at else ""
    taken_back = gettext("The approval was taken back.")
    too_few = gettext(
        "Too few people of the team may approve it. Add people, or change the policy."
    )
    facts = [
        (gettext("Team"), plain(item.team)),
        (gettext("Agent"), item.agent),
        (gettext("Tool, as the agent names it"), plain(item.tool)),
        (gettext("Requested by"), plain(item.requester)),
        (gettext("You are the deputy of"), plain(item.deputy_of)),
        (gettext("Approved by"), plain(item.decided_by)),
        (gettext("Expires"), until),
        (gettext("Reason"), plain(item.override_reason, _MAX_REASON_CHARACTERS)),
        (gettext("Reason"), too_few if item.kind == AnnouncementKind.UNDECIDABLE else ""),
        (gettext("Since then"), taken_back if item.is_withdrawn else ""),
        (gettext("State"), _state(item.closing) if item.closing else ""),
    ]
    block = Block(
        _filled(facts),
        link_to(f"/interrupts/{item.interrupt_id}/"),
        gettext("Open the request"),
        details=_details(item),
        decide_url=link_to(f"/decide/{item.link_token}/") if item.link_token else "",
    )
    if item.button is None:
        return block
    values = [(_value(name), _value(value)) for name, value in item.button.values]
    return replace(block, values=values, button=f"{item.interrupt_id} {item.button.view_digest}")


def _details(item: Item) -> list[tuple[str, str]]:
    details = [(gettext("The agent says"), plain(item.words, MAX_HEADING_CHARACTERS))]
    label = gettext("Argument")
    for name, value in item.arguments:
        details.append((label, f"{plain(name, _MAX_ARGUMENT)} = {plain(value, _MAX_ARGUMENT)}"))
    return _filled(details)


def _state(closing: Closing) -> str:
    """Return the outcome of a request on one line: Bob approved, 10:42 UTC."""
    pattern = gettext(_STATES[closing.outcome])
    if closing.is_override:
        pattern = gettext("{who} approved despite the policy")
    who = gettext("the policy") if closing.who == POLICY.label else plain(closing.who)
    return f"{pattern.format(who=who)}, {closing.at:%H:%M} UTC"


def _publication(item: Publication) -> Block:
    facts = [
        (gettext("Team"), plain(item.team)),
        (gettext("Version"), str(item.number)),
        (gettext("Published by"), plain(item.publisher)),
        (gettext("Comment"), plain(item.comment)),
    ]
    path = f"/teams/{item.team_slug}/policy/{item.number}/" if item.team_slug else ""
    return Block(_filled(facts), link_to(path) if path else "", gettext("Open the policy"))


def _disabled_chat(item: DisabledChat) -> Block:
    facts = [
        (gettext("Team"), plain(item.team)),
        (gettext("Chat"), plain(item.label)),
        (gettext("Server"), plain(item.host)),
    ]
    return Block(
        _filled(facts), link_to(f"/teams/{item.team_slug}/channels/"), gettext("Open the chats")
    )


def _paused_agent(item: PausedAgent) -> Block:
    facts = [
        (gettext("Team"), plain(item.team)),
        (gettext("Agent"), item.agent),
        (gettext("Reason"), gettext("It asked again and again beyond its limits.")),
        (gettext("Paused"), f"{item.at:%Y-%m-%d %H:%M} UTC"),
    ]
    return Block(_filled(facts), link_to(f"/agents/{item.agent}/"), gettext("Open the agent"))


def _weaker_setting(item: WeakerSetting) -> Block:
    until = gettext("Another administrator makes the same change by {time} to confirm it.")
    facts = [
        (gettext("Team"), plain(item.team)),
        (gettext("Setting"), gettext(_SETTINGS[item.name])),
        (gettext("Before"), _setting_value(item.before)),
        (gettext("New value"), _setting_value(item.value)),
        (gettext("Proposed by") if item.until else gettext("Changed by"), plain(item.by)),
        (
            gettext("To confirm"),
            until.format(time=f"{item.until:%Y-%m-%d %H:%M} UTC") if item.until else "",
        ),
    ]
    return Block(_filled(facts), link_to(f"/teams/{item.team_slug}/"), gettext("Open the team"))


def _setting_value(value: str | bool | None) -> str:
    return gettext(_VALUES[value]) if value in _VALUES else plain(str(value))


def _filled(facts: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    return [(label, value) for label, value in facts if value]


def _counts(items: Sequence[Item]) -> list[str]:
    """Return how many requests there are of each agent and tool."""
    counts = Counter((item.agent, item.tool) for item in items)
    lines = []
    for (agent, tool), count in counts.most_common(_MAX_COUNTED):
        name = f"{agent}, {plain(tool)}" if tool else agent
        lines.append(gettext("{count} more of {name}").format(count=count, name=name))
    if remaining := sum(count for _, count in counts.most_common()[_MAX_COUNTED:]):
        lines.append(
            ngettext("and {count} more", "and {count} more", remaining).format(count=remaining)
        )
    return lines


def _value(text: str) -> str:
    """Return a value of a call as `plain` does, but with numbers as they are, and in full."""
    return _LINK_IN_VALUE.sub(lambda match: f"[{match[0]}]", escape_invisible(text))
