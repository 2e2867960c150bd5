"""Descriptions of operations for the OpenAPI document."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from inspect import signature
from itertools import groupby
from typing import Any, TypeVar

from drf_spectacular.utils import OpenApiExample, OpenApiParameter, OpenApiResponse, extend_schema
from pydantic import BaseModel

from inbox.api.base.error_responses import PROBLEM, problem, status_of
from inbox.api.base.schema import Page
from inbox.rules import errors
from inbox.rules.people.access import ROLE_PERMISSIONS, Permission

View = TypeVar("View", bound=Callable[..., Any])
#: status, code, meaning
ErrorCode = tuple[int, str, str]

_JSON = "application/json"
_CALLER_ERRORS = (errors.Unauthenticated, errors.Forbidden, errors.RateLimited)
_BODY_ERRORS = (errors.InvalidInput, errors.TooLarge, errors.UnsupportedMedia)
#: `base_view.ApiView` rejects wrong `fields` and cursors, and versions that are outdated.
_METHOD_ERRORS: Mapping[str, tuple[type[errors.RequestRejected], ...]] = {
    "GET": (errors.InvalidInput,),
    **dict.fromkeys(("PUT", "PATCH", "DELETE"), (errors.PreconditionFailed,)),
}
_NOT_ACCEPTABLE: ErrorCode = (
    406,
    "NOT_ACCEPTABLE",
    "The response is JSON, which `Accept` excludes.",
)
_UNAVAILABLE: ErrorCode = (503, "UNAVAILABLE", "The database is unavailable or busy: try again.")


@dataclass(frozen=True)
class TextBody:
    """A response that is not JSON."""

    content_type: str
    description: str
    example: Any
    schema: Mapping[str, Any] = field(default_factory=lambda: {"type": "string"})


#: Typed as text, which generators read: OpenAPI 3.1 has no streams.
EVENT_STREAM = TextBody(
    "text/event-stream",
    "Server-sent events: `id:` is the seq of an event in its thread, `data:` the AG-UI event.",
    'id: 1\ndata: {"type":"RUN_STARTED","threadId":"order-17","runId":"r-1"}\n\n',
)


def query(name: str, description: str, schema: Mapping[str, Any]) -> OpenApiParameter:
    """Return a query parameter with its JSON Schema."""
    return OpenApiParameter(name, dict(schema), OpenApiParameter.QUERY, description=description)


def header(name: str, description: str, schema: Mapping[str, Any]) -> OpenApiParameter:
    return OpenApiParameter(name, dict(schema), OpenApiParameter.HEADER, description=description)


def page_parameters(
    after: Mapping[str, Any],
    description: str = "The `next_after` of the previous page.",
    maximum: int = 200,
) -> list[OpenApiParameter]:
    """Return the parameters of a list; `after` is the JSON Schema of its cursor."""
    limit = {"type": "integer", "minimum": 1, "maximum": maximum}
    return [query("limit", "The size of a page.", limit), query("after", description, after)]


_AFTER_ID = page_parameters({"type": "string", "format": "uuid"})
_RATE_HEADERS = [
    OpenApiParameter(
        name, {"type": kind}, OpenApiParameter.HEADER, description=description, response=statuses
    )
    for name, kind, description, statuses in (
        ("RateLimit-Policy", "string", 'Calls per seconds: `"caller";q=6000;w=60`.', True),
        (
            "RateLimit",
            "string",
            'Remaining calls, and the seconds until there are more: `"caller";r=5999;t=1`.',
            True,
        ),
        ("Retry-After", "integer", "The seconds until the next call is accepted.", [429]),
    )
]
_IF_MATCH = "Send an ETag as `If-Match` to change that version only."
_IDEMPOTENCY_KEY = header(
    "Idempotency-Key",
    "Makes a retry safe: the same key and body return the first response.",
    {"type": "string", "maxLength": 150},
)


def describe_operation(  # noqa: PLR0913  # an operation has as many parts
    method: str,
    summary: str,
    responses: Mapping[int, Any],
    *,
    tag: str,
    scope: Permission | None,
    second_scope: Permission | None = None,
    body: type[BaseModel] | None = None,
    example: Any = None,
    refusals: Iterable[type[errors.RequestRejected]] = (),
    parameters: Sequence[OpenApiParameter] = (),
    description: str = "",
    only_people: bool = False,
    is_idempotent: bool = False,
    supports_if_match: bool = False,
    negotiates: bool = True,
    body_type: str = _JSON,
) -> Callable[[View], View]:
    """
    Describe the view of a method and an address; its function's name is the name of the operation.

    Every operation has to be described. `responses` are models by status, several where `Accept`
    chooses, and None without a body. A Page has its parameters anyway, unless its cursor is not an
    id. `refusals` are the errors of this operation only; NotFound is one wherever the address has
    arguments. `example` is that of a body which is not our model. `is_idempotent` is True for views
    that pass `idempotency` to their action, `supports_if_match` for those that pass
    `check_if_match`. `negotiates` is False for views that ignore `Accept`. `body_type` is the
    media type of the body.
    """
    kinds = {
        errors.UnknownName,
        *refusals,
        *(_CALLER_ERRORS if scope else ()),
        *(_BODY_ERRORS if body else ()),
        *(_METHOD_ERRORS.get(method, ()) if negotiates else ()),
    }
    result = responses.get(200)
    not_modified = {304: None} if method == "GET" and negotiates else {}
    if is_idempotent:
        kinds.add(errors.IdempotencyConflict)
        parameters = [*parameters, _IDEMPOTENCY_KEY]
    if supports_if_match:
        description = f"{description} {_IF_MATCH}".strip()
    if _is_page(result) and not any(parameter.name == "after" for parameter in parameters):
        parameters = [*parameters, *_AFTER_ID]

    def describe(view: View) -> View:
        if set(signature(view).parameters) - {"self", "request"}:
            kinds.add(errors.NotFound)
        codes = {(status_of(kind), kind.code, _meaning(kind)) for kind in kinds}
        codes |= {_UNAVAILABLE, *((_NOT_ACCEPTABLE,) if negotiates else ())}
        access = _access(scope, second_scope, only_people=only_people)
        described: Any = extend_schema(
            operation_id=re.sub("_(.)", lambda match: match[1].upper(), view.__name__),
            summary=summary,
            description=" ".join(filter(None, (description, access))),
            tags=[tag],
            parameters=[*parameters, *(_RATE_HEADERS if scope else ())],
            request={body_type: body} if body else None,
            responses=_responses({**responses, **not_modified}) | _problems(codes),
            examples=[OpenApiExample("request", example, request_only=True)] if example else [],
            auth=_security(scope, only_people=only_people),  # type: ignore[arg-type]  # as OpenAPI has it
            extensions={"x-required-scope": scope.value} if scope else {},
        )(view)
        described.http_method = method
        described.known_fields = _field_names(result)
        described.known_parameters = {
            *(each.name for each in parameters if each.location == OpenApiParameter.QUERY),
            *(("fields",) if method == "GET" and described.known_fields else ()),
        }
        described.takes_body = body is not None
        described.supports_if_match = supports_if_match
        return described  # type: ignore[no-any-return]

    return describe


def name_of(model: type[BaseModel]) -> str:
    """Return the name of a model in the document: `RunPage` for `Page[Run]`."""
    metadata = model.__pydantic_generic_metadata__
    items = "".join(item.__name__ for item in metadata["args"])
    return f"{items}{(metadata['origin'] or model).__name__}"


def _is_page(model: Any) -> bool:
    return _is_model(model) and model.__pydantic_generic_metadata__["origin"] is Page


def _is_model(model: Any) -> bool:
    return isinstance(model, type) and issubclass(model, BaseModel)


def _field_names(model: Any) -> list[str]:
    """Return the fields of a response, or of each item of a page."""
    if _is_page(model):
        (model,) = model.__pydantic_generic_metadata__["args"]
    return list(model.model_fields) if _is_model(model) else []


def _responses(responses: Mapping[int, Any]) -> dict[Any, Any]:
    described: dict[Any, Any] = {}
    bodies = [
        (status, body)
        for status, alternatives in responses.items()
        for body in (alternatives if isinstance(alternatives, tuple) else (alternatives,))
    ]
    for status, body in bodies:
        if body is None:
            described[status] = OpenApiResponse(description=_DESCRIPTIONS[status])
        elif isinstance(body, TextBody):
            described[status, body.content_type] = OpenApiResponse(
                dict(body.schema),
                description=body.description,
                examples=[OpenApiExample("response", body.example)],
            )
        else:
            described[status, _JSON] = OpenApiResponse(body, description=_DESCRIPTIONS[status])
    return described


_DESCRIPTIONS = {
    200: "Success.",
    201: "Created.",
    202: "Accepted.",
    204: "Success, without a body.",
    304: "Not modified: `If-None-Match` names this version.",
}


def _problems(codes: Iterable[ErrorCode]) -> dict[Any, Any]:
    """Return the problems by status, each with its possible codes."""
    described = {}
    for status, group in groupby(sorted(codes), lambda code: code[0]):
        meanings = {code: meaning for _, code, meaning in group}
        described[status, PROBLEM] = OpenApiResponse(
            # Without an enumeration of the codes: generators make a class of each.
            {"$ref": "#/components/schemas/Problem"},
            description="\n".join(f"- `{code}`: {text}" for code, text in meanings.items()),
            examples=[
                OpenApiExample(code, problem(status, code, text)) for code, text in meanings.items()
            ],
        )
    return described


def _meaning(kind: type[errors.RequestRejected]) -> str:
    return " ".join((kind.__doc__ or "").split()) or f"{kind.code}."


def _access(scope: Permission | None, second_scope: Permission | None, *, only_people: bool) -> str:
    if scope is None:
        return "Public."
    roles = ", ".join(role for role, allowed in ROLE_PERMISSIONS.items() if scope in allowed)
    if only_people:
        return f"For people with one of these roles, not for keys: {roles}."
    scopes = f"scopes `{scope}` and `{second_scope}`" if second_scope else f"scope `{scope}`"
    return f"Keys need the {scopes}; people need one of these roles: {roles}."


def _security(scope: Permission | None, *, only_people: bool) -> list[dict[str, Any]]:
    if scope is None:
        return [{}]
    return [{"session": []}] if only_people else [{"key": []}, {"session": []}]
