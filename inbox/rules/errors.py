"""Errors of rules and actions: one tree, each class with one wire code."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, ClassVar
from uuid import UUID


class RequestRejected(Exception):
    """
    A valid request that is rejected; the message is for the client.

    `detail` becomes members of the HTTP problem; `type`, `title`, `status` and `detail` are
    reserved.
    """

    code: ClassVar[str] = "REFUSED"

    def __init__(self, message: str, **detail: Any) -> None:
        super().__init__(message)
        self.message = message
        self.detail: Mapping[str, Any] = detail


class NotFound(RequestRejected):
    """The object does not exist, or the actor may not see it; the message is the same."""

    code = "NOT_FOUND"

    def __init__(self, message: str = "Not found, or you don't have access.") -> None:
        super().__init__(message)


class Forbidden(RequestRejected):
    """The actor may see the object, but lacks the permission."""

    code = "FORBIDDEN"


class ReauthenticationRequired(Forbidden):
    """The session's last sign-in is too long ago for this action: confirm the identity again."""

    code = "REAUTHENTICATION_REQUIRED"


class NetworkNotAllowed(Forbidden):
    """The API key may not be used from the address of this client."""

    code = "NETWORK_NOT_ALLOWED"


class HttpsRequired(Forbidden):
    """The request came over http: use https, and replace the key that it had."""

    code = "HTTPS_REQUIRED"


class LinkOfAnother(Forbidden):
    """Somebody else is signed in than the person for whom the link was made."""

    code = "LINK_OF_ANOTHER"


class MoreThanOwn(Forbidden):
    """The actor would grant more than their own permissions; `beyond` lists the excess."""

    code = "MORE_THAN_OWN"


class SecondAdministratorRequired(Forbidden):
    """Another administrator than the author has to publish the draft, or to confirm the change."""

    code = "SECOND_ADMINISTRATOR_REQUIRED"


class PolicyChanged(RequestRejected):
    """The draft of the policy was changed since the client read it."""

    code = "POLICY_CHANGED"


class LastAdmin(RequestRejected):
    """The team would have no administrator."""

    code = "LAST_ADMIN"


class KeyEnded(RequestRejected):
    """The API key was revoked or has expired."""

    code = "KEY_ENDED"


class InvitationEnded(RequestRejected):
    """The invitation was accepted or withdrawn, or it has expired."""

    code = "INVITATION_ENDED"


class AlreadyMember(RequestRejected):
    """The user is already a member of the team."""

    code = "ALREADY_MEMBER"


class EmailTaken(RequestRejected):
    """An account with this email address exists."""

    code = "EMAIL_TAKEN"


class InvalidInput(RequestRejected):
    """The request does not match its schema."""

    code = "INVALID_INPUT"


class InvalidValue(InvalidInput):
    """The request matches its schema, but a value is not allowed; see `detail`."""

    code = "INVALID_VALUE"


class UnknownName(InvalidValue):
    """A member of the body or a query parameter is not known, so it would have had no effect."""

    code = "UNKNOWN_NAME"


def raise_for(problems: Mapping[str, Sequence[str]]) -> None:
    """
    Raise unless there are no problems, which are the messages by field.

    Raises:
        InvalidValue: with the first message, and all `problems`.
    """
    if problems:
        raise InvalidValue(next(iter(problems.values()))[0], problems=problems)


class TooLarge(InvalidInput):
    """The request is too large."""

    code = "TOO_LARGE"


class FileTooLarge(TooLarge):
    """A file, or all files of the request, are larger than this installation accepts."""

    code = "FILE_TOO_LARGE"


class FileQuotaReached(TooLarge):
    """The team's files would take more space than this installation gives to a team."""

    code = "FILE_QUOTA_REACHED"


class FileRefused(InvalidValue):
    """The file is empty, or of another type than the request accepts."""

    code = "FILE_REFUSED"


