"""Closing the guide through the first decision."""

from django.db import transaction

from inbox.models import User
from inbox.rules.people.access import Actor


@transaction.atomic(durable=True)
def hide_first_steps(*, actor: Actor) -> None:
    """Hide the guide from the person who acts; safe to replay."""
    User.objects.filter(pk__in=[actor.user_id]).update(hides_first_steps=True)
