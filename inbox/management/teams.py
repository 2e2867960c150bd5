"""Teams and agents created by management commands."""

from contextlib import suppress
from typing import Any

from inbox import engine
from inbox.actions.agents.external_agents import set_external_agent
from inbox.actions.people.provisioning import ensure_agent, ensure_team
from inbox.rules.errors import AddressTaken
from inbox.rules.people.access import SEED


def ensure_team_by_slug(slug: str) -> Any:
    """Return the team with this slug; create it if it does not exist."""
    return ensure_team(slug=slug, name=slug.capitalize(), actor=SEED)


def add_agent(team: str, name: str) -> Any:
    """
    Add an agent of this installation to a team under its own name.

    Raises:
        LookupError, ImportError, AttributeError: there is no such agent; the team is not created.
        AddressTaken: another team has it.
    """
    description = engine.description_of(name)
    return ensure_agent(
        team=ensure_team_by_slug(team),
        slug=name,
        implementation=name,
        description=description,
        actor=SEED,
    )


def add_external_agent(team: str, name: str, description: str) -> None:
    """Add an agent that runs by itself to a team, unless the name is taken."""
    with suppress(AddressTaken):
        set_external_agent(
            team_id=ensure_team_by_slug(team).pk,
            slug=name,
            description=description,
            actor=SEED,
            must_be_new=True,
        )
