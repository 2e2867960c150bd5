"""Teams and their agents, as whoever runs the installation makes them."""

from typing import Any

from inbox import engine
from inbox.actions.people.provisioning import ensure_agent, ensure_team
from inbox.rules.people.access import SEED


def team_of(slug: str) -> Any:
    """The team of this slug, made if there is none."""
    return ensure_team(slug=slug, name=slug.capitalize(), actor=SEED)


def give_agent(team: str, name: str) -> Any:
    """
    Give a team, by its slug, an agent of this installation under its own name.

    Raises:
        LookupError, ImportError, AttributeError: there is no such agent; no team is made for it.
        AddressTaken: another team has it.
    """
    description = engine.description_of(name)
    return ensure_agent(
        team=team_of(team), slug=name, implementation=name, description=description, actor=SEED
    )
