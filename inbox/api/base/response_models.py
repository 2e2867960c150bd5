"""The shapes of REST's answers: what `shapes.py` builds, and what the schema tells of it."""

from datetime import datetime
from typing import (
    Annotated,
    Any,
    Generic,
    Literal,
    NotRequired,  # pydantic cannot read the one of 3.11
    TypeVar,
)

from pydantic import ConfigDict, Field, WithJsonSchema, with_config
from typing_extensions import TypedDict

from agents.adapters.remote.probe_report import ProbeResult
from inbox.rules.people.access import ActorKind
from inbox.rules.runs.states import (
    EntryStatus,
    InterruptStatus,
    RunStatus,
    ToolCallOutcome,
    ToolCallState,
)

Item = TypeVar("Item")
Id = Annotated[str, WithJsonSchema({"type": "string", "format": "uuid"})]
#: JSON of AG-UI 1.0, as an agent or a client wrote it.
Agui = Annotated[dict[str, Any], Field(description="AG-UI 1.0, in the agent's words")]

#: What an answer holds is all in the schema, and what the schema says is all in the answer.
exact = with_config(ConfigDict(extra="forbid", use_attribute_docstrings=True))
_open = with_config(ConfigDict(extra="allow", use_attribute_docstrings=True))


@exact
class Listed(TypedDict, Generic[Item]):
    results: list[Item]


@exact
class Page(TypedDict, Generic[Item]):
    results: list[Item]
    next_after: str | None
    """The `after` of the next page; null on the last one."""


@_open
class Problem(TypedDict):
    """An error (RFC 9457). Some have more members: `problems`, or `by` whom and `at` what time."""

    type: str
    title: str
    status: int
    detail: str
    """A sentence for people."""
    code: str
    """What programs go by."""
    request_id: NotRequired[str]
    """The request's name in the log."""


# -- agents ---------------------------------------------------------------------------------------


@exact
class Told(TypedDict):
    """What an agent tells of itself; every text is its own, and cut."""

    name: str
    type: str
    version: str
    flags: list[str]


@exact
class ConnectionTest(TypedDict):
    found: ProbeResult
    message: str
    """What was found, for people."""
    status: int | None
    content_type: str | None
    detail: str | None
    protocol_version: str | None
    dialect: str | None
    events: list[str] | None
    error: str | None
    refused: bool
    """Whether it refused an answer to what it never asked, as AG-UI 1.0 wants it."""
    began_to_work: bool
    capabilities: Told | None
    milliseconds: int


@exact
class LatestTest(ConnectionTest):
    at: datetime


@exact
class TestResult(TypedDict):
    """All that those who do not administer the team learn of a test."""

    found: ProbeResult
    at: datetime


@exact
class Remote(TypedDict):
    """Where an agent is: `url` and `headers` are for administrators."""

    url: NotRequired[str]
    headers: NotRequired[list[str] | None]
    """Their names; null if they cannot be read any more."""
    test: LatestTest | TestResult | None


@exact
class Agent(TypedDict):
    id: Id
    name: str
    team: str
    description: str
    url: str
    """Its AG-UI address."""
    kind: Literal["local", "remote"]
    remote: Remote | None


@exact
class AgentWithCapabilities(Agent):
    capabilities: Agui


@exact
class Capabilities(TypedDict):
    capabilities: Agui


@exact
class InputSchema(TypedDict):
    input_schema: dict[str, Any] | None
    """Of the `input` in `forwarded_props`; null if a message is all that it takes."""


# -- runs and threads -----------------------------------------------------------------------------


@exact
class Run(TypedDict):
    id: Id
    run_id: str
    """Its id on AG-UI's side, unique in its thread at most."""
    thread: Id
    thread_id: str
    agent: str
    status: RunStatus
    attempt: int
    error_code: str | None
    resumes: Id | None
    """The interrupted run that this one continues."""
    retries: Id | None
    """The failed run that this one tries again."""
    started_by: str
    queued_at: datetime
    started_at: datetime | None
    finished_at: datetime | None
    terminal_event: Agui | None
    """RUN_FINISHED or RUN_ERROR; null in lists, and until it has ended."""


@exact
class AcceptedRun(Run):
    replayed: bool
    """Whether an earlier request has made this run."""


@exact
class Thread(TypedDict):
    id: Id
    thread_id: str
    """Its id on AG-UI's side, unique with its agent."""
    agent: str
    title: str
    last_seq: int
    created_at: datetime
    updated_at: datetime


