"""Claims, withdrawals, comments and time limits of a team's decisions."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from inbox.rules import errors
from inbox.rules.people.access import Actor, ActorKind
from inbox.rules.text.messages import TranslatableMessage

#: The duration of a claim; the reviewer's open page renews it.
CLAIM_LEASE = timedelta(minutes=10)
#: How long a complete set of people's decisions waits before the run resumes, so that they can undo
#: them: of a new team, and the maximum.
DEFAULT_GRACE_SECONDS, MAX_GRACE_SECONDS = 10, 3_600
#: When an approved call that has not started lapses: the default, and the maximum of a team.
DEFAULT_EXECUTION_HOURS, MAX_EXECUTION_HOURS = 24, 24 * 365
#: The expiry of requests without one of their own: the default, and the maximum of a team.
DEFAULT_EXPIRY_HOURS, MAX_EXPIRY_HOURS = 7 * 24, 87_600
MAX_COMMENT_CHARACTERS = 4_000


@dataclass(frozen=True)
class Holder:
    """The reviewer who has claimed an interrupt."""

    user_id: int
    name: str
    until: datetime

    def holds(self, now: datetime) -> bool:
        return self.until > now


def check_not_claimed(*, holder: Holder | None, actor: Actor, now: datetime) -> None:
    """
    Raise Claimed while another person's claim is valid.

    API keys are exempt: they answer a whole set and cannot wait for a person.
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
    Return the time until which a decision can be withdrawn; None while the set is incomplete.

    Raises:
        AlreadyResumed: the agent already has the decision.
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
    Raise unless a decision can still be withdrawn.

    Raises:
        AlreadyResumed: the run has resumed, or the grace period is over.
        InterruptExpired: the interrupt could not be decided again.
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
    """Raise InvalidValue unless the text is a valid comment."""
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
