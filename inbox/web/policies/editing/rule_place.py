"""The policy that the form for a rule changes, and what the form can choose from."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final
from uuid import UUID

from django.utils.translation import gettext_noop

from inbox.queries.agents.agents import agents_for
from inbox.queries.people.access import require
from inbox.queries.people.groups import groups_page
from inbox.queries.people.members import members_of
from inbox.queries.people.teams import team_for
from inbox.queries.policies.policies import policy_state, readable_policy
from inbox.queries.policies.tools import TeamTool
from inbox.rules.people.access import Actor, Permission
from inbox.rules.policies.language.policy import Policy, Slot
from inbox.rules.policies.slots import Person
from inbox.web.policies.editing.drafts import base_digest, base_policy
from inbox.web.policies.editing.team_tools import team_tools

if TYPE_CHECKING:
    from inbox.models import PolicyVersion, User

#: The facts besides arguments, with their JSON types and words.
FACTS: Final = {
    "/environment": ("string", gettext_noop("environment of the agent")),
    "/local_time": ("time", gettext_noop("time of the request")),
    "/agent": ("string", gettext_noop("name of the agent")),
    "/tool": ("string", gettext_noop("name of the tool")),
    "/requester/role": ("string", gettext_noop("role of the requester")),
    "/requester/groups": ("array", gettext_noop("groups of the requester")),
    "/requester/id": ("string", gettext_noop("username of the requester")),
    "/requester/kind": ("string", gettext_noop("kind of requester")),
}


@dataclass(frozen=True)
class Place:
    """The draft of a team, its version in force, and its tools, agents and people."""

    team_id: UUID
    policy: Policy
    digest: str
    version: "PolicyVersion | None"
    in_force: Policy
    tools: Sequence[TeamTool]
    people: "Mapping[str, Sequence[User]]"  #: who fills a slot, by its key
    environments: Sequence[str]
    agents: Sequence[str]

    @property
    def groups(self) -> list[str]:
        return [key.partition(":")[2] for key in self.people if key.startswith("group:")]

    def types(self, names: Sequence[str]) -> dict[str, str]:
        """Return the types by fact: of the arguments of these tools, without any of all tools."""
        types: dict[str, str] = {}
        for tool in self.tools_of(names):
            for name, kind in tool.arguments.items():
                fact = _fact(name)
                types[fact] = kind if types.get(fact, kind) == kind else ""
        return {**types, **{fact: kind for fact, (kind, _) in FACTS.items()}}

    def ranges(self, names: Sequence[str]) -> dict[str, tuple[float, float]]:
        """Return the lowest and the highest number by fact, in recent calls of these tools."""
        ranges: dict[str, tuple[float, float]] = {}
        for tool in self.tools_of(names):
            for name, (low, high) in tool.ranges.items():
                least, most = ranges.get(_fact(name), (low, high))
                ranges[_fact(name)] = min(low, least), max(high, most)
        return ranges

    def tools_of(self, names: Sequence[str]) -> list[TeamTool]:
        return [tool for tool in self.tools if tool.name in names or not names]


def _fact(name: str) -> str:
    return name.replace("~", "~0").replace("/", "~1")


def place_of(actor: Actor, team: str) -> Place:
    """
    Return the policy of a team to its administrators.

    Raises:
        NotFound, Forbidden.
    """
    team_id = team_for(actor, team).pk
    require(actor, team_id, Permission.ADMIN)
    state = policy_state(actor, team_id)
    agents = [agent for agent in agents_for(actor) if agent.team_id == team_id]
    return Place(
        team_id,
        base_policy(state),
        base_digest(state),
        state.version,
        readable_policy(state.version),
        team_tools(actor, team_id),
        _people(actor, team_id),
        sorted({agent.environment for agent in agents if agent.environment}),
        [agent.slug for agent in agents],
    )


def _people(actor: Actor, team_id: UUID) -> "dict[str, Sequence[User]]":
    members = [row for row in members_of(actor, team_id) if row.user.is_active]
    people: dict[str, Sequence[User]] = {}
    for slot in (Slot("role", "reviewer"), Slot("role", "admin")):
        people[slot.key] = [row.user for row in members if Person("", row.role).fits(slot)]
    for group in groups_page(actor, team_id):
        users = [member.membership.user for member in group.members.all()]
        people[f"group:{group.name}"] = [user for user in users if user.is_active]
    return people