class StorageFull(RequestRejected):
    """The disk or the storage of files is full or away; everything else works. Try again later."""

    code = "STORAGE_FULL"


class FileLinkExpired(RequestRejected):
    """The link to the file has expired or was changed; read the file again for a new one."""

    code = "FILE_LINK_EXPIRED"


class FileErased(RequestRejected):
    """The file was erased; its digest is kept."""

    code = "FILE_ERASED"


class UnsupportedMedia(InvalidInput):
    """The request is not JSON."""

    code = "UNSUPPORTED_MEDIA_TYPE"


class Unauthenticated(RequestRejected):
    """The request has neither a session nor a valid API key."""

    code = "UNAUTHENTICATED"


class AddressTaken(RequestRejected):
    """The slug belongs to another team or agent."""

    code = "ADDRESS_TAKEN"


class AgentChanged(RequestRejected):
    """The agent was changed since the client read it."""

    code = "AGENT_CHANGED"


class NotRemote(RequestRejected):
    """The agent is local and has no connection to test."""

    code = "NOT_REMOTE"


class TooManyTests(RequestRejected):
    """The limit of concurrent connection tests is reached."""

    code = "TOO_MANY_TESTS"


class RateLimited(RequestRejected):
    """Too many calls by this caller, or anonymous calls from this address; see `Retry-After`."""

    code = "RATE_LIMITED"


class LimitReached(RateLimited):
    """
    A limit of the team or agent is reached; `limit` names it, and `most` is its value.

    `retry_after` is None if waiting does not help.
    """

    code = "LIMIT_REACHED"


class AgentPaused(RequestRejected):
    """The agent is paused, and begins nothing new until an administrator resumes it."""

    code = "AGENT_PAUSED"


class UsernameTaken(RequestRejected):
    """The username belongs to another user."""

    code = "USERNAME_TAKEN"


class PreconditionFailed(RequestRejected):
    """The current version is not the one in `If-Match`."""

    code = "PRECONDITION_FAILED"


class IdempotencyConflict(RequestRejected):
    """The idempotency key was used with another request."""

    code = "IDEMPOTENCY_CONFLICT"


class NotSigned(RequestRejected):
    """There is no signed checkpoint or signing key; the message has the reason."""

    code = "NOT_SEALED"


class NotClaimed(RequestRejected):
    """The actor has no claim to renew."""

    code = "NOT_CLAIMED"


class AlreadyResumed(RequestRejected):
    """The run has resumed with this decision, so it cannot be withdrawn."""

    code = "ALREADY_RESUMED"


class RetryRejected(RequestRejected):
    """The run cannot be retried; the message has the reason."""

    code = "RETRY_REFUSED"


class WebhookDisabled(RequestRejected):
    """The webhook is disabled; enable it before sending."""

    code = "WEBHOOK_DISABLED"


class ContractError(RequestRejected):
    """The AG-UI contract or a check of a decision forbids this; a RUN_ERROR in AG-UI."""


class AuditSinkLags(ContractError):
    """A sink has not received the audit entries of a while, and decisions wait for it."""

    code = "AUDIT_SINK_LAGS"


class FileChanged(ContractError):
    """The stored bytes of a file are not those that were sent; it is not served, nor approved."""

    code = "FILE_CHANGED"


class ViewChanged(ContractError):
    """The interrupt has changed since it was displayed for the decision."""

    code = "VIEW_CHANGED"


class ViewDigestRequired(ViewChanged):
    """The decision needs a view digest and has none."""

    code = "VIEW_DIGEST_REQUIRED"


class InboxOnly(ContractError):
    """The team accepts decisions in its inbox only."""

    code = "INBOX_ONLY"


class SelfApproval(ContractError):
    """The requester of the run may not approve what it proposes."""

    code = "SELF_APPROVAL"


class ChatUnknown(ContractError):
    """The account in the chat is not connected to a person."""

    code = "CHAT_UNKNOWN"


