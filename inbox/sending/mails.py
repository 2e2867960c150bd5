"""Mails: their text, and sending them by SMTP."""

import smtplib
from dataclasses import replace
from email.utils import parseaddr

from django.conf import settings
from django.core.mail import EmailMessage, EmailMultiAlternatives
from django.utils.translation import gettext

from inbox.actions.notifications.messages import MAX_LISTED, Message, SendResult
from inbox.queries.notifications.notifications import unsubscribe_token
from inbox.rules.notifications.events import SendProblem
from inbox.rules.text.safe_text import escape_invisible
from inbox.sending import printed_mails
from inbox.sending.mail_page import MailLink, MailPart, mail_page
from inbox.sending.message_texts import Block, MessageText, link_to, text_of


def send_mail(message: Message) -> SendResult:
    """
    Send a mail, in the active language.

    Raises:
        Exception: the mail could not be built.
    """
    mail = build_mail(message)
    result = deliver(mail)
    if result.problem is None:
        printed_mails.keep(mail)
    return result


def deliver(mail: EmailMessage) -> SendResult:
    """Send a mail, and return the answer of the server."""
    try:
        mail.send()
    except smtplib.SMTPRecipientsRefused as error:
        # smtplib raises the same error for 451 and for 550.
        code, text = next(iter(error.recipients.values()))
        return SendResult(_problem_of(code), _answer(code, text))
    except smtplib.SMTPDataError as error:
        return SendResult(_problem_of(error.smtp_code), _answer(error.smtp_code, error.smtp_error))
    except smtplib.SMTPResponseException as error:  # says nothing about the recipient
        return SendResult(SendProblem.TEMPORARY, _answer(error.smtp_code, error.smtp_error))
    except OSError as error:  # smtplib's other errors are subclasses
        return SendResult(SendProblem.TEMPORARY, type(error).__name__)
    return SendResult()


def _problem_of(code: int) -> SendProblem:
    return SendProblem.REFUSED if 500 <= code < 600 else SendProblem.TEMPORARY


def _answer(code: int, text: bytes | str) -> str:
    decoded = text.decode(errors="replace") if isinstance(text, bytes) else text
    line = escape_invisible(" ".join(decoded.split())).replace("\x00", "\N{REPLACEMENT CHARACTER}")
    return f"{code} {line}"


def build_mail(message: Message) -> EmailMultiAlternatives:
    """Return the mail in the active language."""
    stop = link_to(f"/unsubscribe/{unsubscribe_token(message.channel_id)}/")
    if message.is_mandatory:
        stop = ""
        end = gettext("Administrators get these notices, which nobody can switch off.")
    elif message.items and all(item.deputy_of for item in message.items):
        stop = ""
        end = gettext(
            "You get this mail as the deputy of somebody who is away. To decline, open "
            "Notifications in your account."
        )
    elif message.items:
        end = gettext("You get this mail because you subscribed to it. To stop these mails:")
        if any(item.link_token for item in message.items):
            warning = gettext(
                "A link to decide works once, for 24 hours at most. Do not forward this mail:"
                " whoever has the link can decide in your name."
            )
            end = f"{warning}\n{end}"
    else:
        end = gettext("Mails about requests will arrive at this address. To stop them:")
    text = text_of(message, most_blocks=MAX_LISTED)
    mail = EmailMultiAlternatives(
        text.subject, _plain(text, end, stop), to=[message.address], headers=_headers(message, stop)
    )
    mail.attach_alternative(_html(message.language, text, end, stop), "text/html")
    return mail


def _plain(text: MessageText, end: str, stop: str) -> str:
    paragraphs = ["\n".join(_plain_lines(block)) for block in text.blocks]
    summary = "\n".join([*text.summary, text.pending_url]) if text.summary else ""
    parts = [text.subject, *paragraphs, summary, f"-- \n{end}\n{stop}".rstrip()]
    return "\n\n".join(part for part in parts if part)


def _plain_lines(block: Block) -> list[str]:
    lines = [f"{label}: {value}" for label, value in (*block.facts, *block.details)]
    if block.decide_url:
        return [
            *lines,
            f"{block.link_text}: {block.url}",
            f"{_decide_text()}: {block.decide_url}",
        ]
    return [*lines, *([block.url] if block.url else [])]


def _decide_text() -> str:
    return gettext("Decide without signing in")


def _html(language: str, text: MessageText, end: str, stop: str) -> str:
    parts = [
        MailPart([*block.facts, *block.details], links=_links(block, alone=len(text.blocks) == 1))
        for block in text.blocks
    ]
    if text.summary:
        url = text.pending_url
        links = [MailLink(url, gettext("Open the inbox"))] if url else []
        parts.append(MailPart(paragraphs=["\n".join(text.summary)], links=links))
    return mail_page(language=language, subject=text.subject, parts=parts, end=end, stop=stop)


def _links(block: Block, *, alone: bool) -> list[MailLink]:
    """Return the links of a block, the first as the button of a mail that has no other block."""
    urls = [(block.decide_url, _decide_text()), (block.url, block.link_text)]
    links = [MailLink(url, text) for url, text in urls if url]
    return [replace(link, is_button=alone and link == links[0]) for link in links]


def mail_domain() -> str:
    """Return the domain of the sender, for ids of messages."""
    return parseaddr(settings.DEFAULT_FROM_EMAIL)[1].rpartition("@")[2] or "localhost"


def _headers(message: Message, stop: str) -> dict[str, str]:
    domain = mail_domain()
    headers = {
        "Message-ID": f"<{message.message_id}@{domain}>",
        "Auto-Submitted": "auto-generated",
    }
    # The mails about a request form one conversation.
    ids = [f"<{item.interrupt_id}@{domain}>" for item in message.items[:MAX_LISTED]]
    if ids:
        headers["References"] = " ".join(ids)
    if stop:
        headers["List-Unsubscribe"] = f"<{stop}>"
        headers["List-Unsubscribe-Post"] = "List-Unsubscribe=One-Click"
    return headers
