"""Invitations to a team: how long they count, and how each of them stands."""

from datetime import datetime, timedelta
from enum import StrEnum

from inbox.rules import errors
from inbox.rules.text.messages import TranslatableMessage

#: How many a team may have that nobody has accepted or withdrawn.
MAX_OPEN_INVITATIONS = 50
INVITATION_LIFETIME = timedelta(days=7)
MAX_EMAIL_CHARACTERS = 254


class MailState(StrEnum):
    """What became of the mail with the link."""

    NONE = "none"  #: this site sends no mail: the link was shown, to be passed on
    SENDING = "sending"  #: on its way, or lost with the process that sent it
    SENT = "sent"  #: a mail server has taken it
    FAILED = "failed"


class InvitationState(StrEnum):
    """How an invitation stands."""

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
    """Raise InvitationEnded unless somebody may still accept it."""
    if state is not InvitationState.OPEN:
        raise errors.InvitationEnded(_ENDED[state])


def check_can_be_sent(state: InvitationState) -> None:
    """Raise InvitationEnded unless it may get a new link, which one that has expired may."""
    if state is not InvitationState.EXPIRED:
        check_is_open(state)


def check_room(open_count: int) -> None:
    """Raise InvalidValue if a team has as many invitations as it may have."""
    if open_count >= MAX_OPEN_INVITATIONS:
        text = TranslatableMessage(
            "A team can have at most {count} open invitations. Withdraw one first.",
            count=MAX_OPEN_INVITATIONS,
        )
        raise errors.InvalidValue(text, problems={"email": [text]})
