"""The states of runs, interrupts and tool calls, and the moves between them."""

from enum import StrEnum


class RunStatus(StrEnum):
    QUEUED = "queued"  #: committed, waiting for a worker
    RUNNING = "running"  #: one worker holds the lease
    INTERRUPTED = "interrupted"  #: ended with open questions; a resume run continues it
    SUCCEEDED = "succeeded"  #: ended, nothing asked
    FAILED = "failed"  #: ended with RUN_ERROR
    CANCELLED = "cancelled"  #: ended because it was told to


#: A run never leaves a terminal state; continuing makes a new run. A lost worker's run goes back
#: from running to queued.
ACTIVE_RUN_STATUSES = (RunStatus.QUEUED, RunStatus.RUNNING)


class InterruptStatus(StrEnum):
    OPEN = "open"  #: a person is asked
    RESOLVED = "resolved"  #: answered; a denial is an answer too
    CANCELLED = "cancelled"  #: called off without an answer
    EXPIRED = "expired"  #: closed by the system, too late for an answer


class EntryStatus(StrEnum):
    """The status of a resume entry on the wire (AG-UI `ResumeEntry.status`)."""

    RESOLVED = "resolved"
    CANCELLED = "cancelled"


class ToolCallState(StrEnum):
    PROPOSED = "proposed"  #: the agent wants it; nothing has happened
    STARTED = "started"  #: the executor was let go; the effect may have happened
    SETTLED = "settled"  #: the result is known
    IN_DOUBT = "in_doubt"  #: started, never settled, and must not be called again unasked
    NOT_RUN = "not_run"  #: denied or cancelled
    LAPSED = "lapsed"  #: approved, and not started in time: people are asked again


class ToolCallOutcome(StrEnum):
    """What became of the questions about a tool call, to find it by."""

    APPROVED = "approved"  #: as it was proposed
    EDITED = "edited"  #: approved with other arguments
    DENIED = "denied"
    ANSWERED = "answered"  #: whatever was asked about it was no approval
    CANCELLED = "cancelled"
    EXPIRED = "expired"


class Reason(StrEnum):
    """The interrupt reasons that are ours to read; any other is rendered from its own data."""

    TOOL_CALL = "tool_call"
    INPUT_REQUIRED = "input_required"
    CONFIRMATION = "confirmation"
    OUTCOME_UNKNOWN = "signoff:outcome_unknown"
