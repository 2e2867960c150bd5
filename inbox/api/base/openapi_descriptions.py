"""What each operation of the API says of itself, for the schema."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any, TypeVar

from drf_spectacular.utils import OpenApiExample, OpenApiParameter, OpenApiResponse, extend_schema

from inbox.api.base import schema
from inbox.api.base.error_responses import PROBLEM, problem, status_of
from inbox.api.base.examples import EXAMPLES
from inbox.api.base.response_models import Page
from inbox.rules import errors
from inbox.rules.people.access import ROLE_PERMISSIONS, Permission

View = TypeVar("View", bound=Callable[..., Any])
#: (status, code, what it means)
Refused = tuple[int, str, str]

_JSON = "application/json"
_OF_EVERYBODY = (errors.Unauthenticated, errors.Forbidden, errors.RateLimited)
_OF_A_BODY = (errors.InvalidInput, errors.TooLarge, errors.UnsupportedMedia)
#: What `resources.Caller` refuses: `fields` and cursors that are none, and versions that are past.
_OF_A_METHOD: Mapping[str, tuple[type[errors.RequestRejected], ...]] = {
    "get": (errors.InvalidInput,),
    **dict.fromkeys(("put", "patch", "delete"), (errors.PreconditionFailed,)),
}
_NOT_ACCEPTABLE: Refused = (406, "NOT_ACCEPTABLE", "The answer would be JSON, which is not wanted.")
_UNAVAILABLE: Refused = (503, "UNAVAILABLE", "The database is away or busy: try again.")


@dataclass(frozen=True)
class Text:
    """An answer that is no JSON."""

    kind: str  #: its content type
    what: str
    example: Any
    schema: Mapping[str, Any] = field(default_factory=lambda: {"type": "string"})


#: What describes a stream of events describes each of them, as far as tools understand one.
EVENT_STREAM = Text(
    "text/event-stream",
    "Server-sent events, each `data:` one event of AG-UI.",
    {"id": "1", "data": '{"type":"RUN_STARTED","threadId":"order-17","runId":"r-1"}'},
    {
        "type": "object",
        "properties": {
            "id": {"type": "string", "description": "the seq of the event in its thread"},
            "data": {"type": "string", "contentMediaType": "application/json"},
        },
        "required": ["data"],
    },
)


def query(name: str, what: str, schema: Mapping[str, Any]) -> OpenApiParameter:
    """A parameter in the address, with its JSON Schema."""
    return OpenApiParameter(name, dict(schema), OpenApiParameter.QUERY, description=what)


def header(name: str, what: str, schema: Mapping[str, Any]) -> OpenApiParameter:
    return OpenApiParameter(name, dict(schema), OpenApiParameter.HEADER, description=what)


def page_parameters(
    after: Mapping[str, Any], what: str = "The `next_after` of the page before.", most: int = 200
) -> list[OpenApiParameter]:
    """Those of every list; `after` is the JSON Schema of its cursor."""
    limit = {"type": "integer", "minimum": 1, "maximum": most}
    return [query("limit", "How many there are on a page.", limit), query("after", what, after)]


_AFTER_ID = page_parameters({"type": "string", "format": "uuid"})
#: What the answers of all operations for which one has to be known say of the limit of calls.
_RATES = [
    OpenApiParameter(
        name,
        {"type": kind},
        OpenApiParameter.HEADER,
        description=what,
        response=statuses,
    )
    for name, kind, what, statuses in (
        (
            "RateLimit-Policy",
            "string",
            'How many calls in how many seconds: `"caller";q=6000;w=60`.',
            True,
        ),
        (
            "RateLimit",
            "string",
            'What is left, and when there is more: `"caller";r=5999;t=1`.',
            True,
        ),
        ("Retry-After", "integer", "The seconds until a call is taken again.", [429]),
    )
]
IF_MATCH = "With the ETag of what was read as `If-Match` it is changed only while it is that."
IDEMPOTENCY_KEY = header(
    "Idempotency-Key",
    "Makes a retry safe: the same key and body give the answer of the first request.",
    {"type": "string", "maxLength": 150},
)


def operation(  # noqa: PLR0913  # an operation has as many parts
    name: str,
    summary: str,
    *,
    tag: str,
    scope: Permission | None,
    answers: Mapping[int, Any],
    also: Permission | None = None,
    takes: Any = None,
    refuses: Iterable[type[errors.RequestRejected]] = (),
    parameters: Sequence[OpenApiParameter] = (),
    more: str = "",
    only_people: bool = False,
    negotiates: bool = True,
) -> Callable[[View], View]:
    """
    Describe a method of a view; the schema has no operation that is not described.

    `answers` are shapes of `answers.py` by status, several where `Accept` chooses, and None where
    there is no body; `takes` is the serializer or model of the body. Their examples are those of
    `examples.py`. A Page has its parameters by itself, unless `after` is no id. `refuses` are the
    errors that not every operation has. `also` is a second scope that a key needs. `negotiates` is
    for what REST framework serves: it refuses to answer in another format than JSON.
    """
    kinds = {*refuses, *(_OF_EVERYBODY if scope else ()), *(_OF_A_BODY if takes else ())}
    shape = answers.get(200)
    if _is_page(shape) and not any(one.name == "after" for one in parameters):
        parameters = [*parameters, *_AFTER_ID]

    def tell(view: View) -> View:
        method = view.__name__
        all_kinds = {*kinds, *_OF_A_METHOD.get(method, ())}
        refused = {(status_of(kind), kind.code, _meaning(kind)) for kind in all_kinds}
        refused |= {_UNAVAILABLE, *((_NOT_ACCEPTABLE,) if negotiates else ())}
        who = _who_may(scope, also, only_people=only_people)
        found = {**answers, **({304: None} if method == "get" else {})}
        described: View = extend_schema(
            operation_id=name,
            summary=summary,
            description=" ".join(filter(None, (more, who))),
            tags=[tag],
            parameters=[*parameters, *(_RATES if scope else ())],
            request={_JSON: takes} if takes else None,
            responses=_answers(found) | _problems(refused),
            examples=_request_examples(takes),
            auth=_security(scope, only_people=only_people),  # type: ignore[arg-type]  # as OpenAPI has it
            extensions={"x-required-scope": scope.value} if scope else {},
        )(view)
        described.known_fields = _fields_of(shape)  # type: ignore[attr-defined]  # for `fields=`
        return described

    return tell


def _is_page(shape: Any) -> bool:
    return _origin(shape) in (Page, schema.Page)


def _origin(shape: Any) -> Any:
    """Return `Page` for `Page[Run]`."""
    if hasattr(shape, "__pydantic_generic_metadata__"):
        return shape.__pydantic_generic_metadata__["origin"] or shape
    return getattr(shape, "__origin__", shape)


def _arguments(shape: Any) -> Any:
    """Return `(Run,)` for `Page[Run]`."""
    if hasattr(shape, "__pydantic_generic_metadata__"):
        return shape.__pydantic_generic_metadata__["args"]
    return getattr(shape, "__args__", ())


def _fields_of(shape: Any) -> list[str]:
    """The names of what an answer holds, or each item of a page."""
    item = next(iter(_arguments(shape)), shape)
    if isinstance(item, type) and issubclass(item, schema.Schema):
        return list(item.model_fields)
    return list(getattr(item, "__annotations__", ()))


def _answers(answers: Mapping[int, Any]) -> dict[Any, Any]:
    described: dict[Any, Any] = {}
    shapes = [
        (status, shape)
        for status, given in answers.items()
        for shape in (given if isinstance(given, tuple) else (given,))
    ]
    for status, shape in shapes:
        if shape is None:
            described[status] = OpenApiResponse(description=_NO_BODY[status])
        elif isinstance(shape, Text):
            described[status, shape.kind] = OpenApiResponse(
                dict(shape.schema),
                description=shape.what,
                examples=[OpenApiExample("answer", shape.example)],
            )
        else:
            name = name_of(shape)
            described[status, _JSON] = OpenApiResponse(
                shape,
                description=_ANSWERS[status],
                examples=[OpenApiExample("answer", EXAMPLES[name])] if name in EXAMPLES else [],
            )
    return described


_NO_BODY = {
    204: "Done; there is nothing to tell.",
    304: "It is what `If-None-Match` names.",
}
_ANSWERS = {200: "What was asked for.", 201: "It was made.", 202: "It was accepted."}


def _request_examples(takes: Any) -> list[OpenApiExample]:
    if takes is None or name_of(takes) not in EXAMPLES:
        return []
    return [OpenApiExample("request", EXAMPLES[name_of(takes)], request_only=True)]


def name_of(shape: Any) -> str:
    """The name of a shape in the schema: of `Page[Run]`, RunPage."""
    items = "".join(item.__name__ for item in _arguments(shape))
    name: str = _origin(shape).__name__
    return f"{items}{name}"


def _problems(refused: Iterable[Refused]) -> dict[Any, Any]:
    """The problems by status, each with the codes that it can have."""
    described = {}
    for status, group in groupby(sorted(refused), lambda one: one[0]):
        meanings = {code: meaning for _, code, meaning in group}
        described[status, PROBLEM] = OpenApiResponse(
            {
                "allOf": [
                    {"$ref": "#/components/schemas/Problem"},
                    {"properties": {"code": {"enum": sorted(meanings)}}},
                ]
            },
            description="\n".join(f"- `{code}`: {text}" for code, text in meanings.items()),
            examples=[
                OpenApiExample(code, problem(status, code, text)) for code, text in meanings.items()
            ],
        )
    return described


def _meaning(kind: type[errors.RequestRejected]) -> str:
    return " ".join((kind.__doc__ or "").split()) or f"{kind.code}."


def _who_may(scope: Permission | None, also: Permission | None, *, only_people: bool) -> str:
    if scope is None:
        return "For everybody."
    roles = ", ".join(role for role, allowed in ROLE_PERMISSIONS.items() if scope in allowed)
    if only_people:
        return f"For people, not for keys: {roles}."
    scopes = f"scopes `{scope}` and `{also}`" if also else f"scope `{scope}`"
    return f"Keys need the {scopes}; of people, these roles have it: {roles}."


def _security(scope: Permission | None, *, only_people: bool) -> list[dict[str, Any]]:
    if scope is None:
        return [{}]
    return [{"session": []}] if only_people else [{"key": []}, {"session": []}]
