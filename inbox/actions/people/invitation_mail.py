"""The mail of an invitation."""

from typing import Final

import structlog
from django.core.mail import EmailMessage
from django.utils.translation import gettext, gettext_noop

from inbox.models import Invitation
from inbox.rules.people.invitations import INVITATION_LIFETIME, MailState
from inbox.rules.text.safe_text import escape_invisible

log = structlog.get_logger(__name__)

#: Without values that a user has entered.
_SUBJECT: Final = gettext_noop("Invitation to a team in Signoff")
_BODY: Final = gettext_noop(
    "{who} invited you to the team {team} in Signoff, where people approve what AI "
    "agents want to do.\n"
    "\n"
    "Open this link to join:\n"
    "{link}\n"
    "\n"
    "The link works once and expires in {days} days. If you did not expect this, "
    "ignore this mail."
)


def send_invitation(invitation: Invitation, link: str) -> MailState:
    """Send the link in the language of the current request; return whether that worked."""
    body = gettext(_BODY).format(
        who=_line(invitation.invited_by),
        team=_line(invitation.team.name),
        link=link,
        days=INVITATION_LIFETIME.days,
    )
    message = EmailMessage(gettext(_SUBJECT), body, to=[invitation.email])
    try:
        message.send()
    except (OSError, ValueError) as error:  # smtplib's errors are the former, Django's the latter
        log.warning(
            "invitation not sent", invitation=str(invitation.pk), error=type(error).__name__
        )
        return MailState.FAILED
    return MailState.SENT


def _line(text: str) -> str:
    """Return a name on one line, so that it cannot imitate a paragraph of the mail."""
    return escape_invisible(" ".join(text.split()))
