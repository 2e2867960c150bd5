"""Sending the mails of invitations: claim one, send it, record the result."""

import threading
from typing import Final
from uuid import UUID

import structlog
from django.core.mail import EmailMessage
from django.db import InterfaceError, OperationalError
from django.utils.translation import gettext, gettext_noop, override

from inbox.actions.people.invitation_mails import (
    InvitationMail,
    claim_invitation_mail,
    record_invitation_mail,
)
from inbox.platform.encryption import decrypt
from inbox.rules.notifications.events import SendProblem
from inbox.rules.people.invitations import INVITATION_LIFETIME
from inbox.rules.text.safe_text import escape_invisible
from inbox.sending.mail_page import MailLink, letter
from inbox.sending.mails import deliver, mail_domain

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
#: A slow mail server occupies one thread of a worker.
_slot = threading.BoundedSemaphore(1)
_never = threading.Event()


def send_invitation(invitation_id: UUID, *, stopping: threading.Event = _never) -> None:
    """
    Send the mail of an invitation, if it is due.

    Safe to run concurrently: each mail is claimed by one worker.
    """
    if not _slot.acquire(blocking=False):
        return  # the mail stays due, and the sweeper wakes a worker again
    try:
        mail = None if stopping.is_set() else claim_invitation_mail(invitation_id=invitation_id)
        if mail is not None:
            _send(mail)
    except (OperationalError, InterfaceError) as error:
        log.warning("database unavailable", invitation=str(invitation_id), error=str(error)[:200])
    finally:
        _slot.release()


def _send(mail: InvitationMail) -> None:
    try:
        with override(mail.language):
            result = deliver(build_invitation(mail))
        problem, answer = result.problem, result.answer
    except Exception:  # every failure must be recorded, or the mail is sent forever
        log.exception("invitation failed", invitation=str(mail.invitation_id))
        problem, answer = SendProblem.BROKEN, ""
    is_current = record_invitation_mail(mail=mail, problem=problem)
    log.info(
        "invitation sent" if problem is None else "invitation not sent",
        invitation=str(mail.invitation_id),
        problem=problem.value if problem else None,
        answer=answer,
        is_current=is_current,
    )


def build_invitation(mail: InvitationMail) -> EmailMessage:
    """Return the mail in the active language; each try has the same Message-ID."""
    url = decrypt(mail.encrypted_link)
    body = gettext(_BODY).format(
        who=_line(mail.inviter), team=_line(mail.team), link=url, days=INVITATION_LIFETIME.days
    )
    headers = {"Message-ID": f"<{mail.invitation_id}.{mail.digest[:16]}@{mail_domain()}>"}
    link = MailLink(url, gettext("Join the team"), is_button=True)
    return letter(gettext(_SUBJECT), body, to=mail.address, link=link, **headers)


def _line(text: str) -> str:
    """Return a name on one line, so that it cannot imitate a paragraph of the mail."""
    return escape_invisible(" ".join(text.split()))
