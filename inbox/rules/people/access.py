"""Actors, permissions and roles."""

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from uuid import UUID

from inbox.rules.people.required_sign_in import Proof, is_met
from inbox.rules.text.messages import TranslatableMessage


class Permission(StrEnum):
    """A permission of a role; the values are the scopes of API keys."""

    READ = "read"  #: see threads, runs, interrupts and decisions
    RUN = "run"  #: start and cancel runs
    DECIDE = "decide"  #: answer interrupts
    ADMIN = "admin"  #: change the team, its agents and its keys


#: The error messages for missing permissions.
MISSING_PERMISSION = {
    Permission.READ: TranslatableMessage("This requires the read permission."),
    Permission.RUN: TranslatableMessage("This requires the run permission."),
    Permission.DECIDE: TranslatableMessage("This requires the decide permission."),
    Permission.ADMIN: TranslatableMessage("This requires the admin permission."),
}


class Role(StrEnum):
    VIEWER = "viewer"  #: reads and starts runs
    REVIEWER = "reviewer"  #: also decides
    ADMIN = "admin"  #: also manages the team


ROLE_PERMISSIONS: dict[Role, frozenset[Permission]] = {
    Role.VIEWER: frozenset({Permission.READ, Permission.RUN}),
    Role.REVIEWER: frozenset({Permission.READ, Permission.RUN, Permission.DECIDE}),
    Role.ADMIN: frozenset(Permission),
}
#: The roles of those who may decide.
DECIDERS = [role for role, allowed in ROLE_PERMISSIONS.items() if Permission.DECIDE in allowed]


class ActorKind(StrEnum):
    HUMAN = "human"
    KEY = "key"
    AGENT = "agent"  #: only in the audit trail; has no permissions
    SYSTEM = "system"


@dataclass(frozen=True)
class Actor:
    """A user, API key, agent or part of the system that acts, as in the audit trail."""

    kind: ActorKind
    label: str
    user_id: int | None = None
    key_id: UUID | None = None
    team_id: UUID | None = None  #: of a key
    scopes: frozenset[Permission] = field(default_factory=frozenset)  #: of a key
    #: The sign-in method, as `auth_methods.sign_in_method` returns it; "key" for an API key.
    method: str = ""
    #: The digest of a user's session key; the session may end at any time.
    session_key: str = field(default="", repr=False)
    signed_in_at: datetime | None = None  #: when the user proved last who they are
    proofs: frozenset[Proof] = frozenset()  #: of a session, for teams that require a sign-in
    agent_id: UUID | None = None  #: the agent to which a key is limited
    #: The digest of the token that was sent; a former token of a key ends before the key.
    token_digest: str = field(default="", repr=False)
    address: str = field(default="", repr=False)  #: of the client that uses a key
    link_id: UUID | None = None  #: of a mail, by which a person decides one request
    on_behalf: str = ""  #: the creator of the key
    maker_id: int | None = None  #: the person who received the token of the key that was sent
    key_people: frozenset[int] = frozenset()  #: everybody who can act with the key
    #: The account in a chat that acts for the person; it may be disconnected at any time.
    chat_identity_id: UUID | None = None
    directory_id: UUID | None = None  #: that acts over SCIM; its token may end at any time
    #: A superuser in the admin, who administers every team.
    runs_installation: bool = False

    def __hash__(self) -> int:
        # Hashing all fields took 10 % of the CPU time of 1,000 waiting programs.
        return hash((self.label, self.user_id, self.token_digest, self.session_key, self.address))

    @property
    def ident(self) -> str:
        """A stable id of the actor."""
        return str(self.user_id or self.key_id or self.label)

    @property
    def person_id(self) -> int | None:
        """The person who acts, or who received the token of the key that acts."""
        return self.user_id or self.maker_id

    @property
    def person_ids(self) -> frozenset[int]:
        """The person who acts, or everybody who can act with the key that does."""
        return self.key_people if self.user_id is None else frozenset({self.user_id})


def may_enter(actor: Actor, required_sign_in: str) -> bool:
    """
    Return whether a person's session meets what a team requires of sign-ins.

    People without a session (links in mails, accounts in chats) are covered by the ways in that the
    team's policy names.
    """
    return not actor.session_key or is_met(required_sign_in, actor.proofs)


def actor_key(actor: Actor) -> str:
    """Return the key of rows about an actor: kind and id, at most 80 characters."""
    return f"{actor.kind}:{actor.ident}"[:80]


def may_see_secrets(actor: Actor) -> bool:
    """
    Return whether the REST API returns secrets unmasked: to API keys that may decide.

    Users reveal secrets one by one, which is recorded in the audit trail.
    """
    return actor.kind is ActorKind.KEY and Permission.DECIDE in actor.scopes


def agent_actor(agent_id: UUID) -> Actor:
    """Return the actor of an agent, which has no permissions."""
    return Actor(kind=ActorKind.AGENT, label=str(agent_id))


POLICY = Actor(kind=ActorKind.SYSTEM, label="system:policy")
EXPIRY = Actor(kind=ActorKind.SYSTEM, label="system:expiry")
#: A program that takes its request back; `on_behalf` is its key.
WITHDRAWAL = Actor(kind=ActorKind.SYSTEM, label="system:withdrawal")
SWEEPER = Actor(kind=ActorKind.SYSTEM, label="system:sweeper")
OPERATOR = Actor(kind=ActorKind.SYSTEM, label="system:operator")
ENGINE = Actor(kind=ActorKind.SYSTEM, label="system:engine")
WEBHOOK_SENDER = Actor(kind=ActorKind.SYSTEM, label="system:webhooks")
NOTIFIER = Actor(kind=ActorKind.SYSTEM, label="system:notifications")
#: The holder of a link in a mail that ends such mails.
SUBSCRIBER = Actor(kind=ActorKind.SYSTEM, label="system:unsubscribe")
#: The holder of a signed link to a file.
FILE_LINK = Actor(kind=ActorKind.SYSTEM, label="system:file-link")
SIGN_IN = Actor(kind=ActorKind.SYSTEM, label="system:sign-in")
RETENTION = Actor(kind=ActorKind.SYSTEM, label="system:retention")
SEED = Actor(kind=ActorKind.SYSTEM, label="system:seed")
