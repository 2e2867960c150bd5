"""Mails as HTML: one column, one button, nothing from elsewhere."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.core.mail import EmailMultiAlternatives
from django.template.loader import render_to_string
from django.utils.translation import get_language


@dataclass(frozen=True)
class MailLink:
    url: str
    text: str
    is_button: bool = False  #: at most one in a mail


@dataclass(frozen=True)
class MailPart:
    """Facts as pairs of label and value, then texts, then links."""

    facts: Sequence[tuple[str, str]] = ()
    paragraphs: Sequence[str] = ()
    links: Sequence[MailLink] = ()


def mail_page(
    *, language: str, subject: str, parts: Sequence[MailPart], end: str = "", stop: str = ""
) -> str:
    """Return the HTML of a mail; `stop` is the address that ends such mails."""
    context = {"language": language, "subject": subject, "parts": parts, "end": end, "stop": stop}
    return render_to_string("mails/mail.html", context)


def letter(
    subject: str, text: str, *, to: str, link: MailLink | None = None, **headers: str
) -> EmailMultiAlternatives:
    """
    Return a mail of a few paragraphs in the active language, with one link.

    The text has the address of the link on a line of its own, which the page leaves to its button.
    """
    mail = EmailMultiAlternatives(subject, text, to=[to], headers=headers)
    before, after = text, ""
    if link is not None:
        before, _, after = text.partition(link.url)
    parts = [
        MailPart(paragraphs=_paragraphs(before), links=[link] if link else []),
        MailPart(paragraphs=_paragraphs(after)),
    ]
    page = mail_page(language=get_language() or "en", subject=subject, parts=parts)
    mail.attach_alternative(page, "text/html")
    return mail


def _paragraphs(text: str) -> list[str]:
    return [part.strip() for part in text.split("\n\n") if part.strip()]
