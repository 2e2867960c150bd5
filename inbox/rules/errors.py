"""Everything that can be refused, as one tree; each error has one wire code."""

from collections.abc import Collection, Mapping
from typing import Any, ClassVar
from uuid import UUID


class RequestRejected(Exception):
    """
    A request that was understood and is refused; the message is for the person who asked.

    `detail` becomes members of the HTTP problem: `type`, `title`, `status` and `detail` are taken.
    """

    code: ClassVar[str] = "REFUSED"

    def __init__(self, message: str, **detail: Any) -> None:
        super().__init__(message)
        self.message = message
        self.detail: Mapping[str, Any] = detail


class NotFound(RequestRejected):
    """There is no such thing, or the actor may not know of it: told in the same words."""

    code = "NOT_FOUND"

    def __init__(self, message: str = "There is no such thing for you to see.") -> None:
        super().__init__(message)


class Forbidden(RequestRejected):
    """The actor may see this, but not do that."""

    code = "FORBIDDEN"


class MoreThanOwn(Forbidden):
    """Somebody would give more than they have; `beyond` says what."""

    code = "MORE_THAN_OWN"


class LastAdmin(RequestRejected):
    """A team would be left without anybody who administers it."""

    code = "LAST_ADMIN"


class KeyEnded(RequestRejected):
    """This key was revoked or has expired, and nothing brings it back."""

    code = "KEY_ENDED"


class InvitationEnded(RequestRejected):
    """The invitation was accepted or withdrawn, or it has expired."""

    code = "INVITATION_ENDED"


class AlreadyMember(RequestRejected):
    """Somebody who belongs to the team cannot join it."""

    code = "ALREADY_MEMBER"


class EmailTaken(RequestRejected):
    """Somebody has an account with this address."""

    code = "EMAIL_TAKEN"


class InvalidInput(RequestRejected):
    """The request has another shape than the schema says."""

    code = "INVALID_INPUT"


class InvalidValue(InvalidInput):
    """The shape is right, but a rule that no schema can tell forbids a value: see `detail`."""

    code = "INVALID_VALUE"


class TooLarge(InvalidInput):
    """The request is larger than a request may be."""

    code = "TOO_LARGE"


class UnsupportedMedia(InvalidInput):
    """The request is no JSON."""

    code = "UNSUPPORTED_MEDIA_TYPE"


class Unauthenticated(RequestRejected):
    """Nobody is signed in, and there is no valid key."""

    code = "UNAUTHENTICATED"


class AddressTaken(RequestRejected):
    """Another team's agent has this address."""

    code = "ADDRESS_TAKEN"


class AgentChanged(RequestRejected):
    """What is kept of an agent is not what was seen when the change was made."""

    code = "AGENT_CHANGED"


class NotRemote(RequestRejected):
    """The agent runs here, which is no connection."""

    code = "NOT_REMOTE"


class TooManyTests(RequestRejected):
    """As many connections are being tested as may be at once."""

    code = "TOO_MANY_TESTS"


class RateLimited(RequestRejected):
    """Too many calls of this caller, or of nobody known from this address: see `Retry-After`."""

    code = "RATE_LIMITED"


class UsernameTaken(RequestRejected):
    """Somebody else has this name."""

    code = "USERNAME_TAKEN"


class PreconditionFailed(RequestRejected):
    """What is there now is not the version that the change was meant for (If-Match)."""

    code = "PRECONDITION_FAILED"


class IdempotencyConflict(RequestRejected):
    """The same idempotency key came with another request."""

    code = "IDEMPOTENCY_CONFLICT"


class NotSigned(RequestRejected):
    """Nothing vouches for the audit trail here; the message says why."""

    code = "NOT_SEALED"


class NotClaimed(RequestRejected):
    """There is no claim of the actor's to renew."""

    code = "NOT_CLAIMED"


class AlreadyResumed(RequestRejected):
    """The run goes on with this answer, which is too late to take back."""

    code = "ALREADY_RESUMED"


class RetryRejected(RequestRejected):
    """This run cannot be tried again; the message says why."""

    code = "RETRY_REFUSED"


class WebhookDisabled(RequestRejected):
    """Nothing is sent to this endpoint until somebody enables it again."""

    code = "WEBHOOK_DISABLED"


class ContractError(RequestRejected):
    """The AG-UI contract or a check of an answer forbids this; on the wire it is a RUN_ERROR."""


class ViewChanged(ContractError):
    """What was shown when the decision was made is not what is asked now (consent)."""

    code = "VIEW_CHANGED"