class RequirementNotMet(ContractError):
    """The team's policy requires another person or another way in."""

    code = "POLICY_REQUIREMENT"


class SignInTooOld(RequirementNotMet):
    """The team's policy requires a sign-in shortly before the approval."""

    code = "SIGN_IN_TOO_OLD"


class DeniedByPolicy(ContractError):
    """The team's policy denies the tool call with the edited arguments."""

    code = "DENIED_BY_POLICY"


class NotInBulk(ContractError):
    """The interrupt must be decided individually; the message has the reason."""

    code = "NOT_IN_BULK"


class NotByLink(ContractError):
    """The interrupt cannot be decided by the link of a mail; the message has the reason."""

    code = "NOT_BY_LINK"


class Claimed(ContractError):
    """Another person has claimed the interrupt; `detail` has `by` and `until`."""

    code = "CLAIMED"


class PendingInterrupts(ContractError):
    """The thread waits for decisions on its interrupts."""

    code = "PENDING_INTERRUPTS"


class HistoryChanged(ContractError):
    """The client changes or leaves out messages of the thread, which keeps what was said."""

    code = "HISTORY_CHANGED"


class ToolResultRejected(ContractError):
    """A tool message is not the result of an open call of a tool that the client offered."""

    code = "TOOL_RESULT_REJECTED"


class PartialResume(ContractError):
    """Not every open interrupt is answered."""

    code = "PARTIAL_RESUME"


class UnknownInterrupt(ContractError):
    """No interrupt of the thread has this id."""

    code = "UNKNOWN_INTERRUPT_ID"


class DuplicateResume(ContractError):
    """A resume has two entries for one interrupt."""

    code = "DUPLICATE_RESUME"


class InterruptExpired(ContractError):
    """The interrupt has expired."""

    code = "INTERRUPT_EXPIRED"


class InvalidPayload(ContractError):
    """The payload does not match the response schema; `problems` has the paths."""

    code = "INVALID_PAYLOAD"


class EditsNotOffered(InvalidPayload):
    """The answer edits arguments, but the response schema does not name `editedArgs`."""

    code = "EDITS_NOT_OFFERED"


class MaskedNotSeen(ContractError):
    """Masked values were neither revealed nor approved explicitly."""

    code = "MASKED_NOT_SEEN"


class RestoreNotChecked(ContractError):
    """The request was restored from a backup: send `despite_restore` after checking its effect."""

    code = "RESTORE_NOT_CHECKED"


class AlreadyDecided(ContractError):
    """The interrupt has a decision; `detail` has its author and time."""

    code = "INTERRUPT_ALREADY_RESOLVED"


class ThreadBusy(ContractError):
    """The thread has an active run."""

    code = "THREAD_BUSY"


class RunEnded(ContractError):
    """The run is in a terminal state and takes no more changes."""

    code = "RUN_ENDED"


class AsksByItself(ContractError):
    """The agent runs by itself, so nobody starts it here."""

    code = "ASKS_BY_ITSELF"


class RequestDecided(RequestRejected):
    """The request was decided before it was withdrawn; `request` is the request as it is."""

    code = "ALREADY_DECIDED"


class CallStarted(RequestRejected):
    """Another attempt has started the call."""

    code = "CALL_STARTED"


class NotApproved(RequestRejected):
    """The item is no approved call, or not all items of its request are decided."""

    code = "NOT_APPROVED"


class OtherArguments(RequestRejected):
    """The digest is not that of the approved arguments."""

    code = "ARGUMENTS_DIFFER"


class ApprovalEnded(RequestRejected):
    """The approved call was not started in time, or its approval was revoked."""

    code = "APPROVAL_LAPSED"


class CallInDoubt(RequestRejected):
    """It is unknown whether a call of the request took effect; a person is asked."""

    code = "IN_DOUBT"


class NotStarted(RequestRejected):
    """The call was never started, so there is nothing to report."""

    code = "NOT_STARTED"


