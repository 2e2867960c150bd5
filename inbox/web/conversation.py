"""What was said on a thread before a question, as far as the page of the question shows it."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from django.utils.translation import gettext

from inbox.domain.shown import visible
from inbox.domain.states import InterruptStatus

#: How many messages of the thread the page of an interrupt shows.
_TAIL = 6


@dataclass(frozen=True)
class Said:
    """A message of the conversation before the question."""

    who: str
    icon: str
    text: str


@dataclass(frozen=True)
class Conversation:
    """The messages of the thread of an interrupt; they are parsed once."""

    interrupt: Any

    @cached_property
    def tail(self) -> Sequence[Said]:
        """The last messages, as far as people wrote or read them."""
        return [_said(message) for message in self._shown]

    @cached_property
    def last_words(self) -> str:
        """The last thing that the agent said before it asked, as far as the thread knows."""
        said, call = "", self.interrupt.tool_call
        for message in self._messages:
            if message["role"] != "assistant":
                continue
            if isinstance(message.get("content"), str) and message["content"].strip():
                said = message["content"]
            if call and any(
                one["id"] == call.tool_call_id for one in message.get("toolCalls") or ()
            ):
                return said
        return said if call is None and self.interrupt.status == InterruptStatus.OPEN else ""

    @property
    def texts(self) -> Sequence[str]:
        """Everything of it that the page shows, as it was written."""
        return [self.last_words, *map(_text_of, self._shown)]

    @cached_property
    def _messages(self) -> list[dict[str, Any]]:
        messages: list[dict[str, Any]] = json.loads(self.interrupt.thread.messages)
        return messages

    @cached_property
    def _shown(self) -> Sequence[Mapping[str, Any]]:
        return [message for message in self._messages if _text_of(message).strip()][-_TAIL:]


def _text_of(message: Mapping[str, Any]) -> str:
    """What a person or the agent said in a message, "" for tools, instructions and pictures."""
    content = message.get("content")
    if message["role"] not in ("user", "assistant"):
        return ""
    return content if isinstance(content, str) else ""


def _said(message: Mapping[str, Any]) -> Said:
    is_user = message["role"] == "user"
    return Said(
        who=gettext("User") if is_user else gettext("Agent"),
        icon="user" if is_user else "bot",
        text=visible(_text_of(message)),
    )