class ViewDigestRequired(ViewChanged):
    """The answer does not say what was shown, and has to."""

    code = "VIEW_DIGEST_REQUIRED"


class InboxOnly(ContractError):
    """The team takes answers from its inbox only."""

    code = "INBOX_ONLY"


class NotInBulk(ContractError):
    """The interrupt has to be looked at by itself; the message says why."""

    code = "NOT_IN_BULK"


class Claimed(ContractError):
    """Another person has taken this; `detail` says `by` whom and `until` when."""

    code = "CLAIMED"


class PendingInterrupts(ContractError):
    """The thread waits for answers to its interrupts."""

    code = "PENDING_INTERRUPTS"


class PartialResume(ContractError):
    """Not every open interrupt is answered."""

    code = "PARTIAL_RESUME"


class UnknownInterrupt(ContractError):
    """No interrupt of the thread has this id."""

    code = "UNKNOWN_INTERRUPT_ID"


class DuplicateResume(ContractError):
    """An interrupt is answered twice at once."""

    code = "DUPLICATE_RESUME"


class InterruptExpired(ContractError):
    """It is too late for an answer."""

    code = "INTERRUPT_EXPIRED"


class InvalidPayload(ContractError):
    """The answer does not fit what was asked; `problems` says where."""

    code = "INVALID_PAYLOAD"


class EditsNotOffered(InvalidPayload):
    """The answer changes arguments, and the response schema does not name `editedArgs`."""

    code = "EDITS_NOT_OFFERED"


class MaskedNotSeen(ContractError):
    """A person approves what is masked, and has neither revealed it nor said so."""

    code = "MASKED_NOT_SEEN"


class AlreadyDecided(ContractError):
    """Somebody was faster; `detail` says who and when."""

    code = "INTERRUPT_ALREADY_RESOLVED"


class ThreadBusy(ContractError):
    """A run of the thread is still going on."""

    code = "THREAD_BUSY"


class RunEnded(ContractError):
    """The run is in a terminal state and takes no more changes."""

    code = "RUN_ENDED"


class RunFailure(Exception):
    """A run that cannot go on; the code reaches the client, the message only where it is safe."""

    code: ClassVar[str] = "AGENT_ERROR"


class ProtocolBroken(RunFailure):
    code = "PROTOCOL_VIOLATION"


class LimitExceeded(RunFailure):
    code = "LIMIT_EXCEEDED"


class ArgumentsNotApproved(Forbidden):
    """An agent wanted to make a call with other arguments than a person approved."""

    code = "ARGUMENTS_NOT_APPROVED"


class ArgumentsDiffer(RunFailure):
    """The agent repeated a call with other arguments than a person approved."""

    code = "ARGUMENTS_NOT_APPROVED"

    def __init__(self, tool_call_id: str, arguments: str) -> None:
        super().__init__(f"Tool call {tool_call_id!r} came again with arguments not approved.")
        self.tool_call_id = tool_call_id
        self.arguments = arguments  #: canonical JSON text


class DecisionNotVerified(RunFailure):
    """A decision or what it is about is not what was signed: no tool runs on it."""

    code = "DECISION_NOT_VERIFIED"


class AgentMoved(RunFailure):
    """The agent is at another address than when its call was approved."""

    code = "AGENT_MOVED"


class ApprovalLapsed(RunFailure):
    """The call was approved too long ago to start now."""

    code = "APPROVAL_LAPSED"

    def __init__(self, problem: str, *, calls: Collection[UUID] = ()) -> None:
        super().__init__(problem)
        self.calls = calls  #: the rows of the calls whose approval it is


class WorkerLost(RunFailure):
    code = "WORKER_LOST"


class LeaseLost(Exception):
    """This worker no longer drives the run: another took it over, or it was ended meanwhile."""


#: What clients are told about failed runs, by code; the details are in the log.
PUBLIC_MESSAGES = {
    "AGENT_ERROR": "The agent failed.",
    "PROTOCOL_VIOLATION": "The agent broke the AG-UI protocol.",
    "ARGUMENTS_NOT_APPROVED": (
        "The agent repeated a tool call with other arguments than a person approved."
    ),
    "LIMIT_EXCEEDED": "The run exceeded a limit on its events or its time.",
    "WORKER_LOST": "The worker was lost and the run cannot be continued.",
    "DECISION_NOT_VERIFIED": "A decision is not what was signed, so nothing ran on it. "
    "Retry the run to ask again.",
    "AGENT_MOVED": "The agent has moved since its call was approved. Retry the run to ask again.",
    "APPROVAL_LAPSED": "The approval was given too long ago. Retry the run to ask again.",
}
