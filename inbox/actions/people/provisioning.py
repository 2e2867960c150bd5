"""Provisioning teams, members and agents from commands."""

from django.db import transaction

from inbox.actions.audit import audit_trail
from inbox.actions.people.accounts import change_password
from inbox.actions.people.members import add_membership
from inbox.actions.policies.installation import version_for_new_team
from inbox.models import Agent, Team, User
from inbox.platform.clock import database_now
from inbox.rules.errors import AddressTaken, UsernameTaken
from inbox.rules.people.access import Actor, Role


@transaction.atomic(durable=True)
def ensure_team(*, slug: str, name: str, actor: Actor) -> Team:
    """Create a team, or return the one that has this slug."""
    defaults = {"name": name, "installation_version_id": version_for_new_team()}
    team, created = Team.objects.get_or_create(slug=slug, defaults=defaults)
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
    *, team: Team, username: str, full_name: str, password: str | None, role: Role, actor: Actor
) -> User:
    """
    Create a user with this password, or none yet, as a member of the team.

    Raises:
        UsernameTaken.
    """
    if User.objects.filter(username=username).exists():
        raise UsernameTaken(f"There is a user {username!r} already.")
    first, _, last = full_name.partition(" ")
    user = User.objects.create_user(username, password=password, first_name=first, last_name=last)
    add_membership(team.pk, user, role, actor)
    return user


def set_password(*, username: str, password: str, actor: Actor) -> None:
    """Set a user's password, and end all their sessions."""
    change_password(user=User.objects.get(username=username), password=password, actor=actor)
