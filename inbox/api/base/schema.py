"""Base class of request and response bodies: each shape is written once, as a pydantic model."""

from collections.abc import Callable, Mapping
from functools import cache
from operator import attrgetter
from typing import Any, Generic, Self, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic.fields import FieldInfo
from rest_framework.request import Request

from inbox.api.base.field_types import BLANK_AS_NULL
from inbox.api.base.known_names import MOST_EXPLAINED, names_at, unknown_text
from inbox.rules.errors import InvalidInput, UnknownName

Item = TypeVar("Item")

#: The type of pydantic's error about a member that is not a field.
_UNKNOWN = "extra_forbidden"


class Schema(BaseModel):
    """
    A body of the API, or a part of one.

    It checks input (`from_request`), builds output (`represent`), and is described by
    `openapi.py`, where the docstrings of fields are descriptions and `examples` make the examples.
    """

    model_config = ConfigDict(
        use_attribute_docstrings=True,
        # An alias names the attribute that `represent` reads, never a member of the JSON.
        validate_by_name=True,
        validate_by_alias=False,
        # A member that is ignored would do something else than its sender meant.
        extra="forbid",
        json_schema_serialization_defaults_required=True,
    )

    @classmethod
    def from_request(cls, request: Request) -> Self:
        """
        Return the body of a request.

        Raises:
            InvalidInput: it has another shape; `problems` lists what is wrong by field.
            UnknownName: it has a member that the schema does not name.
        """
        try:
            return cls.model_validate(request.data)
        except ValidationError as error:
            problems = input_problems(error, cls)
            unknown = [each["loc"] for each in error.errors() if each["type"] == _UNKNOWN]
            if not unknown:
                raise InvalidInput(
                    "The request does not match its schema.", problems=problems
                ) from error
            place = ".".join(map(str, unknown[0]))
            text = unknown_text(str(unknown[0][-1]), names_at(cls, unknown[0][:-1]))
            raise UnknownName(f"`{place}`: {text}", problems=problems) from error

    def sent(self) -> dict[str, Any]:
        """Return the members that the client has sent."""
        return self.model_dump(exclude_unset=True)

    @classmethod
    def represent(cls, row: object, /, **values: Any) -> dict[str, Any]:
        """
        Return the JSON of a row: its attributes, except for fields that are in `values`.

        Nothing is validated: a row that breaks a later constraint has to stay readable.
        """
        if unknown := values.keys() - cls.model_fields:
            raise TypeError(f"{cls.__name__} has no {unknown}")
        return {
            name: values[name] if name in values else read(row)
            for name, read in _readers(cls).items()
        }


class List(Schema, Generic[Item]):
    results: list[Item]


class Page(Schema, Generic[Item]):
    results: list[Item]
    next_after: str | None
    """The `after` of the next page; null on the last one."""


# Their fields have their descriptions by now. For each parametrized form, as `Page[Run]`, pydantic
# would search all modules for a source that does not exist: a third of the start of a process.
for _generic in (List, Page):
    _generic.model_config["use_attribute_docstrings"] = False


def source(path: str) -> Any:
    """Declare the attribute that a field is read from, `agent.slug` if it is nested."""
    return Field(validation_alias=path)


@cache
def _readers(model: type[Schema]) -> Mapping[str, Callable[[Any], Any]]:
    """Return the functions that read the fields from a row."""
    return {name: _reader(name, field) for name, field in model.model_fields.items()}


def _reader(name: str, field: FieldInfo) -> Callable[[Any], Any]:
    """Return the function that reads an attribute; None if an object on its path is None."""
    path = str(field.validation_alias or name).split(".")
    is_blank_null = BLANK_AS_NULL in field.metadata
    if len(path) == 1 and not is_blank_null:
        return attrgetter(path[0])

    def read(value: object) -> Any:
        for attribute in path:
            if value is None:
                return None
            value = getattr(value, attribute)
        return value or None if is_blank_null else value

    return read


def input_problems(error: ValidationError, model: type[BaseModel]) -> dict[str, Any]:
    """Return the messages by field, nested as the body of `model` is."""
    problems: dict[str, Any] = {}
    explained = 0
    for problem in error.errors(include_url=False):
        *parents, name = problem["loc"] or ("non_field_errors",)
        fields = problems
        for parent in parents:
            fields = fields.setdefault(str(parent), {})
        if problem["type"] != _UNKNOWN:
            message = _message(problem)
        elif explained < MOST_EXPLAINED:
            explained += 1
            message = unknown_text(str(name), names_at(model, parents))
        else:
            message = "Unknown name."
        fields.setdefault(str(name), []).append(message)
    return problems


def _message(problem: Mapping[str, Any]) -> str:
    value = problem["input"]
    if value is None:
        return "This field may not be null."
    if value == "":
        return "This field may not be blank."
    if problem["type"] not in _MESSAGES:
        return str(problem["msg"])
    details = {"input": value, "type": type(value).__name__, **problem.get("ctx", {})}
    return _MESSAGES[problem["type"]].format_map(details)


#: The messages of REST framework by the error types of pydantic.
_MESSAGES = {
    "missing": "This field is required.",
    "model_type": "Invalid data. Expected a dictionary, but got {type}.",
    "string_type": "Not a valid string.",
    "string_too_long": "Ensure this field has no more than {max_length} characters.",
    "bool_type": "Must be a valid boolean.",
    "int_type": "A valid integer is required.",
    "int_from_float": "A valid integer is required.",
    "greater_than_equal": "Ensure this value is greater than or equal to {ge}.",
    "less_than_equal": "Ensure this value is less than or equal to {le}.",
    "literal_error": '"{input}" is not a valid choice.',
    "enum": '"{input}" is not a valid choice.',
    "list_type": 'Expected a list of items but got type "{type}".',
    "too_short": "Ensure this field has at least {min_length} elements.",
    "too_long": "Ensure this field has no more than {max_length} elements.",
    "dict_type": 'Expected a dictionary of items but got type "{type}".',
}
