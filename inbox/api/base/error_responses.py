"""Errors as HTTP responses: problem details (RFC 9457)."""

from collections.abc import Mapping
from typing import Annotated, Any

import structlog
from django.core.exceptions import RequestDataTooBig, TooManyFieldsSent, TooManyFilesSent
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.defaults import page_not_found
from pydantic import ConfigDict
from rest_framework import exceptions
from rest_framework.response import Response
from rest_framework.views import exception_handler

from inbox.api.base.field_types import UNSET, example
from inbox.api.base.schema import Schema
from inbox.platform.monitoring.refusals import note_refusal
from inbox.rules import errors
from inbox.rules.request_context import current_request_id

log = structlog.get_logger(__name__)


class Problem(Schema):
    """An error (RFC 9457). Some have more members, such as `problems`, `by` or `at`."""

    model_config = ConfigDict(extra="allow", json_schema_serialization_defaults_required=False)

    type: Annotated[str, example("urn:signoff:problem:not-found")]
    title: Annotated[str, example("Not found")]
    status: int
    detail: Annotated[str, example("There is nothing at this address.")]
    """A sentence for people."""
    code: Annotated[str, example("NOT_FOUND")]
    """A stable name for programs."""
    request_id: str = UNSET
    """The id of the request in the log."""


#: The content type of errors.
PROBLEM = "application/problem+json"

_STATUS: dict[type[errors.RequestRejected], int] = {
    errors.Unauthenticated: 401,
    errors.Forbidden: 403,
    errors.NotFound: 404,
    errors.TooLarge: 413,
    errors.FileLinkExpired: 410,
    errors.FileErased: 410,
    errors.FileChanged: 409,
    errors.StorageFull: 507,
    errors.UnsupportedMedia: 415,
    errors.InvalidInput: 400,
    errors.InvalidValue: 422,
    errors.InvalidPayload: 422,
    errors.MaskedNotSeen: 422,
    errors.RestoreNotChecked: 409,
    errors.SelfApproval: 403,
    errors.RequirementNotMet: 403,
    errors.DeniedByPolicy: 422,
    errors.InterruptExpired: 410,
    errors.UnknownInterrupt: 404,
    errors.TooManyTests: 429,
    errors.RateLimited: 429,
    errors.AuditSinkLags: 503,
    errors.PreconditionFailed: 412,
    errors.RequestRejected: 409,
}


#: The refusals of callers who lack something, which are logged; a RateLimited logs itself.
_DENIALS = (errors.Unauthenticated, errors.Forbidden, errors.NotFound)


def status_of(kind: type[errors.RequestRejected]) -> int:
    """Return the status of the nearest class that has one."""
    return next(_STATUS[base] for base in kind.__mro__ if base in _STATUS)


def body_of(refusal: errors.RequestRejected) -> dict[str, Any]:
    """Return the problem of an error."""
    return problem(status_of(type(refusal)), refusal.code, refusal.message, **refusal.detail)


def problem(status: int, code: str, detail: str, **more: Any) -> dict[str, Any]:
    """
    Return the body of an error response: `detail` for people and `code` for programs.

    `more` are further members, such as `problems` by field.
    """
    words = code.replace("_", " ")
    if request_id := current_request_id():
        more["request_id"] = request_id
    return {
        "type": f"urn:signoff:problem:{words.lower().replace(' ', '-')}",
        "title": words.capitalize(),
        "status": status,
        "detail": detail,
        "code": code,
        **more,
    }


def json_response(refusal: errors.RequestRejected) -> JsonResponse:
    return JsonResponse(**_response_arguments(refusal))


def _response_arguments(refusal: errors.RequestRejected) -> dict[str, Any]:
    if isinstance(refusal, _DENIALS):
        note_refusal(refusal.code)
    body = body_of(refusal)
    headers = _headers_of(refusal)
    return {"data": body, "status": body["status"], "content_type": PROBLEM, "headers": headers}


def _headers_of(refusal: errors.RequestRejected) -> dict[str, str]:
    if isinstance(refusal, errors.RateLimited):
        return _limit_headers(refusal.detail)
    if isinstance(refusal, errors.AuditSinkLags):
        return {"Retry-After": "30"}
    is_unknown = isinstance(refusal, errors.Unauthenticated)
    return {"WWW-Authenticate": "Bearer"} if is_unknown else {}


def _limit_headers(detail: Mapping[str, Any]) -> dict[str, str]:
    """Return `Retry-After` unless waiting does not help, and which limit of a team is reached."""
    headers, seconds = {}, detail["retry_after"]
    if seconds is not None:
        headers["Retry-After"] = str(seconds)
    if "limit" in detail:
        headers["RateLimit-Policy"] = f'"{detail["limit"]}";q={detail["most"]}'
        headers["RateLimit"] = f'"{detail["limit"]}";r=0'
    return headers


def to_response(error: Exception, context: dict[str, Any]) -> Response | None:
    """Handle an exception of a REST view, as REST framework's EXCEPTION_HANDLER."""
    if isinstance(error, RequestDataTooBig):
        error = errors.TooLarge("A request body has up to 2 MiB.")
    if isinstance(error, TooManyFieldsSent | TooManyFilesSent):
        error = errors.InvalidInput("A form has too many parts: send one file, and its fields.")
    if isinstance(error, errors.RequestRejected):
        return Response(**_response_arguments(error))
    response = exception_handler(error, context)
    if response is not None and isinstance(error, exceptions.APIException):
        code = str(error.default_code).upper()
        response.data = problem(error.status_code, code, str(error.detail))
        response.content_type = PROBLEM
    return response


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Respond to an unknown address with a problem to programs, and with a page to people."""
    if request.path.startswith(("/api/", "/agui/")):
        return json_response(errors.NotFound("There is nothing at this address."))
    return page_not_found(request, exception)
