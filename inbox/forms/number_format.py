"""The format of numbers in the language of the page."""

from django.utils.formats import get_format
from django.utils.translation import get_language

from inbox.rules.text.numbers import ENGLISH, FORMATS, NumberFormat


def number_format() -> NumberFormat:
    """Return the reader's format, the English one for languages with other signs."""
    language = get_language()
    decimal = get_format("DECIMAL_SEPARATOR", language, use_l10n=True)
    group = get_format("THOUSAND_SEPARATOR", language, use_l10n=True)
    return FORMATS.get(f"{decimal}{group}", ENGLISH)
