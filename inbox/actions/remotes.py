"""Agents that run elsewhere: where they are, and what they are greeted with."""

from collections.abc import Mapping
from uuid import UUID

from django.core.exceptions import ValidationError
from django.core.validators import validate_slug
from django.db import transaction

from agents.adapters.addresses import AddressRefused, check_url
from inbox.actions import audit
from inbox.domain.access import Actor, Permission
from inbox.domain.errors import AddressTaken, InvalidInput
from inbox.domain.remotes import check_headers
from inbox.models import Agent, Endpoint
from inbox.models.clock import database_now
from inbox.models.sealed import seal
from inbox.selectors.access import require

#: What stands before the id of an agent's row, where others have a name of the registry.
REMOTE = "remote:"


@transaction.atomic(durable=True)
def set_remote_agent(
    *,
    team_id: UUID,
    slug: str,
    url: str,
    headers: Mapping[str, str],
    actor: Actor,
    description: str = "",
) -> Agent:
    """
    Give a team an agent that runs elsewhere, or tell where it is now.

    The audit trail names the headers, and keeps no value of them.

    Raises:
        NotFound, Forbidden.
        InvalidInput: the slug, the URL or a header is none.
        AddressTaken: another team has this slug, or it is an agent of this installation.
    """
    require(actor, team_id, Permission.ADMIN)
    _check(slug, url)
    check_headers(headers)
    now = database_now()
    agent = Agent.objects.select_for_update().filter(slug=slug).first()
    is_new = agent is None
    if agent is None:
        agent = Agent(team_id=team_id, slug=slug, created_at=now)
        agent.implementation = f"{REMOTE}{agent.pk}"
    elif agent.team_id != team_id or not agent.implementation.startswith(REMOTE):
        raise AddressTaken(f"There is another agent {slug!r}; choose another address.")
    agent.description = description[:200]
    agent.save(force_insert=is_new)
    Endpoint.objects.update_or_create(
        agent=agent, defaults={"url": url, "headers": seal(dict(headers)), "changed_at": now}
    )
    audit.record(
        action="agent.added" if is_new else "agent.changed",
        actor=actor,
        now=now,
        team_id=team_id,
        agent=slug,
        url=url,
        headers=sorted(headers),
    )
    return agent


def _check(slug: str, url: str) -> None:
    try:
        validate_slug(slug)
        check_url(url)
    except ValidationError as error:
        raise InvalidInput("A name has letters, digits, - and _ only.") from error
    except AddressRefused as error:
        raise InvalidInput(str(error)) from error
    if not 0 < len(slug) <= 50 or len(url) > 2_000:
        raise InvalidInput("A name has up to 50 characters, and a URL up to 2,000.")
