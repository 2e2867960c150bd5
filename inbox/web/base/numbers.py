"""Counts, shares and money in the reader's format."""

from functools import lru_cache

from babel import Locale, UnknownLocaleError
from babel.numbers import get_currency_symbol
from django.utils.formats import number_format
from django.utils.translation import get_language, gettext

from inbox.forms.number_format import number_format as format_of_numbers
from inbox.rules.presentations.vocabulary import is_currency


def number_text(count: int) -> str:
    """Return "4,212"."""
    return str(number_format(count, force_grouping=True))


def percent_text(share: float) -> str:
    """Return "67 %"; a share that is not zero is never "0 %"."""
    if 0 < share < 0.01:
        return gettext("under 1\N{NO-BREAK SPACE}%")
    return f"{round(100 * share)}\N{NO-BREAK SPACE}%"


def amount_text(text: str, unit: str) -> str:
    """
    Return the JSON text of an amount with its unit: "$142.50", "142,50 €", "12 points".

    All digits stay, so Babel has no number to round: it says where the currency stands.
    """
    number = format_of_numbers().write_grouped(text)
    digits = number.removeprefix("-")
    if not (is_currency(unit) and digits[:1].isdigit()):
        return f"{number} {unit}".strip()
    before, after = _around(unit, get_language() or "en")
    return f"{'-' if number != digits else ''}{before}{digits}{after}"


@lru_cache(maxsize=1000)
def _around(unit: str, language: str) -> tuple[str, str]:
    """Return what stands before and after an amount of a currency."""
    try:
        locale = Locale.parse(language, sep="-")
    except (UnknownLocaleError, ValueError):
        locale = Locale("en")
    pattern = locale.currency_formats["standard"]
    symbol = get_currency_symbol(unit.upper(), locale)
    before = pattern.prefix[0].replace("¤", symbol)
    if before[-1:].isalpha():
        before += "\N{NO-BREAK SPACE}"  # the data of Unicode asks for it, Babel leaves it out
    return before, pattern.suffix[0].replace("¤", symbol)
