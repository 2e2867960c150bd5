"""The last mails that were printed in the log, because the installation has no mail server."""

import threading
from collections import deque
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from django.conf import settings
from django.core.mail import EmailMultiAlternatives

from inbox.platform import clock

_MAX_MAILS: Final = 200
_lock = threading.Lock()
_mails: deque["PrintedMail"] = deque(maxlen=_MAX_MAILS)


@dataclass(frozen=True)
class PrintedMail:
    address: str
    subject: str
    text: str
    at: datetime


def are_mails_printed() -> bool:
    """Return whether mails are printed instead of sent."""
    return not settings.SENDS_MAIL


def keep(mail: EmailMultiAlternatives) -> None:
    """Keep a mail in the memory of this process, if it was printed."""
    if not are_mails_printed():
        return
    now, subject, text = clock.now(), str(mail.subject), str(mail.body)
    with _lock:
        _mails.extend(PrintedMail(address, subject, text, now) for address in mail.to)


def printed_mails_to(address: str) -> list[PrintedMail]:
    """Return the last mails to an address that this process has printed, the latest first."""
    with _lock:
        return [mail for mail in reversed(_mails) if mail.address == address]
