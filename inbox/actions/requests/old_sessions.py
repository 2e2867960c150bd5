"""Deleting sessions of external agents whose requests are all deleted."""

from datetime import timedelta

from django.db import transaction
from django.db.models import Exists, OuterRef

from inbox.models import AgentRequest, AgentSession
from inbox.platform.clock import database_now

#: A session that was used since then may get its first request yet.
UNUSED_FOR = timedelta(days=1)
AT_ONCE = 500


@transaction.atomic(durable=True)
def delete_empty_sessions() -> int:
    """
    Delete up to AT_ONCE sessions without requests; return how many. Safe to replay.

    A request that joins a session at the same time changes `last_at` under its lock, so that the
    session stays.
    """
    requests = AgentRequest.objects.filter(session=OuterRef("pk"))
    unused = AgentSession.objects.filter(~Exists(requests), last_at__lt=database_now() - UNUSED_FOR)
    ids = list(unused.values_list("pk", flat=True)[:AT_ONCE])
    return unused.filter(pk__in=ids).delete()[0]
