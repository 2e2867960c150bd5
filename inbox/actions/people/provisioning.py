"""Provisioning teams, members and agents from commands."""

from django.db import transaction

from inbox.actions.audit import audit_trail
from inbox.actions.people.accounts import end_sessions
from inbox.models import Agent, Membership, Team, User
from inbox.models.clock import database_now
from inbox.rules.errors import AddressTaken, UsernameTaken
from inbox.rules.people.access import Actor, Role


@transaction.atomic(durable=True)
def ensure_team(*, slug: str, name: str, actor: Actor) -> Team:
    """Create a team, or return the one that has this slug."""
    team, created = Team.objects.get_or_create(slug=slug, defaults={"name": name})
    if created:
        audit_trail.record("team.created", actor, database_now(), team_id=team.pk)
    return team


@transaction.atomic(durable=True)
def ensure_agent(
    *, team: Team, slug: str, implementation: str, description: str, actor: Actor
) -> Agent:
    """
    Create an agent of the registry in a team, or return the one that has this slug.

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
        audit_trail.record("agent.added", actor, now, team_id=team.pk, agent=slug)
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
    audit_trail.record(
        "member.added", actor, database_now(), team_id=team.pk, username=username, role=role.value
    )
    return user


@transaction.atomic(durable=True)
def set_password(*, username: str, password: str, actor: Actor) -> None:
    """Set a user's password, and end all their sessions."""
    user = User.objects.get(username=username)
    user.set_password(password)
    user.save(update_fields=["password"])
    end_sessions(user.pk)
    now = database_now()
    audit_trail.record_all(
        audit_trail.build_entry("password.set", actor, now, team_id=team_id, username=username)
        for team_id in user.memberships.values_list("team", flat=True)
    )
