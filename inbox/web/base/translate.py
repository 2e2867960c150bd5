"""Translation of messages that lower layers write in English."""

from django.utils.translation import gettext

from inbox.rules.text.messages import TranslatableMessage


def translate(text: str) -> str:
    """Translate a message; return other texts, such as an agent's, unchanged."""
    if not isinstance(text, TranslatableMessage):
        return text
    return gettext(text.pattern).format(**text.values)
