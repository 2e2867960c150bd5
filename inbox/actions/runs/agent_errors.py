"""Storing the exceptions of agents for their authors, in the demo and where a team allows it."""

from collections.abc import Sequence

from django.db import transaction

from inbox.actions.runs.run_lease import RunLease, lock_and_renew
from inbox.models import AgentError
from inbox.queries.runs.agent_errors import shows_agent_errors
from inbox.rules.schema.secrets import masked_prose


@transaction.atomic(durable=True)
def record_agent_errors(*, lease: RunLease, texts: Sequence[str]) -> None:
    """
    Store what an agent raised, with lines of its code, where the team or the demo shows it.

    Exceptions may have secrets in their texts, so nothing else stores them.

    Raises:
        LeaseLost: the run was ended or taken over.
    """
    thread, _ = lock_and_renew(lease, with_team=True)
    if shows_agent_errors(thread.team):
        AgentError.objects.bulk_create(
            AgentError(run_id=lease.run_id, text=masked_prose(text)) for text in texts
        )