@exact
class MessageSource(TypedDict):
    source: Literal["client", "agent"]
    """The author: `client` if a client sent the message as it stands, else `agent`, whatever its
    role is."""


@_open
class MessageMetadata(TypedDict):
    signoff: MessageSource


@_open
class Message(TypedDict):
    """A message of AG-UI 1.0; what else it holds goes by its role."""

    id: str
    role: str
    content: NotRequired[Any]
    name: NotRequired[str]
    toolCalls: NotRequired[list[Agui]]
    toolCallId: NotRequired[str]
    error: NotRequired[str]
    metadata: MessageMetadata


@exact
class ThreadWithMessages(Thread):
    messages: list[Message]
    state: Any
    active_run: Id | None


@exact
class ThreadState(TypedDict):
    state: Any


@exact
class LoggedEvent(TypedDict):
    seq: int
    run: Id
    event: Agui


@exact
class EventPage(TypedDict):
    results: list[LoggedEvent]
    next_after: int | None
    """The `after` of the next page; null on the last one."""


# -- interrupts -----------------------------------------------------------------------------------


@exact
class Decision(TypedDict):
    id: Id
    status: EntryStatus
    payload: Any
    unseen: bool
    """Whether a person approved this explicitly without seeing what is masked."""
    by: str
    at: datetime
    withdrawn_at: datetime | None


@exact
class Masked(TypedDict):
    pointer: str
    """Where it is in this answer (RFC 6901)."""
    hidden_by: Literal["name", "agent"]
    """The name of its key, or a mark in the schema that the agent sent."""


@exact
class Interrupt(TypedDict):
    id: Id
    interrupt_id: str
    run: Id
    thread: Id
    thread_id: str
    agent: str
    status: InterruptStatus
    reason: str
    title: str
    tool: str | None
    args: Any
    """What an approval lets run: another answer may have changed it since this was asked."""
    interrupt: Agui
    masked: list[Masked]
    """The strings that stand masked here, in `args` and in the metadata of `interrupt`."""
    view_digest: str
    """What a decision has to name, so that it counts for what was shown."""
    expires_at: datetime | None
    created_at: datetime
    closed_at: datetime | None
    decision: Decision | None


@exact
class Sibling(TypedDict):
    id: Id
    title: str
    status: InterruptStatus


@exact
class InterruptWithSiblings(Interrupt):
    siblings: list[Sibling]
    """What the same run asked as well: it goes on when all are answered."""


@exact
class Claim(TypedDict):
    by: str
    at: datetime
    until: datetime


@exact
class Comment(TypedDict):
    id: Id
    text: str
    by: str
    at: datetime


@exact
class Result(TypedDict):
    """What became of one of many: a decision, or the error that one alone would have been."""

    id: Id
    decision: Decision | None
    error: Problem | None


@exact
class ToolCall(TypedDict):
    id: Id
    tool_call_id: str
    """Its id on AG-UI's side, unique in its thread."""
    run: Id
    tool: str
    state: ToolCallState
    effect: str | None
    """What the agent says of it when it begins: `read`, `idempotent` or `once`."""
    proposed_args: Any
    approved_args: Any
    """Null if nobody has approved it; other than the proposed ones if somebody has edited them."""
    executed_args: Any
    """Null if it has not begun."""
    decisions: list[Decision]
    """Those that stand, in the order asked: a doubt about what has happened is asked later."""
    result: str | None
    proposed_at: datetime
    started_at: datetime | None
    settled_at: datetime | None


@exact
class WhoActed(TypedDict):
    kind: ActorKind
    id: str
    name: str | None
    """Null once it was erased."""


@exact
class AuditEntry(TypedDict):
    seq: int
    """Its place in the chain of its thread, from 1 without gaps."""
    hash: str
    action: str
    actor: WhoActed
    run: Id | None
    interrupt: Id | None
    tool_call: Id | None
    detail: dict[str, Any] | None
    """Null once it was erased."""
    at: datetime


@exact
class TrailEntry(AuditEntry):
    id: int
    """Its place among all, the cursor of the search."""
    team: str | None
    thread: Id | None
    """The thread whose chain it is in; null for what belongs to the team."""


@exact
class TrailCall(ToolCall):
    agent: str
    thread: Id
    thread_id: str
    decision: ToolCallOutcome | None
    """What the answers that stand come to."""
    decided_by: str | None
    """The id of the person or key whose they are, or the name of a part of Signoff."""
