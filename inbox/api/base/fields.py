"""
The values in bodies of REST requests, as far as a schema can say what they may be.

REST framework takes what it can make sense of: a number for a text, "no" for false. These take
what the schema says, and nothing else.
"""

from typing import Any
from uuid import UUID

from django.core.validators import RegexValidator, slug_re
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from inbox.rules.people.invitations import MAX_EMAIL_CHARACTERS

#: A name in an address.
SLUG: str = slug_re.pattern
_URL = r"^[Hh][Tt][Tt][Pp][Ss]?://[!-~]+\Z"


class Text(serializers.CharField):
    """A text, as it was sent: spaces around it stay."""

    def __init__(self, pattern: str = "", wrong: str | None = None, **more: Any) -> None:
        """`wrong` is what is said of a text that is not of the pattern."""
        super().__init__(trim_whitespace=False, **more)
        if pattern:
            self.validators.append(RegexValidator(pattern, wrong))

    def to_internal_value(self, data: Any) -> str:
        if not isinstance(data, str):
            self.fail("invalid")
        return super().to_internal_value(data)


class Line(Text):
    """A text that says something, without the spaces around it."""

    def __init__(self, **more: Any) -> None:
        super().__init__(r"\S", "There is nothing in this yet.", **more)

    def run_validation(self, data: Any = serializers.empty) -> Any:
        value = super().run_validation(data)
        return value.strip() if isinstance(value, str) else value


class Id(serializers.UUIDField):
    def to_internal_value(self, data: Any) -> UUID:
        if not isinstance(data, str):
            self.fail("invalid", value=data)
        found: UUID = super().to_internal_value(data)
        if str(found) != data.lower():  # of braces and "urn:uuid:" the format knows nothing
            self.fail("invalid", value=data)
        return found


class Whole(serializers.IntegerField):
    def to_internal_value(self, data: Any) -> int:
        if isinstance(data, str):
            self.fail("invalid")
        return super().to_internal_value(data)


class Flag(serializers.BooleanField):
    def to_internal_value(self, data: Any) -> bool:
        if not isinstance(data, bool):
            self.fail("invalid", input=data)
        return data


def url_field(**more: Any) -> Text:
    """Which of these URLs are safe, the action says."""
    wrong = "A URL begins with http:// or https://, and has no characters that have to be encoded."
    return Text(_URL, wrong, **more)


@extend_schema_field({"type": "string", "format": "email", "maxLength": MAX_EMAIL_CHARACTERS})
class EmailField(Line):
    """What an address is, the action says: no two readers of a format agree."""

    def __init__(self) -> None:
        super().__init__(max_length=MAX_EMAIL_CHARACTERS)
