"""Types of fields. Input of another JSON type is rejected, never converted."""

import re
from contextlib import suppress
from dataclasses import dataclass
from datetime import date
from typing import Annotated, Any
from uuid import UUID

from django.core.validators import slug_re
from pydantic import BeforeValidator, Field, GetJsonSchemaHandler, StrictBool
from pydantic_core import CoreSchema, PydanticCustomError, core_schema


@dataclass(frozen=True)
class Text:
    """Constraints of a text; `message` is the error for one that does not match `pattern`."""

    maximum: int | None = None  #: characters
    pattern: str = ""
    message: str = "Enter a valid value."
    may_be_blank: bool = False
    strips: bool = False

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> CoreSchema:
        minimum = None if self.may_be_blank else 1
        text = core_schema.str_schema(min_length=minimum, max_length=self.maximum)
        return core_schema.no_info_after_validator_function(self._check, text)

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        pattern = {"pattern": self.pattern.replace(r"\Z", "$")} if self.pattern else {}
        return {**handler(schema), **pattern}

    def _check(self, text: str) -> str:
        if not re.search(self.pattern, text):
            raise PydanticCustomError("pattern", self.message)
        return text.strip() if self.strips else text


def line(maximum: int, message: str = "There is nothing in this yet.") -> Text:
    """Return the constraints of a text that is not blank, read without the spaces around it."""
    return Text(maximum, r"\S", message, strips=True)


def url(maximum: int) -> Text:
    """Return the constraints of a URL without encoding. The actions decide which are safe."""
    message = (
        "A URL begins with http:// or https://, and has no characters that have to be encoded."
    )
    return Text(maximum, r"^[Hh][Tt][Tt][Pp][Ss]?://[!-~]+\Z", message)


@dataclass(frozen=True)
class Range:
    """Bounds of a whole number, which may be sent as `1.0` but not as `"1"` or `true`."""

    minimum: int
    maximum: int

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> CoreSchema:
        number = core_schema.int_schema(strict=True, ge=self.minimum, le=self.maximum)
        return core_schema.no_info_before_validator_function(_without_fraction, number)


def _without_fraction(value: Any) -> Any:
    return int(value) if isinstance(value, float) and value.is_integer() else value


class OneOf:
    """The constraint of a text that is one of these values."""

    def __init__(self, *values: str) -> None:
        self.values = values

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> CoreSchema:
        return core_schema.literal_schema(list(self.values))


def example(value: Any) -> Any:
    """Declare the example of a field; enumerations, ids, times and numbers have one anyway."""
    return Field(examples=[value])


def _canonical(value: Any) -> Any:
    """Reject the braces and `urn:uuid:` that Python's UUID accepts and JSON Schema does not."""
    if not (isinstance(value, UUID) or (isinstance(value, str) and _UUID.fullmatch(value))):
        raise PydanticCustomError("uuid", "Must be a valid UUID.")
    return value


def _day(value: Any) -> Any:
    if isinstance(value, str) and _DAY.fullmatch(value):
        with suppress(ValueError):
            return date.fromisoformat(value)
    raise PydanticCustomError(
        "date", "Date has wrong format. Use one of these formats instead: YYYY-MM-DD."
    )


_UUID = re.compile("[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_DAY = re.compile("[0-9]{4}-[0-9]{2}-[0-9]{2}")
#: The default of a member that may be left out, and may not be null.
UNSET: Any = None
SLUG = slug_re.pattern

Id = Annotated[UUID, BeforeValidator(_canonical)]
Day = Annotated[date, BeforeValidator(_day)]
Flag = StrictBool
#: Marks fields that are null where their column is blank.
BLANK_AS_NULL = "blank as null"
TextOrNull = Annotated[str | None, BLANK_AS_NULL]

#: JSON of AG-UI 1.0, as an agent or a client wrote it.
Agui = Annotated[dict[str, Any], Field(description="AG-UI 1.0, as the agent wrote it.")]
AgentName = Annotated[str, Text(50, SLUG), example("mailer")]
TeamName = Annotated[str, Text(50, SLUG), example("ops")]
PersonName = Annotated[str, example("Ana Kovač")]
