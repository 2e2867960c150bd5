"""The browsers of a person that get push messages."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db.models import Max

from inbox.models import Channel, Notification
from inbox.queries.notifications.recipients import person_of
from inbox.rules.errors import NotFound
from inbox.rules.notifications.events import ChannelKind, NotificationStatus
from inbox.rules.people.access import Actor


@dataclass(frozen=True)
class Browser:
    """A browser that gets push messages, as its person sees it."""

    id: UUID
    label: str
    host: str  #: of the push service
    digest: str  #: of the endpoint, by which a browser knows itself
    events: Sequence[str]
    mode: str
    minutes: int
    is_disabled: bool  #: the push service refused messages for a day
    answer: str  #: of the push service to the last message, "" if it was accepted
    sent_at: datetime | None  #: of the last message that was accepted
    created_at: datetime


def browsers_of(actor: Actor) -> list[Browser]:
    """
    Return the browsers of a person, the oldest first.

    Raises:
        Forbidden: the actor is no person.
    """
    mine = Channel.objects.filter(user=person_of(actor), kind=ChannelKind.PUSH, removed_at=None)
    rows = list(mine.select_related("subscription").order_by("pk"))
    sent = Notification.objects.filter(channel__in=rows, status=NotificationStatus.SENT)
    last = sent.values_list("channel").annotate(Max("settled_at"))
    sent_at = dict(last.values_list("channel", "settled_at__max"))
    return [
        Browser(
            id=row.pk,
            label=row.label,
            host=row.host,
            digest=row.address_digest,
            events=row.subscription.events,
            mode=row.subscription.mode,
            minutes=row.subscription.minutes,
            is_disabled=row.disabled_at is not None,
            answer=row.answer,
            sent_at=sent_at.get(row.pk),
            created_at=row.created_at,
        )
        for row in rows
    ]


def browser_of(actor: Actor, channel_id: UUID) -> Browser:
    """
    Return a browser of a person.

    Raises:
        Forbidden: the actor is no person.
        NotFound.
    """
    for browser in browsers_of(actor):
        if browser.id == channel_id:
            return browser
    raise NotFound()
