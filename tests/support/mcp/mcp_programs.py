"""External agents with keys, made at once in the database of a running product."""

import json
from typing import Any, NamedTuple

#: More than there are tests.
MANY = 80


class Program(NamedTuple):
    """A program that runs by itself: its agent, and the key of that agent."""

    agent: str
    key: str


def print_programs() -> None:
    """For `manage.py shell`, beside a running demo: programs of its team as JSON."""
    from inbox.actions.agents.external_agents import set_external_agent
    from inbox.actions.people.api_keys import make_key
    from inbox.queries.people.teams import team_by_slug
    from inbox.rules.people.access import SEED, Permission

    team: Any = team_by_slug("demo")
    programs = []
    for number in range(MANY):
        slug = f"ci-{number}"
        set_external_agent(team_id=team.pk, slug=slug, actor=SEED)
        _, token = make_key(
            team_id=team.pk, name=slug, scopes={Permission.RUN}, agent=slug, actor=SEED
        )
        programs.append(Program(slug, token))
    print(json.dumps(programs))


def read_programs(text: str) -> list[Program]:
    # The shell prints what it has imported before.
    return [Program(*values) for values in json.loads(text.splitlines()[-1])]
