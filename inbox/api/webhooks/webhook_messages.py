"""The messages of webhooks, for the section `webhooks` of the OpenAPI document."""

from datetime import datetime
from typing import Annotated, Any, Final, Literal

from drf_spectacular.utils import OpenApiWebhook, extend_schema

from inbox.api.base.field_types import AgentName, Id, PersonName, TeamName, example
from inbox.api.base.schema import Schema
from inbox.rules.notifications.events import ChannelEnd, ChannelKind
from inbox.rules.people.access import ActorKind
from inbox.rules.policies.grants import GrantEnd
from inbox.rules.requests.request_states import RequestStatus
from inbox.rules.runs.states import EntryStatus, InterruptStatus, RunStatus
from inbox.rules.webhooks.delivery_rules import EventType


class WebhookThread(Schema):
    id: Id
    thread_id: Annotated[str, example("order-17")]
    """The id that the client gave it."""
    url: Annotated[str, example("https://signoff.example.com/threads/01934f5e/")]
    """Its page, for people."""


class WebhookRun(Schema):
    id: Id
    run_id: Annotated[str, example("r-1")]
    """The id that the client gave it."""


class WebhookEndedRun(WebhookRun):
    status: RunStatus
    error_code: str | None


class WebhookInterrupt(Schema):
    """An interrupt without its content, which `GET /api/interrupts/<id>` has."""

    id: Id
    interrupt_id: Annotated[str, example("int-1")]
    """The id that the agent gave it."""
    status: InterruptStatus
    reason: Annotated[str, example("tool_call")]
    tool: Annotated[str, example("write_to_customer")] | None
    expires_at: datetime | None
    url: Annotated[str, example("https://signoff.example.com/interrupts/01934f5e/")]
    """Its page, for people."""


class WebhookPolicy(Schema):
    version: int | None
    """Of the team's policy; null without one."""
    installation_version: int | None
    """Of the installation's policy; null without one."""
    rules: list[str]


class WebhookDecision(Schema):
    status: EntryStatus
    approved: bool | None
    by: PersonName
    kind: ActorKind
    at: datetime
    override: bool
    """True if a person approved despite the policy."""
    policy: WebhookPolicy | None
    """The version of the team's policy that ruled on the interrupt, and its rules."""


class EventData(Schema):
    """The data of every message."""

    thread: WebhookThread
    agent: AgentName
    team: TeamName


class RunData(EventData):
    run: WebhookEndedRun


class InterruptData(EventData):
    run: WebhookRun
    interrupt: WebhookInterrupt


class OpenInterruptData(InterruptData):
    reopened: bool
    """True if its decision was withdrawn."""


class EscalatedData(InterruptData):
    to: list[Annotated[str, example("group:leads")]]
    """The groups and roles that may decide from now on, too."""


class EndorsedData(InterruptData):
    by: PersonName
    answer: Annotated[Any, example({"approved": True})]
    """The answer of this person, with masked secrets."""
    endorsed: int
    """The number of people who have given this answer."""
    of: int
    """The number of people that the policy requires."""


class ClosedInterruptData(InterruptData):
    decision: WebhookDecision


class WebhookGrant(Schema):
    id: Id
    tool: Annotated[str, example("refund_payment")]
    scope: Literal["thread", "agent"]
    made_by: PersonName
    made_from: Id
    """The interrupt that was approved."""
    expires_at: datetime
    used: int
    most_uses: int
    end_reason: GrantEnd | None


class GrantData(EventData):
    grant: WebhookGrant


class PublishedPolicy(Schema):
    version: int
    digest: Annotated[str, example("3f5a...")]
    """SHA-256 of the canonical JSON of the policy (RFC 8785), as in the audit trail."""
    comment: Annotated[str, example("Refunds up to 50 EUR run")]
    author: PersonName
    published_by: PersonName
    url: Annotated[str, example("https://signoff.example.com/teams/demo/policy/3/")]


class PolicyData(Schema):
    policy: PublishedPolicy
    team: Annotated[str, example("demo")]


class DisabledChat(Schema):
    id: Id
    kind: ChannelKind
    label: Annotated[str, example("#ops")]
    reason: ChannelEnd
    url: Annotated[str, example("https://signoff.example.com/teams/demo/channels/")]
    """Of the page with the team's chats."""


class ChannelData(Schema):
    channel: DisabledChat
    team: Annotated[str, example("demo")]


class DecidedRequest(Schema):
    """A request of a program without its content: read it by its id."""

    id: Id
    status: RequestStatus
    url: Annotated[str, example("https://signoff.example.com/threads/0199c7b2/")]
    session: Annotated[str | None, example("nightly:22")]
    """The program's own name of its session."""