class AlreadyReported(RequestRejected):
    """The call has an outcome."""

    code = "ALREADY_REPORTED"


class RunFailure(Exception):
    """The reason why a run fails; clients get the code, and the message only if it is safe."""

    code: ClassVar[str] = "AGENT_ERROR"


class ProtocolBroken(RunFailure):
    code = "PROTOCOL_VIOLATION"


class LimitExceeded(RunFailure):
    code = "LIMIT_EXCEEDED"


class TooManyRequests(RunFailure):
    """The requests of a run would exceed the open requests that its team or agent may have."""

    code = "LIMIT_REACHED"


class ArgumentsNotApproved(Forbidden):
    """An agent tried to make a call with other arguments than the approved ones."""

    code = "ARGUMENTS_NOT_APPROVED"


class ArgumentsDiffer(RunFailure):
    """The agent repeated a call with other arguments than the approved ones."""

    code = "ARGUMENTS_NOT_APPROVED"

    def __init__(self, tool_call_id: str, arguments: str) -> None:
        super().__init__(f"Tool call {tool_call_id!r} was repeated with arguments not approved.")
        self.tool_call_id = tool_call_id
        self.arguments = arguments  #: canonical JSON text


class DecisionNotVerified(RunFailure):
    """A decision or its interrupt differs from what was signed, so no tool is executed."""

    code = "DECISION_NOT_VERIFIED"


class AgentMoved(RunFailure):
    """The agent's endpoint has changed since the decision."""

    code = "AGENT_MOVED"


class ApprovalLapsed(RunFailure):
    """The approval is older than the team allows, and the call has not started."""

    code = "APPROVAL_LAPSED"

    def __init__(self, problem: str, *, calls: Collection[UUID] = ()) -> None:
        super().__init__(problem)
        self.calls = calls  #: ids of the approved calls


class CallDenied(RunFailure):
    """The policy in force denies a tool call that was about to start."""

    code = "DENIED_BY_POLICY"


class Restored(RunFailure):
    """The installation was restored from a backup; a repetition could repeat effects."""

    code = "RESTORED"


class WorkerLost(RunFailure):
    code = "WORKER_LOST"


class EventLoopBlocked(RunFailure):
    """The agent held the event loop of its run, so the worker could neither follow nor stop it."""

    code = "EVENT_LOOP_BLOCKED"


class LeaseLost(Exception):
    """This worker no longer drives the run: another worker took it, or it has ended."""


#: The messages for clients about failed runs, by code; the details are in the log.
PUBLIC_MESSAGES = {
    "AGENT_ERROR": "The agent failed.",
    "PROTOCOL_VIOLATION": "The agent sent events that the AG-UI protocol does not allow.",
    "ARGUMENTS_NOT_APPROVED": (
        "The agent repeated a tool call with other arguments than the approved ones, so it was not "
        "run."
    ),
    "LIMIT_EXCEEDED": "The run exceeded a limit on its events or its time.",
    "LIMIT_REACHED": "The team has as many open requests as it may have, so this run could not "
    "ask. Decide some, then retry the run.",
    "EVENT_LOOP_BLOCKED": (
        "The agent blocked its event loop for {seconds} seconds at {place}. Make the blocking tool "
        "a plain function instead of async, or run the blocking part with asyncio.to_thread."
    ),
    "WORKER_LOST": "The worker stopped, and this run cannot continue. Retry the run.",
    "RESTORED": "Signoff was restored from a backup, and the work of this run may have been done "
    "later. Check, then retry the run.",
    "DECISION_NOT_VERIFIED": "The signature of a decision does not match, so the decision was not "
    "used. Retry the run to ask again.",
    "AGENT_MOVED": "The agent's address changed after the approval. Retry the run to ask again.",
    "APPROVAL_LAPSED": "The approval has expired. Retry the run to ask again.",
    "DENIED_BY_POLICY": "The team's policy denies a tool call of this run.",
}
