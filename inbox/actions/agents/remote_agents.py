"""Agents that run elsewhere: where they are, and what they are greeted with."""

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from django.db import IntegrityError, transaction

from inbox.actions.audit import audit_trail
from inbox.models import Agent, Endpoint, Interrupt
from inbox.models.clock import database_now
from inbox.models.locks import lock_agent, lock_thread
from inbox.platform.encryption import DecryptionFailed, decrypt, encrypt
from inbox.queries.people.access import require
from inbox.rules.agents.remote_agents import (
    REMOTE,
    StoredEndpoint,
    is_remote,
    plan_headers,
)
from inbox.rules.decisions.consent import canonical_json, endpoint_digest
from inbox.rules.errors import AddressTaken, AgentChanged
from inbox.rules.people.access import Actor, Permission
from inbox.rules.runs.states import InterruptStatus
from inbox.rules.text.messages import TranslatableMessage


class Placed(NamedTuple):
    agent: Agent
    is_new: bool


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
) -> Placed:
    """
    Give a team an agent that runs elsewhere, or tell where it is now.

    None keeps what is kept: the description, all headers, or the value of one. Headers are kept
    only as long as the URL leads to the same scheme, host and port. The audit trail names the
    headers, and keeps no value of them. What a test of the connection found is forgotten.

    Raises:
        NotFound, Forbidden.
        InvalidValue: the slug, the URL or a header is none; `problems` says all that is wrong.
        AddressTaken: another team has this slug, it is an agent of this installation, or it is
            there and must be new.
        AgentChanged: what is kept is not what was seen at that time.
        Whatever `check_seen` raises, under the lock, if it is not what the caller has seen.
    """
    given: dict[str, Any] = {"slug": slug, "url": url, "headers": headers}
    given |= {"team_id": team_id, "actor": actor, "description": description}
    given |= {"must_be_new": must_be_new, "seen_at": seen_at, "check_seen": check_seen}
    try:
        return _set(**given)
    except IntegrityError:
        # Two of them at once: the agent that the other one added is there to be found now.
        return _set(**given)


@transaction.atomic(durable=True)
def _set(
    *,
    team_id: UUID,
    slug: str,
    url: str,
    headers: Mapping[str, str | None] | None,
    actor: Actor,
    description: str | None,
    must_be_new: bool,
    seen_at: datetime | None,
    check_seen: Callable[[], None],
) -> Placed:
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
    planned = plan_headers(
        slug=slug, url=url, description=description, headers=headers, kept=_kept(endpoint)
    )
    now = database_now()
    if agent is None:
        agent = Agent(team_id=team_id, slug=slug, created_at=now)
        agent.implementation = f"{REMOTE}{agent.pk}"
    agent.description = description
    agent.save(force_insert=is_new)
    has_moved = endpoint is not None and endpoint.url != url
    revision = endpoint.revision + has_moved if endpoint else 1
    columns = {"url": url, "revision": revision, "headers": encrypt(planned), "changed_at": now}
    Endpoint.objects.update_or_create(
        agent=agent, defaults={**columns, "tested_at": None, "test": None}
    )
    if has_moved:
        _show_new_place(agent, endpoint_digest(url, revision))
    audit_trail.record(
        action="agent.added" if is_new else "agent.changed",
        actor=actor,
        now=now,
        team_id=team_id,
        agent=slug,
        url=url,
        headers=sorted(planned),
    )
    return Placed(agent, is_new)


def _show_new_place(agent: Agent, digest: str) -> None:
    """
    Change what open interrupts of the agent show: whoever has one on the screen looks again.

    Under the lock of each thread: a decision that is being made signs the place that it read.
    """
    waiting = Interrupt.objects.filter(agent=agent, status=InterruptStatus.OPEN)
    for thread_id in waiting.order_by("thread").values_list("thread", flat=True).distinct():
        lock_thread(thread_id)
        waiting.filter(thread=thread_id).update(endpoint_digest=digest)


@transaction.atomic(durable=True)
def record_test(
    *, agent_id: UUID, changed_at: datetime, report: Mapping[str, Any], actor: Actor
) -> None:
    """
    Keep what a test of the connection found, for everybody to see.

    Of an agent that was changed meanwhile it is not kept: it was about another place.
    """
    agent = Agent.objects.get(pk=agent_id)
    now = database_now()
    endpoint = Endpoint.objects.filter(agent=agent, changed_at=changed_at)
    endpoint.update(tested_at=now, test=canonical_json(report))
    audit_trail.record(
        action="agent.tested",
        actor=actor,
        now=now,
        team_id=agent.team_id,
        agent=agent.slug,
        found=report["found"],
    )


def _kept(endpoint: Endpoint | None) -> StoredEndpoint | None:
    if endpoint is None:
        return None
    try:
        return StoredEndpoint(endpoint.url, decrypt(endpoint.headers))
    except DecryptionFailed:
        return StoredEndpoint(endpoint.url, None)
