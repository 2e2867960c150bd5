"""Remote agents: their URLs, HTTP headers and connection tests."""

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from django.db import transaction

from inbox.actions.audit import audit_trail
from inbox.actions.conflicts import retry_on_conflict
from inbox.models import Agent, Endpoint, Interrupt
from inbox.models.locks import lock_agent, lock_thread
from inbox.platform.clock import database_now
from inbox.platform.encryption import DecryptionFailed, decrypt, encrypt
from inbox.platform.outgoing_hosts import agent_hosts
from inbox.queries.people.access import require
from inbox.rules.agents.remote_agents import REMOTE, StoredEndpoint, is_remote, plan_headers
from inbox.rules.decisions.consent import canonical_json, endpoint_digest
from inbox.rules.errors import AddressTaken, AgentChanged
from inbox.rules.people.access import Actor, Permission
from inbox.rules.runs.states import InterruptStatus
from inbox.rules.text.messages import TranslatableMessage


class RemoteAgentResult(NamedTuple):
    agent: Agent
    is_new: bool


@retry_on_conflict
@transaction.atomic(durable=True)
def set_remote_agent(
    *,
    team_id: UUID,
    slug: str,
    url: str,
    headers: Mapping[str, str | None] | None,
    actor: Actor,
    description: str | None = None,
    must_be_new: bool = False,
    seen_at: datetime | None = None,
    check_seen: Callable[[], None] = lambda: None,
) -> RemoteAgentResult:
    """
    Add a remote agent to a team, or change one.

    None keeps the stored description, all headers, or the value of one header. Headers are kept
    only while the URL has the same scheme, host and port. The audit trail has the names of the
    headers and no values. The result of the last connection test is deleted.

    Raises:
        NotFound, Forbidden.
        InvalidValue: the slug, the URL or a header is invalid; `problems` lists everything.
        AddressTaken: another team or an agent of this installation has this slug, or the agent
            exists and `must_be_new`.
        AgentChanged: the agent has changed since `seen_at`.
        Any error of `check_seen`, which is called under the lock.
    """
    require(actor, team_id, Permission.ADMIN)
    agent = lock_agent(slug)
    is_new = agent is None
    if agent is not None and (
        must_be_new or agent.team_id != team_id or not is_remote(agent.implementation)
    ):
        raise AddressTaken(
            TranslatableMessage(
                "An agent named {name} already exists. Choose another name.", name=repr(slug)
            )
        )
    check_seen()
    endpoint = Endpoint.objects.filter(agent=agent).first() if agent else None
    if endpoint is not None and seen_at not in (None, endpoint.changed_at):
        raise AgentChanged(
            TranslatableMessage(
                "This agent was changed in the meantime. Check its current settings."
            )
        )
    if description is None:
        description = agent.description if agent else ""
    stored_headers = plan_headers(
        slug=slug,
        url=url,
        description=description,
        headers=headers,
        stored=_stored_endpoint(endpoint),
        hosts=agent_hosts(),
    )
    now = database_now()
    if agent is None:
        agent = Agent(team_id=team_id, slug=slug, created_at=now)
        agent.implementation = f"{REMOTE}{agent.pk}"
    agent.description = description
    agent.save(force_insert=is_new)
    has_moved = endpoint is not None and endpoint.url != url
    revision = endpoint.revision + has_moved if endpoint else 1
    columns = {"url": url, "revision": revision, "headers": encrypt(stored_headers)}
    columns |= {"changed_at": now, "tested_at": None, "test_report": None}
    Endpoint.objects.update_or_create(agent=agent, defaults=columns)
    if has_moved:
        _update_open_interrupts(agent, endpoint_digest(url, revision))
    audit_trail.record(
        "agent.added" if is_new else "agent.changed",
        actor,
        now,
        team_id=team_id,
        agent=slug,
        url=url,
        headers=sorted(stored_headers),
    )
    return RemoteAgentResult(agent, is_new)


def _update_open_interrupts(agent: Agent, digest: str) -> None:
    """
    Store the new address in the open interrupts of the agent, which changes their view digests.

    Locks each thread, because a concurrent decision signs the address that it has read.
    """
    open_interrupts = Interrupt.objects.filter(agent=agent, status=InterruptStatus.OPEN)
    for thread_id in open_interrupts.order_by("thread").values_list("thread", flat=True).distinct():
        lock_thread(thread_id)
        open_interrupts.filter(thread=thread_id).update(endpoint_digest=digest)


@transaction.atomic(durable=True)
def record_test(
    *, agent_id: UUID, changed_at: datetime, report: Mapping[str, Any], actor: Actor
) -> None:
    """
    Store the report of a connection test, unless the agent has changed since `changed_at`.
    """
    agent = Agent.objects.get(pk=agent_id)
    now = database_now()
    endpoint = Endpoint.objects.filter(agent=agent, changed_at=changed_at)
    endpoint.update(tested_at=now, test_report=canonical_json(report))
    audit_trail.record(
        "agent.tested", actor, now, team_id=agent.team_id, agent=agent.slug, found=report["found"]
    )


def _stored_endpoint(endpoint: Endpoint | None) -> StoredEndpoint | None:
    if endpoint is None:
        return None
    try:
        return StoredEndpoint(endpoint.url, decrypt(endpoint.headers))
    except DecryptionFailed:
        return StoredEndpoint(endpoint.url, None)
