"""A message as it would be sent, made by the code that sends it."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID, uuid4

from django.utils import translation

from inbox.actions.notifications.messages import Message
from inbox.platform.clock import database_now
from inbox.queries.notifications.message_facts import preview_item
from inbox.rules.notifications.events import ChannelKind
from inbox.sending.message_texts import MessageText, text_of


@dataclass(frozen=True)
class Preview:
    """The message about one new request."""

    text: MessageText
    is_real: bool  #: about a request that waits now


def preview_of(teams: Sequence[UUID], kind: ChannelKind, language: str, *, team: str) -> Preview:
    """Return the message about the latest open request of these teams, or about an example."""
    item, is_real = preview_item(teams, kind, database_now(), team=team)
    message = Message(uuid4(), 0, uuid4(), kind, "", language, [item])
    with translation.override(language):
        return Preview(text_of(message, most_blocks=1), is_real)
