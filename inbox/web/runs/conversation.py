"""The messages before an interrupt that its page displays."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from django.utils.translation import gettext, gettext_noop

from agents.agui.content import content_text, text_parts
from agents.agui.conversation import is_from_client
from inbox.rules.runs.states import InterruptStatus
from inbox.rules.text.safe_text import escape_invisible
from inbox.web.files.message_parts import PartCard, files_of_messages, part_cards

if TYPE_CHECKING:
    from inbox.models import Interrupt


_SPEAKERS = {
    "user": (gettext_noop("User"), "user"),
    "assistant": (gettext_noop("Agent"), "bot"),
    "reasoning": (gettext_noop("Agent, thinking"), "brain"),
    "activity": (gettext_noop("Agent, working"), "activity"),
    "tool": (gettext_noop("Tool"), "wrench"),
}
#: Roles that can only be the agent or its tools.
_OF_AGENT = ("assistant", "reasoning", "activity", "tool")

#: How many messages of the thread the page of an interrupt shows.
_TAIL = 6


@dataclass(frozen=True)
class ConversationMessage:
    """A message before the interrupt."""

    speaker: str
    icon: str
    text: str
    parts: Sequence[PartCard]


@dataclass(frozen=True)
class Conversation:
    """The messages of an interrupt's thread, parsed once."""

    interrupt: Interrupt

    @cached_property
    def recent_messages(self) -> Sequence[ConversationMessage]:
        """The last messages by users and the agent."""
        sent = json.loads(self.interrupt.thread.client_messages)
        files = files_of_messages(self.interrupt.thread_id, self._shown)
        return [
            ConversationMessage(
                *speaker_of(message, sent),
                text=escape_invisible(text_parts(message.get("content"))),
                parts=part_cards(message.get("content"), files),
            )
            for message in self._shown
        ]

    @cached_property
    def last_text(self) -> str:
        """The agent's last text before the interrupt, "" if it is unknown."""
        words, call = "", self.interrupt.tool_call
        for message in self._messages:
            if message["role"] != "assistant":
                continue
            if isinstance(message.get("content"), str) and message["content"].strip():
                words = message["content"]
            if call and any(
                tool_call["id"] == call.tool_call_id for tool_call in message.get("toolCalls") or ()
            ):
                return words
        return words if call is None and self.interrupt.status == InterruptStatus.OPEN else ""

    @property
    def texts(self) -> Sequence[str]:
        """The displayed texts, unescaped."""
        return [self.last_text, *map(_text_of, self._shown)]

    @cached_property
    def _messages(self) -> list[dict[str, Any]]:
        messages: list[dict[str, Any]] = json.loads(self.interrupt.thread.messages)
        return messages

    @cached_property
    def _shown(self) -> Sequence[Mapping[str, Any]]:
        return [message for message in self._messages if _text_of(message).strip()][-_TAIL:]


def _text_of(message: Mapping[str, Any]) -> str:
    """Return the text of a user's or agent's message, "" for other roles."""
    if message["role"] not in ("user", "assistant"):
        return ""
    return content_text(message.get("content"))


def speaker_of(message: Mapping[str, Any], client_messages: Mapping[str, str]) -> tuple[str, str]:
    """Return the speaker and icon of a message; a role claimed by the agent is marked so."""
    role = message["role"]
    name, icon = _SPEAKERS.get(role, (None, "settings"))
    speaker = gettext(name) if name else role.capitalize()
    if role not in _OF_AGENT and not is_from_client(message, client_messages):
        return gettext("{who}, according to the agent").format(who=speaker), "bot"
    return speaker, icon
