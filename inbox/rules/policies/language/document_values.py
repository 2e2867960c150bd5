"""Reading the single values of a policy's JSON document."""

import re
from collections.abc import Callable
from datetime import date, timedelta
from enum import StrEnum
from math import isfinite
from typing import Any, Final, TypeVar
from zoneinfo import ZoneInfo

from inbox.rules.decisions.consent import canonical_json
from inbox.rules.people.access import Role
from inbox.rules.policies.language.policy import Slot, pointer_tokens
from inbox.rules.schema.schema_cost import SchemaRejected
from inbox.rules.schema.schemas import check_schema
from inbox.rules.text.messages import TranslatableMessage

MAX_VALUES = 100  #: of `is_one_of` and `domain_is`
MAX_TEXT = 1_000
MAX_GLOB, MAX_STARS = 200, 8
MAX_PATH, MAX_TOKENS = 500, 16
LONGEST_TIME = timedelta(days=365)

_ID: Final = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")
_DOMAIN: Final = re.compile(
    r"(?=.{1,253}\Z)(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z0-9-]{2,63}"
)
_DURATION: Final = re.compile(
    r"P(?:(\d{1,4})D)?(?:T(?=\d)(?:(\d{1,5})H)?(?:(\d{1,6})M)?)?", re.ASCII
)
_CLOCK: Final = re.compile(r"([01]\d|2[0-3]):([0-5]\d)|24:00", re.ASCII)
_POINTER: Final = re.compile(r"(?:/(?:[^~/]|~[01])*)+")

#: The facts outside of `/args` that are texts.
TEXT_FACTS: Final = frozenset(
    {
        *("/agent", "/tool", "/reason", "/environment", "/team"),
        *("/requester/kind", "/requester/id", "/requester/role"),
    }
)
_SLOT_ROLES: Final = (Role.REVIEWER, Role.ADMIN)

T = TypeVar("T")
E = TypeVar("E", bound=StrEnum)


