"""Webhooks: event types, the retry schedule, and when an endpoint is disabled."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from agents.adapters.remote.allowed_addresses import AllowedHosts
from inbox.rules.errors import raise_for
from inbox.rules.text.messages import TranslatableMessage
from inbox.rules.webhooks.outgoing_urls import NOT_LISTED, url_problem


class EventType(StrEnum):
    """The events of webhooks; the values are the `type` of a message."""

    RUN_INTERRUPTED = "run.interrupted"  #: the run ended with interrupts
    RUN_FINISHED = "run.finished"  #: the run succeeded, failed or was cancelled
    INTERRUPT_OPENED = "interrupt.opened"  #: created, or open again
    INTERRUPT_DECIDED = "interrupt.decided"  #: resolved or cancelled
    INTERRUPT_REMINDED = "interrupt.reminded"  #: a policy reminds people of it
    INTERRUPT_ESCALATED = "interrupt.escalated"  #: more people may decide from now on
    INTERRUPT_ENDORSED = "interrupt.endorsed"  #: one of several people approved
    INTERRUPT_EXPIRING = "interrupt.expiring"  #: expires soon
    INTERRUPT_EXPIRED = "interrupt.expired"
    REQUEST_DECIDED = "request.decided"  #: all items of a program's request are answered
    CALL_IN_DOUBT = "call.in_doubt"  #: a program does not say whether a call took effect
    CALL_DEVIATED = "call.deviated"  #: a program reports other arguments than the approved ones
    GRANT_MADE = "grant.made"  #: a reviewer allowed further calls of a tool
    GRANT_ENDED = "grant.ended"
    POLICY_PUBLISHED = "policy.published"  #: a version of the team's policy is in force
    CHANNEL_DISABLED = "channel.disabled"  #: a chat gets no notifications any more


#: The `type` of a test message, to which endpoints cannot subscribe.
TEST_EVENT = "webhook.test"


class DeliveryStatus(StrEnum):
    PENDING = "pending"  #: to be sent now or at its next attempt
    DELIVERED = "delivered"  #: the receiver has acknowledged it
    FAILED = "failed"  #: all attempts failed, while other deliveries succeeded


class DisabledReason(StrEnum):
    BY_HAND = "by_hand"  #: disabled by an administrator
    OWNER_LEFT = "owner_left"  #: its owner has left the team
    GONE = "gone"  #: the receiver answered 410
    FAILING = "failing"  #: no delivery has succeeded for a long time


#: The delays after the first failure, the second, ...; about a day and a half together.
RETRY_DELAYS = tuple(
    timedelta(seconds=seconds)
    for seconds in (5, 30, 120, 600, 1_800, 3_600, 7_200, 14_400, 28_800, 57_600)
)
#: The share of the delay that is added at random, so that retries are spread.
JITTER = 0.1
#: An endpoint is disabled after so many failures in a row over so long a time.
MAX_FAILURES, MAX_FAILING_TIME = 10, timedelta(hours=24)
#: How long a former secret signs in addition to the new one.
SECRET_OVERLAP = timedelta(hours=24)
MAX_ENDPOINTS, MAX_DESCRIPTION_CHARACTERS = 20, 200
#: How long delivered and failed messages stay in the log.
LOG_RETENTION = timedelta(days=30)
#: The number of bytes of a response that are stored.
MAX_RESPONSE_BYTES = 2_048


class DeliveryProblem(StrEnum):
    """The reason why an attempt failed."""

    STATUS = "status"  #: a status outside of 200 to 299
    TIMEOUT = "timeout"
    UNREACHABLE = "unreachable"
    PRIVATE = "private"  #: the host is in a private network and not allowed
    CLEAR = "clear"  #: no TLS to a public host
    NOT_LISTED = "not_listed"  #: the operator has listed the hosts, and this is another one
    UNREADABLE = "unreadable"  #: the secret cannot be decrypted
    BROKEN = "broken"  #: an internal error


_PROBLEMS = {
    DeliveryProblem.TIMEOUT: TranslatableMessage("The receiver did not answer in time."),
    DeliveryProblem.UNREACHABLE: TranslatableMessage("The receiver cannot be reached."),
    DeliveryProblem.PRIVATE: TranslatableMessage("The URL points to a private network."),
    DeliveryProblem.CLEAR: TranslatableMessage("Use https:// outside of your own network."),
    DeliveryProblem.NOT_LISTED: NOT_LISTED,
    DeliveryProblem.UNREADABLE: TranslatableMessage(
        "The secret cannot be decrypted. Create a new one."
    ),
    DeliveryProblem.BROKEN: TranslatableMessage(
        "The message could not be sent. The worker's log has the error."
    ),
}


def problem_message(problem: str, status: int | None) -> TranslatableMessage:
    """Return the message about a failed attempt."""
    if problem == DeliveryProblem.STATUS and status is not None and 300 <= status < 400:
        return TranslatableMessage(
            "The receiver answered with status {status}. Redirects are not followed.", status=status
        )
    if problem == DeliveryProblem.STATUS:
        return TranslatableMessage("The receiver answered with status {status}.", status=status)
    return _PROBLEMS[DeliveryProblem(problem)]


@dataclass(frozen=True)
class AttemptOutcome:
    """The result of one attempt; no status without a response."""

    status: int | None = None
    problem: DeliveryProblem | None = None
    answer: str = ""
    milliseconds: int = 0

    @property
    def is_delivered(self) -> bool:
        return self.status is not None and 200 <= self.status < 300

    @property
    def is_gone(self) -> bool:
        return self.status == 410


@dataclass(frozen=True)
class FailurePlan:
    """The consequence of a failure: disable the endpoint, give up the delivery, or wait."""

    disable: DisabledReason | None = None
    give_up: bool = False
    wait: timedelta = timedelta(0)


def plan_after_failure(
    *,
    outcome: AttemptOutcome,
    tries: int,
    failures: int,
    failing_since: datetime,
    now: datetime,
    chance: float,
) -> FailurePlan:
    """
    Return the consequence of a failure; `tries` and `failures` include it, `chance` is 0 to 1.

    A delivery is given up only while others succeed. If all fail, the endpoint is disabled and
    keeps its pending deliveries, so that nothing is lost however long a receiver is down.
    """
    if outcome.is_gone:
        return FailurePlan(disable=DisabledReason.GONE)
    if failures >= MAX_FAILURES and now - failing_since >= MAX_FAILING_TIME:
        return FailurePlan(disable=DisabledReason.FAILING)
    if tries > len(RETRY_DELAYS):
        return FailurePlan(give_up=True)
    return FailurePlan(wait=RETRY_DELAYS[tries - 1] * (1 + JITTER * chance))


def check_endpoint(
    *, url: str | None, event_types: Sequence[str], description: str, hosts: AllowedHosts
) -> list[str]:
    """
    Return the event types in the order of EventType, each once; `url` None: no change.

    Raises:
        InvalidValue: with all `problems` by field.
    """
    problems: dict[str, list[TranslatableMessage]] = {}
    if url is not None and (problem := url_problem(url, hosts)) is not None:
        problems["url"] = [problem]
    all_types = [kind.value for kind in EventType]
    if not event_types or not set(event_types) <= set(all_types):
        text = TranslatableMessage(
            "Choose at least one of these events: {known}.", known=", ".join(all_types)
        )
        problems["events"] = [text]
    if len(description) > MAX_DESCRIPTION_CHARACTERS:
        text = TranslatableMessage(
            "A description can have at most {count} characters.", count=MAX_DESCRIPTION_CHARACTERS
        )
        problems["description"] = [text]
    raise_for(problems)
    return [name for name in all_types if name in event_types]
