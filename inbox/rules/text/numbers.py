"""Numbers as a reader writes them: with a decimal sign and groups of thousands."""

import re
from dataclasses import dataclass

_JSON_NUMBER = re.compile(r"(-?)([0-9]+)(?:\.([0-9]+))?((?:[eE][+-]?[0-9]+)?)")
#: Longer numbers are not grouped.
_MAX_GROUPED = 40


class NotANumber(ValueError):
    """The text is no number in this format."""


class AmbiguousNumber(ValueError):
    """The text can be read in two ways, which `readings` has."""

    def __init__(self, *readings: str) -> None:
        super().__init__(readings)
        self.readings = readings


@dataclass(frozen=True)
class NumberFormat:
    """The signs of a language's numbers."""

    decimal: str = "."
    group: str = ","

    @property
    def code(self) -> str:
        """The format in a form field, so that typed numbers are read as they were written."""
        return self.decimal + self.group

    def write(self, text: str) -> str:
        """Return the JSON text of a number for a field: without groups, no digit is changed."""
        return text.replace(".", self.decimal) if _JSON_NUMBER.fullmatch(text) else text

    def write_grouped(self, text: str) -> str:
        """Return the JSON text of a number to read; other texts unchanged."""
        match = _JSON_NUMBER.fullmatch(text)
        if match is None or len(match[2]) > _MAX_GROUPED:
            return text
        sign, integral, fraction, exponent = match.groups()
        grouped = re.sub(r"(?<=[0-9])(?=(?:[0-9]{3})+$)", self.group, integral)
        return f"{sign}{grouped}{self.decimal + fraction if fraction else ''}{exponent}"

    def read(self, text: str) -> str:
        """
        Return what a person typed as the JSON text of a number.

        Raises:
            AmbiguousNumber: "1.250" in German is 1250, or 1.25 as others write it.
            NotANumber: it is none, or its groups are not of three digits.
        """
        decimal, group = re.escape(self.decimal), re.escape(self.group)
        pattern = rf"(-?)([0-9]+|[0-9]{{1,3}}(?:{group}[0-9]{{3}})+)(?:{decimal}([0-9]+))?"
        match = re.fullmatch(pattern + r"((?:[eE][+-]?[0-9]+)?)", text)
        if match is None:
            raise NotANumber(text)
        sign, integral, fraction, exponent = match.groups()
        digits = integral.replace(self.group, "")
        if digits.startswith("0") and digits != "0":
            raise NotANumber(text)
        if integral.count(self.group) == 1 and fraction is None:
            other = f"{sign}{integral.replace(self.group, self.decimal)}".rstrip("0")
            readings = (f"{sign}{digits}{exponent}", f"{other.rstrip(self.decimal)}{exponent}")
            raise AmbiguousNumber(*readings)
        return f"{sign}{digits}{'.' + fraction if fraction else ''}{exponent}"


ENGLISH = NumberFormat()
FORMATS = {
    each.code: each for each in (ENGLISH, NumberFormat(",", "."), NumberFormat(",", "\u00a0"))
}