class RequestData(Schema):
    request: DecidedRequest
    agent: AgentName
    team: Annotated[str, example("ops")]


class WebhookCall(Schema):
    id: Id
    item: Annotated[str, example("1")]
    """The program's own id."""
    tool: Annotated[str, example("refund")]


class CallData(RequestData):
    call: WebhookCall


class NoData(Schema):
    """A test message carries no data."""


class RunMessage(Schema):
    type: Literal[EventType.RUN_INTERRUPTED, EventType.RUN_FINISHED]
    timestamp: datetime
    data: RunData


class OpenedMessage(Schema):
    type: Literal[EventType.INTERRUPT_OPENED]
    timestamp: datetime
    data: OpenInterruptData


class NoticeMessage(Schema):
    type: Literal[EventType.INTERRUPT_EXPIRING, EventType.INTERRUPT_REMINDED]
    timestamp: datetime
    data: InterruptData


class EscalatedMessage(Schema):
    type: Literal[EventType.INTERRUPT_ESCALATED]
    timestamp: datetime
    data: EscalatedData


class EndorsedMessage(Schema):
    type: Literal[EventType.INTERRUPT_ENDORSED]
    timestamp: datetime
    data: EndorsedData


class ClosedMessage(Schema):
    type: Literal[EventType.INTERRUPT_DECIDED, EventType.INTERRUPT_EXPIRED]
    timestamp: datetime
    data: ClosedInterruptData


class GrantMessage(Schema):
    type: Literal[EventType.GRANT_MADE, EventType.GRANT_ENDED]
    timestamp: datetime
    data: GrantData


class PolicyMessage(Schema):
    type: Literal[EventType.POLICY_PUBLISHED]
    timestamp: datetime
    data: PolicyData


class ChannelMessage(Schema):
    type: Literal[EventType.CHANNEL_DISABLED]
    timestamp: datetime
    data: ChannelData


class RequestMessage(Schema):
    type: Literal[EventType.REQUEST_DECIDED]
    timestamp: datetime
    data: RequestData


class CallMessage(Schema):
    type: Literal[EventType.CALL_IN_DOUBT, EventType.CALL_DEVIATED]
    timestamp: datetime
    data: CallData


class TestMessage(Schema):
    type: Literal["webhook.test"]
    timestamp: datetime
    data: NoData


_MESSAGES: Final[dict[str, tuple[type[Schema], str]]] = {
    "run.interrupted": (RunMessage, "A run has paused with interrupts"),
    "run.finished": (RunMessage, "A run has ended"),
    "interrupt.opened": (OpenedMessage, "An interrupt waits for a decision"),
    "interrupt.decided": (ClosedMessage, "An interrupt was decided or cancelled"),
    "interrupt.reminded": (NoticeMessage, "A policy reminds people of an open interrupt"),
    "interrupt.escalated": (EscalatedMessage, "More people may decide an open interrupt"),
    "interrupt.endorsed": (EndorsedMessage, "One of several people approved an open interrupt"),
    "interrupt.expiring": (NoticeMessage, "An open interrupt expires soon"),
    "interrupt.expired": (ClosedMessage, "An interrupt has expired"),
    "request.decided": (RequestMessage, "All items of a program's request are answered"),
    "call.in_doubt": (CallMessage, "A program does not say whether a call took effect"),
    "call.deviated": (CallMessage, "A program reports other arguments than the approved ones"),
    "grant.made": (GrantMessage, "A reviewer has allowed further calls of a tool"),
    "grant.ended": (GrantMessage, "A grant has ended"),
    "policy.published": (PolicyMessage, "A version of a team's policy is in force"),
    "channel.disabled": (ChannelMessage, "A chat of a team was switched off"),
    "webhook.test": (TestMessage, "Somebody tests the endpoint"),
}
#: In the description, because OpenAPI describes no headers of webhooks.
_SIGNED: Final = (
    "Signed as Standard Webhooks says, in `webhook-id` (the same whenever it is sent), "
    "`webhook-timestamp` and `webhook-signature`."
)


def _webhook(name: str, shape: type[Schema], summary: str) -> OpenApiWebhook:
    described = extend_schema(
        summary=summary,
        tags=["webhooks"],
        description=_SIGNED,
        request={"application/json": shape},
        responses={"2XX": None},
    )
    return OpenApiWebhook(name, described)


#: For drf-spectacular.
WEBHOOKS: Final = [_webhook(name, *message) for name, message in _MESSAGES.items()]
