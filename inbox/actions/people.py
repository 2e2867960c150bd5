"""Teams, members, agents and keys."""

import secrets
from collections.abc import Collection
from uuid import UUID

from django.db import transaction

from inbox.actions import audit
from inbox.domain.access import Actor, Permission, Role
from inbox.domain.errors import AddressTaken, UsernameTaken
from inbox.domain.teamwork import check_grace
from inbox.models import Agent, ApiKey, Membership, Team, User
from inbox.models.clock import database_now
from inbox.selectors.access import require
from inbox.selectors.keys import key_digest

KEY_PREFIX = "so_"


@transaction.atomic(durable=True)
def ensure_team(*, slug: str, name: str, actor: Actor) -> Team:
    """Create a team, or return the one that has this slug."""
    team, created = Team.objects.get_or_create(slug=slug, defaults={"name": name})
    if created:
        audit.record(action="team.created", actor=actor, now=database_now(), team_id=team.pk)
    return team


@transaction.atomic(durable=True)
def set_grace(*, team_id: UUID, seconds: int, actor: Actor) -> Team:
    """
    Let complete sets of answers wait for so long before they resume their run, 0 to 3,600 s.

    Sets that are complete already keep the time they were given. Safe to replay: the same period
    again leaves no audit entry.

    Raises:
        NotFound, Forbidden, InvalidInput.
    """
    require(actor, team_id, Permission.ADMIN)
    check_grace(seconds)
    team = Team.objects.get(pk=team_id)
    if team.grace_seconds != seconds:
        audit.record(
            action="team.grace_set",
            actor=actor,
            now=database_now(),
            team_id=team.pk,
            seconds=seconds,
        )
        team.grace_seconds = seconds
        team.save(update_fields=["grace_seconds"])
    return team


@transaction.atomic(durable=True)
def ensure_agent(
    *, team: Team, slug: str, implementation: str, description: str, actor: Actor
) -> Agent:
    """
    Give a team an agent of the registry, or return the one that has this slug.

    Raises:
        AddressTaken: another team has it.
    """
    now = database_now()
    agent, created = Agent.objects.get_or_create(
        slug=slug,
        defaults={
            "team": team,
            "implementation": implementation,
            "description": description[:200],
            "created_at": now,
        },
    )
    if agent.team_id != team.pk:
        raise AddressTaken(f"Another team has an agent {slug!r}; choose another address.")
    if created:
        audit.record(action="agent.added", actor=actor, now=now, team_id=team.pk, agent=slug)
    return agent


@transaction.atomic(durable=True)
def add_member(
    *, team: Team, username: str, full_name: str, password: str, role: Role, actor: Actor
) -> User:
    """
    Create a user with this password, as a member of the team.

    Raises:
        UsernameTaken.
    """
    if User.objects.filter(username=username).exists():
        raise UsernameTaken(f"There is a user {username!r} already.")
    first, _, last = full_name.partition(" ")
    user = User.objects.create_user(username, password=password, first_name=first, last_name=last)
    Membership.objects.create(team=team, user=user, role=role)
    audit.record(
        action="member.added",
        actor=actor,
        now=database_now(),
        team_id=team.pk,
        username=username,
        role=role.value,
    )
    return user


@transaction.atomic(durable=True)
def set_password(*, username: str, password: str, actor: Actor) -> None:
    """Give a user another password, whoever is signed in as them stays so."""
    user = User.objects.get(username=username)
    user.set_password(password)
    user.save(update_fields=["password"])
    now = database_now()
    for membership in user.memberships.all():
        audit.record(
            action="password.set",
            actor=actor,
            now=now,
            team_id=membership.team_id,
            username=username,
        )


@transaction.atomic(durable=True)
def create_api_key(*, team: Team, name: str, scopes: Collection[Permission], actor: Actor) -> str:
    """Create a key and return it: it is shown once and stored as its sha256 only."""
    token = KEY_PREFIX + secrets.token_urlsafe(32)
    now = database_now()
    ApiKey.objects.create(
        team=team,
        name=name[:80],
        prefix=token[:9],
        digest=key_digest(token),
        scopes=sorted(scopes),
        created_at=now,
    )
    audit.record(
        action="key.created",
        actor=actor,
        now=now,
        team_id=team.pk,
        name=name[:80],
        scopes=sorted(scopes),
    )
    return token
