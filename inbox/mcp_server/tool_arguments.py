"""The arguments of the tools, as models fill them in."""

from typing import Annotated, Any, Literal

from pydantic import ConfigDict, ValidationError
from pydantic.json_schema import GenerateJsonSchema

from inbox.api.base.field_types import UNSET, AgentName, Flag, Id, Range, Text, example, line
from inbox.api.base.schema import Schema, input_problems
from inbox.api.requests.requests import (
    Attempt,
    ItemId,
    JsonObject,
    JsonSchema,
    LeaseSeconds,
    Sentence,
    Title,
)
from inbox.rules.errors import InvalidInput

MAX_WAIT_SECONDS = 50

Seconds = Annotated[int, Range(0, MAX_WAIT_SECONDS), example(MAX_WAIT_SECONDS)]
SessionId = Annotated[str, Text(200, r"^[^\x00-\x1f\x7f]+\Z"), example("nightly:22")]


class AskArguments(Schema):
    title: Title = UNSET
    """One line that tells a person what is asked."""
    why: Sentence = UNSET
    """The reason, and what a person has to know to decide."""
    session: SessionId = UNSET
    """An id of this conversation or job. Repeated calls of a session join its open request."""
    agent: AgentName = UNSET
    """Needed only if the API key is not that of an agent."""
    expires_in: Annotated[int, Range(1, 366 * 86_400), example(86_400)] | None = 86_400
    """Seconds until the request expires; null for never."""
    wait_seconds: Seconds = MAX_WAIT_SECONDS
    """How long to wait for a decision before the result is `open`."""


class RequestApproval(AskArguments):
    tool: Annotated[str, line(200), example("refund")]
    """The name of the tool, function or command that will be executed after an approval."""
    args: JsonObject
    """Its exact arguments. People see them, and approve these only."""
    may_edit: Flag = False
    """True if people may change the arguments; then execute the returned ones."""
    args_schema: JsonSchema = UNSET
    """The JSON Schema of changed arguments."""
    metadata: Annotated[dict[str, Any], example({"risk": "medium"})] = UNSET
    """Facts for people and policies, such as risk."""
    effect: Literal["once", "idempotent"] = "once"
    """`once` for a call that must not happen twice."""
    lease_seconds: LeaseSeconds = 600
    """The time to execute and report after the approval is returned."""


class AskHuman(AskArguments):
    title: Title
    """The question."""
    answer_schema: JsonSchema = UNSET
    """The JSON Schema of the answer, as a form for people; without it, yes or no."""


class WaitForDecision(Schema):
    request_id: Id
    wait_seconds: Seconds = MAX_WAIT_SECONDS


class ReportResult(Schema):
    request_id: Id
    attempt: Attempt
    """The `attempt` that came with the approval."""
    outcome: Literal["succeeded", "failed", "unknown"]
    """`failed` says that the call had no effect; `unknown` that nobody knows."""
    result: Annotated[Any, example("re_9001")] = None
    error: Annotated[str, Text(10_000, may_be_blank=True), example("")] = ""
    executed_args: JsonObject | None = None
    """What was executed, if it differs from the approved arguments."""


class Withdraw(Schema):
    request_id: Id
    reason: Annotated[str, Text(500, may_be_blank=True), example("No longer needed")] = ""


class ApproveTool(Schema):
    """The input of Claude Code, which may get more members."""

    model_config = ConfigDict(extra="ignore")

    tool_name: Annotated[str, line(200), example("Bash")]
    input: JsonObject
    tool_use_id: ItemId = UNSET


class _Generator(GenerateJsonSchema):
    """Leaves out titles, which repeat the names, and the defaults of arguments that are unset."""

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False

    def default_schema(self, schema: Any) -> Any:
        described = super().default_schema(schema)
        if described.get("default", 0) is None:
            del described["default"]
        return described


def schema_of(model: type[Schema]) -> dict[str, Any]:
    """Return the JSON Schema of a tool's arguments."""
    schema = model.model_json_schema(schema_generator=_Generator)
    return {name: value for name, value in schema.items() if name not in ("title", "description")}


def read_arguments(model: type[Schema], arguments: Any) -> Any:
    """
    Return the arguments as an instance of `model`.

    Raises:
        InvalidInput: they do not match its schema.
    """
    try:
        return model.model_validate(arguments)
    except ValidationError as error:
        problems = input_problems(error, model)
        raise InvalidInput(
            f"The arguments do not match the schema: {'; '.join(_lines(problems))}",
            problems=problems,
        ) from error


def _lines(problems: dict[str, Any], parent: str = "") -> list[str]:
    lines: list[str] = []
    for name, value in problems.items():
        place = f"{parent}.{name}" if parent else name
        if isinstance(value, dict):
            lines += _lines(value, place)
        else:
            lines += [f"{place}: {message}" for message in value]
    return lines[:10]
