"""Storing the exceptions of agents for their authors, in the demo only."""

from collections.abc import Sequence

from django.conf import settings
from django.db import transaction

from inbox.actions.runs.run_lease import RunLease, lock_and_renew
from inbox.models import AgentError


@transaction.atomic(durable=True)
def record_agent_errors(*, lease: RunLease, texts: Sequence[str]) -> None:
    """
    Store what an agent raised, with lines of its code; do nothing outside of the demo.

    Exceptions may have secrets in their texts, so no other installation stores them.

    Raises:
        LeaseLost: the run was ended or taken over.
    """
    if settings.SHOWS_AGENT_ERRORS:
        lock_and_renew(lease)
        AgentError.objects.bulk_create(AgentError(run_id=lease.run_id, text=text) for text in texts)
