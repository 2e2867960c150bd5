"""People who get mails about requests."""

from typing import Any

from allauth.account.models import EmailAddress

from inbox import sweeper
from inbox.actions.notifications.subscriptions import subscribe
from inbox.actions.notifications.team_channels import ChatSettings, add_chat
from inbox.models import Channel
from inbox.rules.people.access import SEED
from inbox.sending.notification_sender import send_due

EVERY_EVENT = ("opened", "reminded", "escalated")


def confirm_address(actor: Any, email: str = "") -> str:
    address = email or f"{actor.user_id}@example.com"
    EmailAddress.objects.update_or_create(
        user_id=actor.user_id, email=address, defaults={"verified": True, "primary": True}
    )
    return address


def subscribe_person(
    actor: Any,
    *,
    mode: str = "at_once",
    minutes: int = 5,
    events: tuple[str, ...] = EVERY_EVENT,
    language: str = "en",
) -> Channel:
    """Give a person a confirmed address and a subscription, and return the channel."""
    confirm_address(actor)
    row = subscribe(events=events, mode=mode, minutes=minutes, language=language, actor=actor)
    return row.channel


def add_team_chat(world: Any, url: str, *, label: str = "#ops", kind: str = "slack") -> Channel:
    """Add a chat that gets every event of the team at once."""
    values = ChatSettings(label, url, EVERY_EVENT, "at_once", 5)
    return add_chat(team_id=world.team.pk, kind=kind, values=values, language="en", actor=SEED)


def send_all() -> None:
    """Expand what was announced, and send what is due, as the sweeper and a worker do."""
    sweeper.send_notifications()
    for channel in Channel.objects.order_by("pk"):
        send_due(channel.pk)
