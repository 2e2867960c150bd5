"""The rules by which several reviewers share an inbox."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from inbox.rules import errors
from inbox.rules.people.access import Actor, ActorKind
from inbox.rules.text.messages import TranslatableMessage

#: How long a claim lasts; the page of whoever works on the request renews it.
CLAIM_LEASE = timedelta(minutes=10)
#: The longest that a complete set of answers may wait before it resumes its run, in seconds.
MAX_GRACE_SECONDS = 3_600
#: After so long an approved call that has not started lapses, and the most that a team may set.
DEFAULT_EXECUTION_HOURS, MAX_EXECUTION_HOURS = 24, 24 * 365
#: How long requests wait if neither the agent nor the team says so, and ten years.
DEFAULT_EXPIRY_HOURS, MAX_EXPIRY_HOURS = 7 * 24, 87_600
MAX_COMMENT_CHARACTERS = 4_000


@dataclass(frozen=True)
class Holder:
    """Whoever has claimed an interrupt, as far as the rules look at them."""

    user_id: int
    name: str
    until: datetime

    def holds(self, now: datetime) -> bool:
        return self.until > now


def check_not_claimed(*, holder: Holder | None, actor: Actor, now: datetime) -> None:
    """
    Raise Claimed while another person's lease runs.

    Machines are not stopped: a key or the AG-UI door answers for a whole set, and cannot wait for
    a person to look up from one of its questions.
    """
    if actor.kind is not ActorKind.HUMAN or holder is None or not holder.holds(now):
        return
    if holder.user_id != actor.user_id:
        raise errors.Claimed(
            TranslatableMessage("{who} is reviewing this.", who=holder.name),
            by=holder.name,
            until=holder.until.isoformat(),
        )


def withdrawable_until(
    *, is_resumed: bool, resume_at: datetime | None, expires_at: datetime | None
) -> datetime | None:
    """
    Until when an answer can be taken back; None as long as others of its run are missing.

    Raises:
        AlreadyResumed: the agent has the answer, and nothing takes it back.
    """
    if is_resumed:
        raise errors.AlreadyResumed(
            TranslatableMessage("The run has resumed with this answer, so it cannot be withdrawn.")
        )
    return min((at for at in (resume_at, expires_at) if at), default=None)


def check_withdrawal(
    *,
    is_resumed: bool,
    resume_at: datetime | None,
    expires_at: datetime | None,
    now: datetime,
) -> None:
    """
    Raise unless an answer can still be taken back.

    Raises:
        AlreadyResumed, InterruptExpired: open again, it could not be answered any more.
    """
    until = withdrawable_until(is_resumed=is_resumed, resume_at=resume_at, expires_at=expires_at)
    if until is None or now < until:
        return
    if until == expires_at:
        raise errors.InterruptExpired(
            TranslatableMessage("This request has expired; its answer can no longer change.")
        )
    raise errors.AlreadyResumed(TranslatableMessage("The answer can no longer be withdrawn."))


def check_comment(text: str) -> None:
    """Raise InvalidValue unless the text can be kept as a comment."""
    if not text.strip():
        raise errors.InvalidValue(TranslatableMessage("The comment is empty."))
    if len(text) > MAX_COMMENT_CHARACTERS:
        raise errors.InvalidValue(
            TranslatableMessage(
                "A comment can have at most {most} characters; this one has {count}.",
                most=MAX_COMMENT_CHARACTERS,
                count=len(text),
            )
        )
    if "\0" in text:
        raise errors.InvalidValue(
            TranslatableMessage("A comment cannot contain the character NUL.")
        )


def check_request_expiry(hours: int) -> None:
    """Raise InvalidValue unless a team's requests may wait so long; 0 is for ever."""
    if not 0 <= hours <= MAX_EXPIRY_HOURS:
        raise errors.InvalidValue(
            TranslatableMessage(
                "Requests can expire after 1 to {longest} hours. 0 means no expiry.",
                longest=MAX_EXPIRY_HOURS,
            )
        )


def check_grace(seconds: int) -> None:
    """Raise InvalidValue unless a team may have this grace period."""
    if not 0 <= seconds <= MAX_GRACE_SECONDS:
        raise errors.InvalidValue(f"A grace period lasts from 0 to {MAX_GRACE_SECONDS} seconds.")
