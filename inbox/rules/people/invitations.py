"""Invitations to a team: limits, lifetime and states."""

from datetime import datetime, timedelta
from enum import StrEnum

from inbox.rules import errors
from inbox.rules.text.messages import TranslatableMessage

#: The number of invitations of a team that are neither accepted nor withdrawn.
MAX_OPEN_INVITATIONS = 50
INVITATION_LIFETIME = timedelta(days=7)
MAX_EMAIL_CHARACTERS = 254


class MailState(StrEnum):
    """The state of the mail with the link."""

    NONE = "none"  #: the installation sends no mail; the link was displayed
    SENDING = "sending"  #: to be sent by a worker, which tries again
    SENT = "sent"  #: accepted by a mail server
    FAILED = "failed"


class InvitationState(StrEnum):
    OPEN = "open"
    EXPIRED = "expired"
    ACCEPTED = "accepted"
    WITHDRAWN = "withdrawn"


_ENDED = {
    InvitationState.EXPIRED: TranslatableMessage("This invitation has expired. Ask for a new one."),
    InvitationState.ACCEPTED: TranslatableMessage("This invitation has already been used."),
    InvitationState.WITHDRAWN: TranslatableMessage("This invitation was withdrawn."),
}


def invitation_state(
    *,
    accepted_at: datetime | None,
    withdrawn_at: datetime | None,
    expires_at: datetime,
    now: datetime,
) -> InvitationState:
    if accepted_at is not None:
        return InvitationState.ACCEPTED
    if withdrawn_at is not None:
        return InvitationState.WITHDRAWN
    return InvitationState.EXPIRED if now >= expires_at else InvitationState.OPEN


def check_is_open(state: InvitationState) -> None:
    """Raise InvitationEnded unless the invitation can be accepted."""
    if state is not InvitationState.OPEN:
        raise errors.InvitationEnded(_ENDED[state])


def check_can_be_sent(state: InvitationState) -> None:
    """Raise InvitationEnded unless a new link can be sent: it is open or has expired."""
    if state is not InvitationState.EXPIRED:
        check_is_open(state)


def check_room(open_count: int) -> None:
    """Raise InvalidValue if the team has MAX_OPEN_INVITATIONS."""
    if open_count >= MAX_OPEN_INVITATIONS:
        text = TranslatableMessage(
            "A team can have at most {count} open invitations. Withdraw one first.",
            count=MAX_OPEN_INVITATIONS,
        )
        raise errors.InvalidValue(text, problems={"email": [text]})
