"""The states of runs, interrupts and tool calls."""

from enum import StrEnum


class RunStatus(StrEnum):
    QUEUED = "queued"  #: committed, waiting for a worker
    RUNNING = "running"  #: one worker holds the lease
    INTERRUPTED = "interrupted"  #: ended with open interrupts; a resume run continues it
    SUCCEEDED = "succeeded"  #: ended without interrupts
    FAILED = "failed"  #: ended with RUN_ERROR
    CANCELLED = "cancelled"  #: ended by a cancellation


#: A run never leaves a terminal state; continuing makes a new run. A lost worker's run goes back
#: from running to queued.
ACTIVE_RUN_STATUSES = (RunStatus.QUEUED, RunStatus.RUNNING)


class InterruptStatus(StrEnum):
    OPEN = "open"  #: waits for a decision
    RESOLVED = "resolved"  #: answered; a denial is an answer too
    CANCELLED = "cancelled"  #: closed without an answer
    EXPIRED = "expired"  #: closed by the system after its expiry


class EntryStatus(StrEnum):
    """The status of a resume entry on the wire (AG-UI `ResumeEntry.status`)."""

    RESOLVED = "resolved"
    CANCELLED = "cancelled"


class ToolCallState(StrEnum):
    PROPOSED = "proposed"  #: proposed by the agent, not started
    STARTED = "started"  #: sent to the executor; the effect may have happened
    SETTLED = "settled"  #: the result is known
    IN_DOUBT = "in_doubt"  #: started and not settled; a person decides whether to call it again
    NOT_RUN = "not_run"  #: denied or cancelled
    LAPSED = "lapsed"  #: approved, but not started in time; the approval is asked for again


#: The effect of a call of a client's tool, which the client has made itself.
CLIENT_EFFECT = "client"


class ToolCallOutcome(StrEnum):
    """The outcome of the decisions on a tool call."""

    APPROVED = "approved"  #: without edits
    EDITED = "edited"  #: approved with edited arguments
    DENIED = "denied"
    SENT_BACK = "sent_back"  #: denied with a question or correction, which the agent reads
    ANSWERED = "answered"  #: its interrupt did not ask for an approval
    CANCELLED = "cancelled"
    EXPIRED = "expired"


class Reason(StrEnum):
    """The interrupt reasons that the server interprets; any other is rendered from its data."""

    TOOL_CALL = "tool_call"
    INPUT_REQUIRED = "input_required"
    CONFIRMATION = "confirmation"
    OUTCOME_UNKNOWN = "signoff:outcome_unknown"