class Invalid(Exception):
    """A value cannot be used."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code, self.message = code, message


ABSENT: Final = object()


def not_one_of(values: Any) -> Invalid:
    names = ", ".join(value.value for value in values)
    return Invalid("choice", TranslatableMessage("This must be one of: {names}.", names=names))


def choice_of(choices: type[E]) -> Callable[[Any], E]:
    def read(value: Any) -> E:
        if not isinstance(value, str) or value not in [choice.value for choice in choices]:
            raise not_one_of(choices)
        return choices(value)

    return read


def read_boolean(value: Any) -> bool:
    if not isinstance(value, bool):
        raise Invalid("type", TranslatableMessage("This must be true or false."))
    return value


def integer_from(least: int, most: int) -> Callable[[Any], int]:
    def read(value: Any) -> int:
        if type(value) is not int or not least <= value <= most:
            text = TranslatableMessage(
                "This must be a whole number from {least} to {most}.", least=least, most=most
            )
            raise Invalid("range", text)
        return value

    return read


def read_number(value: Any) -> int | float:
    if type(value) not in (int, float) or not isfinite(value):
        raise Invalid("type", TranslatableMessage("This must be a number."))
    number: int | float = value
    return number


def text_up_to(most: int = MAX_TEXT) -> Callable[[Any], str]:
    def read(value: Any) -> str:
        if not isinstance(value, str) or not 0 < len(value) <= most:
            text = TranslatableMessage("This must be a text of 1 to {most} characters.", most=most)
            raise Invalid("text", text)
        return value

    return read


def read_rule_id(value: Any) -> str:
    if not isinstance(value, str) or not _ID.fullmatch(value):
        text = TranslatableMessage(
            "This must have 1 to 64 characters: a to z, digits, - and _, not - or _ first."
        )
        raise Invalid("id", text)
    return value


def read_name(value: Any) -> str:
    text = text_up_to(100)(value)
    if text != text.strip() or not text.isprintable():
        raise Invalid("text", TranslatableMessage("This must be one line without outer spaces."))
    return text


def read_group(value: Any) -> str:
    return text_up_to(64)(value)


def read_role(value: Any) -> str:
    if value not in _SLOT_ROLES:
        raise not_one_of(_SLOT_ROLES)
    return str(value)


def read_target(value: Any) -> Slot:
    kind, _, name = value.partition(":") if isinstance(value, str) else ("", "", "")
    if kind == "group":
        return Slot("group", read_group(name))
    if kind == "role":
        return Slot("role", read_role(name))
    raise Invalid("target", TranslatableMessage("Write group:name or role:name."))


def read_path(value: Any) -> str:
    text = text_up_to(MAX_PATH)(value)
    tokens = pointer_tokens(text)
    if not _POINTER.fullmatch(text) or len(tokens) > MAX_TOKENS:
        raise Invalid("path", TranslatableMessage("This is not a JSON pointer into the facts."))
    is_fact = text in TEXT_FACTS or text in ("/local_time", "/requester/groups")
    if not is_fact and tokens[0] != "args":
        raise Invalid("unknown_fact", TranslatableMessage("No fact has this path."))
    return text


def read_scalar(value: Any) -> Any:
    if isinstance(value, str):
        if len(value) > MAX_TEXT:
            return text_up_to()(value)
        return value
    if isinstance(value, bool):
        return value
    try:
        return read_number(value)
    except Invalid:
        text = TranslatableMessage("This must be a text, a number, or true or false.")
        raise Invalid("type", text) from None


def list_of(read: Callable[[Any], T]) -> Callable[[Any], tuple[T, ...]]:
    def read_list(value: Any) -> tuple[T, ...]:
        if not isinstance(value, list) or not 0 < len(value) <= MAX_VALUES:
            text = TranslatableMessage("This must be a list of 1 to {most}.", most=MAX_VALUES)
            raise Invalid("list", text)
        return tuple(read(item) for item in value)

    return read_list


def read_bounds(value: Any) -> tuple[int | float, ...]:
    bounds = list_of(read_number)(value)
    if len(bounds) != 2 or bounds[0] > bounds[1]:
        text = TranslatableMessage("This must be the smallest and the largest number.")
        raise Invalid("range", text)
    return bounds


def read_glob(value: Any) -> str:
    text = text_up_to(MAX_GLOB)(value)
    if text.count("*") > MAX_STARS:
        raise Invalid("glob", TranslatableMessage("This has more than {most} *.", most=MAX_STARS))
    return text


def read_domain(value: Any) -> str:
    if not isinstance(value, str) or not _DOMAIN.fullmatch(value.lower()):
        raise Invalid("domain", TranslatableMessage("This must be a domain, as in example.org."))
    return value.lower()


def read_domains(value: Any) -> tuple[str, ...]:
    return (read_domain(value),) if isinstance(value, str) else list_of(read_domain)(value)


def read_present(value: Any) -> bool:
    if value is not ABSENT and value is not True:
        raise Invalid("type", TranslatableMessage("This must be true or left out."))
    return True


def read_schema(value: Any) -> str:
    if not isinstance(value, dict):
        raise Invalid("type", TranslatableMessage("This must be a JSON Schema."))
    try:
        check_schema(value)
    except SchemaRejected as error:
        text = TranslatableMessage("This JSON Schema cannot be used: {reason}", reason=str(error))
        raise Invalid("schema", text) from error
    return canonical_json(value)


def read_duration(value: Any) -> timedelta:
    match = _DURATION.fullmatch(value) if isinstance(value, str) else None
    days, hours, minutes = (int(part or 0) for part in match.groups()) if match else (0, 0, 0)
    duration = timedelta(days=days, hours=hours, minutes=minutes)
    if not timedelta() < duration <= LONGEST_TIME:
        text = TranslatableMessage("This must be a time such as PT30M, PT4H or P1D, at most P365D.")
        raise Invalid("duration", text)
    return duration


def read_zone(value: Any) -> str:
    try:
        return ZoneInfo(text_up_to(64)(value)).key
    except (ValueError, OSError, KeyError) as error:  # ZoneInfoNotFoundError is a KeyError
        text = TranslatableMessage("This must be a time zone, as in Europe/Berlin.")
        raise Invalid("zone", text) from error


def read_date(value: Any) -> date:
    try:
        day = date.fromisoformat(value)
    except (TypeError, ValueError):
        day = None
    if day is None or day.isoformat() != value:
        raise Invalid("date", TranslatableMessage("This must be a date, as in 2026-12-25."))
    return day


def read_interval(value: Any) -> tuple[int, int]:
    times = [_minutes(item) for item in value] if isinstance(value, list) else []
    if len(times) != 2 or None in times or times[0] >= times[1]:  # type: ignore[operator]
        text = TranslatableMessage("This must be two times of a day, as in 09:00 and 17:30.")
        raise Invalid("interval", text)
    return times[0] or 0, times[1] or 0


def _minutes(value: Any) -> int | None:
    match = _CLOCK.fullmatch(value) if isinstance(value, str) else None
    return int(value[:2]) * 60 + int(value[3:]) if match else None
