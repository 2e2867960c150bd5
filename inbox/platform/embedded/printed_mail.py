"""
The backend of Django that prints mails, without the tokens of links to decide.

Why: whoever reads the log could decide as another person. Other links in mails stay: without a mail
server, administrators copy them from the log.
Remove when: Django's console backend can be told what to leave out.
"""

from copy import copy
from typing import Any

from django.core.mail import EmailMultiAlternatives
from django.core.mail.backends.console import EmailBackend as ConsoleBackend

from inbox.platform.logs import without_decision_tokens


class PrintedMailBackend(ConsoleBackend):
    def write_message(self, message: Any) -> None:
        printed = copy(message)
        printed.body = without_decision_tokens(str(message.body))
        if isinstance(message, EmailMultiAlternatives):
            printed.alternatives = []
            for content, kind in message.alternatives:
                printed.attach_alternative(without_decision_tokens(str(content)), str(kind))
        super().write_message(printed)
