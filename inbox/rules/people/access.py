"""Who may do what: actors, permissions and the table of roles."""

from dataclasses import dataclass, field
from enum import StrEnum
from uuid import UUID

from inbox.rules.text.messages import TranslatableMessage


class Permission(StrEnum):
    """What a role or an API key's scope allows; the values are the scopes."""

    READ = "read"  #: see threads, runs, interrupts and what came of them
    RUN = "run"  #: start and cancel runs
    DECIDE = "decide"  #: answer interrupts
    ADMIN = "admin"  #: change the team, its agents and its keys


#: What whoever lacks a permission is told.
MISSING_PERMISSION = {
    Permission.READ: TranslatableMessage("This requires the read permission."),
    Permission.RUN: TranslatableMessage("This requires the run permission."),
    Permission.DECIDE: TranslatableMessage("This requires the decide permission."),
    Permission.ADMIN: TranslatableMessage("This requires the admin permission."),
}


class Role(StrEnum):
    VIEWER = "viewer"  #: looks on and starts runs
    REVIEWER = "reviewer"  #: decides as well
    ADMIN = "admin"  #: manages the team as well


ROLE_PERMISSIONS: dict[Role, frozenset[Permission]] = {
    Role.VIEWER: frozenset({Permission.READ, Permission.RUN}),
    Role.REVIEWER: frozenset({Permission.READ, Permission.RUN, Permission.DECIDE}),
    Role.ADMIN: frozenset(Permission),
}


class ActorKind(StrEnum):
    HUMAN = "human"
    KEY = "key"
    AGENT = "agent"  #: says and does, but decides nothing: it has no permission anywhere
    SYSTEM = "system"


@dataclass(frozen=True)
class Actor:
    """Whoever acts, as the audit trail names them."""

    kind: ActorKind
    label: str
    user_id: int | None = None
    key_id: UUID | None = None
    team_id: UUID | None = None  #: the one team of a key
    scopes: frozenset[Permission] = field(default_factory=frozenset)
    method: str = (
        ""  #: how they signed in, as `signing.sign_in_method` says it; "key" for a machine
    )
    #: The digest of the session of a person in a browser, which may end at any time.
    session_key: str = field(default="", repr=False)
    agent_id: UUID | None = None  #: the one agent of a key that is an agent's own
    #: which of a key's tokens was sent: the one before the last ends earlier than the key
    token_digest: str = field(default="", repr=False)
    on_behalf: str = ""  #: who made the key
    #: A superuser in the admin: administers every team, as long as they are a superuser.
    runs_installation: bool = False

    @property
    def ident(self) -> str:
        """A stable name for the row of whoever acts."""
        return str(self.user_id or self.key_id or self.label)


def actor_key(actor: Actor) -> str:
    """Return what rows about an actor are found by: kind and stable id, at most 80 characters."""
    return f"{actor.kind}:{actor.ident}"[:80]


def may_see_secrets(actor: Actor) -> bool:
    """
    Whether secrets stand unmasked in what REST answers: for machines that decide.

    People who decide reveal them one by one, and the audit trail says so.
    """
    return actor.kind is ActorKind.KEY and Permission.DECIDE in actor.scopes


def agent_actor(agent_id: UUID) -> Actor:
    """An agent as the audit trail names it; nothing is permitted to it."""
    return Actor(kind=ActorKind.AGENT, label=str(agent_id))


EXPIRY = Actor(kind=ActorKind.SYSTEM, label="system:expiry")
SWEEPER = Actor(kind=ActorKind.SYSTEM, label="system:sweeper")
ENGINE = Actor(kind=ActorKind.SYSTEM, label="system:engine")
WEBHOOK_SENDER = Actor(kind=ActorKind.SYSTEM, label="system:webhooks")
RETENTION = Actor(kind=ActorKind.SYSTEM, label="system:retention")
SEED = Actor(kind=ActorKind.SYSTEM, label="system:seed")
