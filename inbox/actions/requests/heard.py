"""Recording when a program last asked about its request."""

from datetime import timedelta

from django.db.models import Q

from inbox.models import AgentRequest
from inbox.platform.clock import database_now
from inbox.queries.requests.programs import is_program
from inbox.rules.people.access import Actor

#: Programs read more often than pages need to know.
_WRITE_EVERY = timedelta(seconds=10)


def note_heard(*, request: AgentRequest, actor: Actor) -> None:
    """Store that the program was heard of now, unless that was stored a moment ago."""
    now = database_now()
    if now - request.heard_at >= _WRITE_EVERY and is_program(actor, request.thread):
        earlier = AgentRequest.objects.filter(Q(heard_at__lt=now), pk=request.pk)
        earlier.update(heard_at=now)
