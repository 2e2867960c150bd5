"""The texts and sending of account mails."""

import threading
from typing import Any, Final

import structlog
from django.core.mail import EmailMessage
from django.utils.translation import gettext, gettext_noop

from inbox.sending.mail_page import MailLink, letter

log = structlog.get_logger(__name__)

#: The name of the link's address, words, subject and body by django-allauth's template name.
_MAILS: Final = {
    "account/email/password_reset_key": (
        "password_reset_url",
        gettext_noop("Choose a password"),
        gettext_noop("Reset your Signoff password"),
        gettext_noop(
            "Someone, probably you, asked to reset the password for {username}.\n"
            "\n"
            "Open this link to choose a new password:\n"
            "{password_reset_url}\n"
            "\n"
            "If this was not you, ignore this mail."
        ),
    ),
    "account/email/email_confirmation": (
        "activate_url",
        gettext_noop("Confirm the address"),
        gettext_noop("Confirm your e-mail address for Signoff"),
        gettext_noop(
            "{user.username} added this e-mail address to their account.\n"
            "\n"
            "Open this link to confirm that it is yours:\n"
            "{activate_url}\n"
            "\n"
            "If this was not you, ignore this mail."
        ),
    ),
}
#: Notifications about changes to an account.
_NEWS: Final = {
    "account/email/password_changed": gettext_noop("Your password was changed."),
    "account/email/password_reset": gettext_noop(
        "Your password was reset with a link from a mail."
    ),
    "account/email/email_changed": gettext_noop("Your e-mail address was changed."),
    "account/email/email_deleted": gettext_noop("An e-mail address was removed."),
    "mfa/email/totp_activated": gettext_noop("An authenticator app was added."),
    "mfa/email/totp_deactivated": gettext_noop("The authenticator app was removed."),
    "mfa/email/recovery_codes_generated": gettext_noop("New recovery codes were generated."),
    "mfa/email/webauthn_added": gettext_noop("A passkey was added."),
    "mfa/email/webauthn_removed": gettext_noop("A passkey was removed."),
}
_NEWS_SUBJECT: Final = gettext_noop("Your account at Signoff was changed")
_NEWS_END: Final = gettext_noop(
    "Address: {ip}\n"
    "Device: {user_agent}\n"
    "\n"
    "If this was not you, tell your team's admin immediately."
)


def mail_of(name: str, to: str, values: dict[str, Any]) -> EmailMessage:
    """Return the mail in the language of the request."""
    if name in _MAILS:
        url, words, subject, body = _MAILS[name]
        link = MailLink(str(values[url]), gettext(words), is_button=True)
        return letter(gettext(subject), gettext(body).format(**values), to=to, link=link)
    body = f"{gettext(_NEWS[name])}\n\n{gettext(_NEWS_END)}"
    return letter(gettext(_NEWS_SUBJECT), body.format(**values), to=to)


def send_in_background(message: EmailMessage) -> None:
    """
    Send a mail in a background thread, and log a failure.

    A slow mail server delays no page, and response times do not disclose if an account exists.
    """
    threading.Thread(target=_send, args=(message,), name="mail", daemon=True).start()


def _send(message: EmailMessage) -> None:
    try:
        message.send()
    except OSError as error:  # smtplib's errors are subclasses
        log.warning("mail not sent", error=type(error).__name__)
