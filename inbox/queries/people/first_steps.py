"""The first steps of a new team, as far as its administrator has taken them."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import Exists, Q

from inbox.models import Agent, Interrupt, Invitation, Membership, Team, User
from inbox.rules.runs.states import InterruptStatus


@dataclass(frozen=True)
class FirstSteps:
    has_agent: bool
    has_decided: bool
    has_invited: bool
    has_policy: bool


def first_steps_of(user: User, teams: Sequence[Team], *, demo_agent: str) -> FirstSteps:
    """
    Return the steps of a person in the teams that they administer.

    The agent of the slug `demo_agent` does not count as connected.
    """
    of_teams = Q(team__in=[team.pk for team in teams])
    # The status lets the planner use the partial index on closed interrupts.
    decided = Interrupt.objects.filter(of_teams, decided_by=user).exclude(
        status=InterruptStatus.OPEN
    )
    steps = User.objects.filter(pk=user.pk).values_list(
        Exists(Agent.objects.filter(of_teams).exclude(slug=demo_agent)),
        Exists(decided),
        Exists(Membership.objects.filter(of_teams).exclude(user=user)),
        Exists(Invitation.objects.filter(of_teams)),
        Exists(
            Team.objects.filter(pk__in=[team.pk for team in teams], policy_version__isnull=False)
        ),
    )
    has_agent, has_decided, has_colleague, has_invitation, has_policy = steps.get()
    return FirstSteps(
        has_agent=has_agent,
        has_decided=has_decided,
        has_invited=has_colleague or has_invitation,
        has_policy=has_policy,
    )
