"""Sending mails about requests: render, send, record the result."""

import smtplib
import threading
from email.utils import parseaddr
from html import escape
from uuid import UUID

import structlog
from django.conf import settings
from django.core.mail import EmailMultiAlternatives
from django.db import InterfaceError, OperationalError
from django.utils.formats import date_format
from django.utils.translation import gettext, ngettext, override

from inbox.actions.notifications.mails import Item, Mail, Publication, claim_mail, record_mail
from inbox.queries.notifications.notifications import unsubscribe_token
from inbox.rules.notifications.events import AnnouncementKind, SendProblem
from inbox.rules.text.safe_text import escape_invisible

log = structlog.get_logger(__name__)

#: Requests that one mail lists; it counts the others.
MAX_ITEMS = 20
_MAX_NAME_CHARACTERS = 80
_MAX_REASON_CHARACTERS = 500

#: Slow mail servers occupy at most a quarter of a worker.
_free_slots = threading.BoundedSemaphore(max(1, settings.CELERY_WORKER_CONCURRENCY // 4))
_never = threading.Event()


def send_due(channel_id: UUID, *, stopping: threading.Event = _never) -> None:
    """
    Send what is due to a channel as one mail.

    Safe to run concurrently: each mail is claimed by one worker.
    """
    if not _free_slots.acquire(blocking=False):
        return  # the notifications stay due, and the sweeper wakes a worker again
    try:
        mail = None if stopping.is_set() else claim_mail(channel_id=channel_id)
        if mail is not None:
            _send(mail)
    except (OperationalError, InterfaceError) as error:
        log.warning("database unavailable", channel=str(channel_id), error=str(error)[:200])
    finally:
        _free_slots.release()


def _send(mail: Mail) -> None:
    problem, answer = None, ""
    try:
        with override(mail.language):
            message = build_message(mail)
        message.send()
    except Exception as error:  # every failure must be recorded, or the mail is sent forever
        problem, answer = _problem_of(error)
        if problem is SendProblem.BROKEN:
            log.exception("mail failed", channel=str(mail.channel_id))
    is_current = record_mail(mail=mail, problem=problem, answer=answer)
    log.info(
        "mail sent" if problem is None else "mail not sent",
        channel=str(mail.channel_id),
        message=str(mail.message_id),
        requests=len(mail.items),
        problem=problem.value if problem else None,
        is_current=is_current,
    )


def _problem_of(error: Exception) -> tuple[SendProblem, str]:
    """Return whether to try again, and the server's answer on one line."""
    if isinstance(error, smtplib.SMTPRecipientsRefused):
        # smtplib raises the same error for 451 and for 550.
        code, text = next(iter(error.recipients.values()))
        return _problem_of_code(code), _answer(code, text)
    if isinstance(error, smtplib.SMTPDataError):
        return _problem_of_code(error.smtp_code), _answer(error.smtp_code, error.smtp_error)
    if isinstance(error, smtplib.SMTPResponseException):  # says nothing about the recipient
        return SendProblem.TEMPORARY, _answer(error.smtp_code, error.smtp_error)
    if isinstance(error, OSError):  # smtplib's other errors are subclasses
        return SendProblem.TEMPORARY, type(error).__name__
    return SendProblem.BROKEN, ""


def _problem_of_code(code: int) -> SendProblem:
    return SendProblem.REFUSED if 500 <= code < 600 else SendProblem.TEMPORARY


def _answer(code: int, text: bytes | str) -> str:
    decoded = text.decode(errors="replace") if isinstance(text, bytes) else text
    line = escape_invisible(" ".join(decoded.split())).replace("\x00", "\N{REPLACEMENT CHARACTER}")
    return f"{code} {line}"


def build_message(mail: Mail) -> EmailMultiAlternatives:
    """Return the mail in the active language; it says who asks for what, without arguments."""
    stop = f"{settings.PUBLIC_URL}/unsubscribe/{unsubscribe_token(mail.channel_id)}/"
    facts = [_facts(item) for item in mail.items[:MAX_ITEMS]]
    facts += [_publication_facts(item) for item in mail.publications[:MAX_ITEMS]]
    more = len(mail.items) + len(mail.publications) - len(facts)
    if mail.is_mandatory:
        subject, stop = _notice_subject(mail), ""
        end = gettext("Administrators get these notices, which nobody can switch off.")
    elif mail.items:
        subject = _subject(mail)
        end = gettext("You get this mail because you subscribed to it. To stop these mails:")
    else:
        subject = gettext("Test of notifications by Signoff")
        end = gettext("Mails about requests will arrive at this address. To stop them:")
    remainder = ngettext("and {count} more", "and {count} more", more).format(count=more)
    blocks = [*facts, *([[("", remainder)]] if more else [])]
    message = EmailMultiAlternatives(
        subject, _text(subject, blocks, end, stop), to=[mail.address], headers=_headers(mail, stop)
    )
    message.attach_alternative(_html(mail.language, subject, blocks, end, stop), "text/html")
    return message


def _subject(mail: Mail) -> str:
    """Return a subject of facts that agents cannot set."""
    count = len(mail.items)
    if count == 1:
        item = mail.items[0]
        pattern = {
            AnnouncementKind.REMINDED: gettext("Reminder: {agent} waits for a decision"),
            AnnouncementKind.ESCALATED: gettext("Escalated: {agent} waits for a decision"),
        }.get(AnnouncementKind(item.kind), gettext("{agent} waits for a decision"))
        return pattern.format(agent=_line(item.agent))
    return ngettext(
        "{count} request waits for a decision", "{count} requests wait for a decision", count
    ).format(count=count)


def _notice_subject(mail: Mail) -> str:
    count = len(mail.items) + len(mail.publications)
    if count > 1:
        return gettext("{count} notices about policies").format(count=count)
    if mail.items:
        team = _line(mail.items[0].team)
        return gettext("A request was approved despite the policy of {team}").format(team=team)
    publication = mail.publications[0]
    if not publication.team:
        return gettext("A policy of the installation was published")
    return gettext("A policy of {team} was published").format(team=_line(publication.team))


def _publication_facts(item: Publication) -> list[tuple[str, str]]:
    pairs = [
        (gettext("Team"), item.team),
        (gettext("Version"), str(item.number)),
        (gettext("Published by"), item.publisher),
        (gettext("Comment"), item.comment),
    ]
    facts = [(label, _line(value)) for label, value in pairs if value]
    if not item.team_slug:
        return facts
    return [*facts, ("", f"{settings.PUBLIC_URL}/teams/{item.team_slug}/policy/{item.number}/")]


def _facts(item: Item) -> list[tuple[str, str]]:
    """Return pairs of label and value; the link has no label."""
    until = date_format(item.expires_at, "DATETIME_FORMAT") + " UTC" if item.expires_at else ""
    pairs = [
        (gettext("Team"), item.team),
        (gettext("Agent"), item.agent),
        (gettext("Tool, as the agent names it"), item.tool),
        (gettext("Requested by"), item.requester),
        (gettext("Approved by"), item.decided_by),
        (gettext("Expires"), until),
    ]
    link = f"{settings.PUBLIC_URL}/interrupts/{item.interrupt_id}/"
    facts = [(label, _line(value)) for label, value in pairs if value]
    if item.override_reason:
        facts.append((gettext("Reason"), _line(item.override_reason, _MAX_REASON_CHARACTERS)))
    return [*facts, ("", link)]


def _line(text: str, most: int = _MAX_NAME_CHARACTERS) -> str:
    """Return a name on one line, so that it cannot imitate a paragraph of the mail."""
    return escape_invisible(" ".join(text.split()))[:most]


def _text(subject: str, blocks: list[list[tuple[str, str]]], end: str, stop: str) -> str:
    paragraphs = [
        "\n".join(f"{label}: {value}" if label else value for label, value in block)
        for block in blocks
    ]
    return "\n\n".join([subject, *paragraphs, f"-- \n{end}\n{stop}".rstrip()])


def _html(
    language: str, subject: str, blocks: list[list[tuple[str, str]]], end: str, stop: str
) -> str:
    """Return a page without images, scripts or styles from elsewhere."""
    links = {"/interrupts/": gettext("Open the request"), "/teams/": gettext("Open the policy")}
    end_link = f' <a href="{escape(stop)}">{escape(stop)}</a>' if stop else ""

    def line(label: str, value: str) -> str:
        if label:
            # <bdi>: text in the other direction does not reorder the label.
            return f"{escape(label)}: <bdi>{escape(value)}</bdi>"
        for path, text in links.items():
            if value.startswith(settings.PUBLIC_URL + path):
                return f'<a href="{escape(value)}">{escape(text)}</a>'
        return escape(value)

    paragraphs = [f"<p>{'<br>'.join(line(*pair) for pair in block)}</p>" for block in blocks]
    return (
        f'<!doctype html><html lang="{escape(language)}"><head><meta charset="utf-8">'
        f"<title>{escape(subject)}</title></head>"
        '<body style="font-family:sans-serif;line-height:1.5;max-width:40em">'
        f'<h1 style="font-size:1.2em">{escape(subject)}</h1>{"".join(paragraphs)}<hr>'
        f'<p style="font-size:.85em">{escape(end)}{end_link}</p>'
        "</body></html>"
    )


def _headers(mail: Mail, stop: str) -> dict[str, str]:
    domain = parseaddr(settings.DEFAULT_FROM_EMAIL)[1].rpartition("@")[2] or "localhost"
    headers = {
        "Message-ID": f"<{mail.message_id}@{domain}>",
        "Auto-Submitted": "auto-generated",
    }
    # The mails about a request form one conversation.
    ids = [f"<{item.interrupt_id}@{domain}>" for item in mail.items[:MAX_ITEMS]]
    if ids:
        headers["References"] = " ".join(ids)
    if settings.PUBLIC_URL and stop:
        headers["List-Unsubscribe"] = f"<{stop}>"
        headers["List-Unsubscribe-Post"] = "List-Unsubscribe=One-Click"
    return headers
