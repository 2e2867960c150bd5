"""What the rest of the product says in English, in the reader's language."""

from django.utils.translation import gettext

from inbox.rules.text.messages import TranslatableMessage


def say(text: str) -> str:
    """A sentence in the reader's language; a text that is none, such as an agent's, as it is."""
    if not isinstance(text, TranslatableMessage):
        return text
    return gettext(text.pattern).format(**text.values)
