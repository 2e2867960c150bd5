"""Webhooks: what is told, when it is tried again, and when an endpoint is left alone."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from agents.adapters.remote.allowed_addresses import AddressProblem, AddressRefused, check_url
from inbox.rules.errors import InvalidValue
from inbox.rules.text.messages import TranslatableMessage


class EventType(StrEnum):
    """What an endpoint can be told; the values are the `type` of a message."""

    RUN_INTERRUPTED = "run.interrupted"  #: it ended with questions
    RUN_FINISHED = "run.finished"  #: it ended: succeeded, failed or cancelled
    INTERRUPT_OPENED = "interrupt.opened"  #: a person is asked, or asked again
    INTERRUPT_DECIDED = "interrupt.decided"  #: answered or called off
    INTERRUPT_EXPIRING = "interrupt.expiring"  #: soon nobody can answer it any more
    INTERRUPT_EXPIRED = "interrupt.expired"  #: nobody has answered it


#: What is sent to try an endpoint; it tells nothing and nobody subscribes to it.
TEST_EVENT = "webhook.test"


class DeliveryStatus(StrEnum):
    PENDING = "pending"  #: to be sent, now or at its next try
    DELIVERED = "delivered"  #: the receiver has said that it has it
    FAILED = "failed"  #: given up: the receiver took others, but not this one


class DisabledReason(StrEnum):
    BY_HAND = "by_hand"  #: somebody switched it off
    GONE = "gone"  #: the receiver answered 410
    FAILING = "failing"  #: nothing has arrived for a long time


#: How long a delivery waits after its first failure, its second, ...; about a day and a half.
RETRY_DELAYS = tuple(
    timedelta(seconds=seconds)
    for seconds in (5, 30, 120, 600, 1_800, 3_600, 7_200, 14_400, 28_800, 57_600)
)
#: Up to this part of it is added, so that what failed together does not come back together.
JITTER = 0.1
#: An endpoint is left alone after so many failures in a row, over so long a time.
MAX_FAILURES, MAX_FAILING_TIME = 10, timedelta(hours=24)
#: How long a former secret still signs beside the new one.
SECRET_OVERLAP = timedelta(hours=24)
MAX_ENDPOINTS, MAX_URL_CHARACTERS, MAX_DESCRIPTION_CHARACTERS = 20, 2_000, 200
#: What has arrived, or was given up, stays in the log for so long after that.
LOG_RETENTION = timedelta(days=30)
#: What is kept of an answer, in bytes.
MAX_RESPONSE_BYTES = 2_048


class DeliveryProblem(StrEnum):
    """Why an attempt came to nothing."""

    STATUS = "status"  #: the answer was not one from 200 to 299
    TIMEOUT = "timeout"
    UNREACHABLE = "unreachable"
    PRIVATE = "private"  #: the host is in our own network, and was not named
    CLEAR = "clear"  #: no TLS, beyond our own network
    UNREADABLE = "unreadable"  #: the secret was sealed under another secret key
    BROKEN = "broken"  #: an error of ours


_PROBLEMS = {
    DeliveryProblem.TIMEOUT: TranslatableMessage("The receiver did not answer in time."),
    DeliveryProblem.UNREACHABLE: TranslatableMessage("The receiver cannot be reached."),
    DeliveryProblem.PRIVATE: TranslatableMessage("The URL points to a private network."),
    DeliveryProblem.CLEAR: TranslatableMessage("Use https:// outside of your own network."),
    DeliveryProblem.UNREADABLE: TranslatableMessage(
        "The secret cannot be decrypted. Create a new one."
    ),
    DeliveryProblem.BROKEN: TranslatableMessage(
        "The message could not be sent. The worker's log has the error."
    ),
}


def problem_message(problem: str, status: int | None) -> TranslatableMessage:
    """What went wrong, for people; a redirect is named, because it is not followed."""
    if problem == DeliveryProblem.STATUS and status is not None and 300 <= status < 400:
        return TranslatableMessage(
            "The receiver answered with status {status}: redirects are not followed.", status=status
        )
    if problem == DeliveryProblem.STATUS:
        return TranslatableMessage("The receiver answered with status {status}.", status=status)
    return _PROBLEMS[DeliveryProblem(problem)]


@dataclass(frozen=True)
class AttemptOutcome:
    """What came of one attempt to send; no status if there was no answer."""

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
    """What a failure leads to: an endpoint to leave alone, a delivery to give up or to wait."""

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
    Plan what follows a failure; `tries` and `failures` count it, `chance` is from 0 to 1.

    A delivery is given up only while others arrive. If nothing does, the endpoint is left alone
    with all that was not delivered, so that nothing is lost however long a receiver is away.
    """
    if outcome.is_gone:
        return FailurePlan(disable=DisabledReason.GONE)
    if failures >= MAX_FAILURES and now - failing_since >= MAX_FAILING_TIME:
        return FailurePlan(disable=DisabledReason.FAILING)
    if tries > len(RETRY_DELAYS):
        return FailurePlan(give_up=True)
    return FailurePlan(wait=RETRY_DELAYS[tries - 1] * (1 + JITTER * chance))


def check_endpoint(
    *, url: str | None, event_types: Sequence[str], description: str, may_be_clear: bool
) -> list[str]:
    """
    Return the event types in their own order, each once; no URL stands for one that was checked.

    Raises:
        InvalidValue: with all `problems` by field.
    """
    problems: dict[str, list[TranslatableMessage]] = {}
    if url is not None and (wrong := _wrong_url(url, may_be_clear=may_be_clear)) is not None:
        problems["url"] = [wrong]
    known = [kind.value for kind in EventType]
    if not event_types or not set(event_types) <= set(known):
        text = TranslatableMessage(
            "Choose at least one of these events: {known}.", known=", ".join(known)
        )
        problems["events"] = [text]
    if len(description) > MAX_DESCRIPTION_CHARACTERS:
        text = TranslatableMessage(
            "A description can have at most {count} characters.", count=MAX_DESCRIPTION_CHARACTERS
        )
        problems["description"] = [text]
    if problems:
        raise InvalidValue(next(iter(problems.values()))[0], problems=problems)
    return [name for name in known if name in event_types]


_URLS = {
    AddressProblem.NO_URL: TranslatableMessage("Enter a valid URL."),
    AddressProblem.CREDENTIALS: TranslatableMessage(
        "Remove the password: URLs are displayed and logged."
    ),
    AddressProblem.CHARACTERS: TranslatableMessage("Encode the special characters in the URL."),
}
_HTTPS = TranslatableMessage("The URL must start with https:// and a host.")


def _wrong_url(url: str, *, may_be_clear: bool) -> TranslatableMessage | None:
    if len(url) > MAX_URL_CHARACTERS:
        return TranslatableMessage(
            "A URL can have at most {count} characters.", count=MAX_URL_CHARACTERS
        )
    try:
        check_url(url)
    except AddressRefused as refused:
        return _URLS.get(refused.fault, _HTTPS)
    return None if may_be_clear or url.lower().startswith("https:") else _HTTPS
