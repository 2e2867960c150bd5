"""The one place where errors become HTTP."""

from typing import Any

import structlog
from django.core.exceptions import RequestDataTooBig
from django.http import JsonResponse
from rest_framework import exceptions
from rest_framework.response import Response
from rest_framework.views import exception_handler

from inbox.domain import errors

log = structlog.get_logger(__name__)

_STATUS: dict[type[errors.Refusal], int] = {
    errors.Unauthenticated: 401,
    errors.Forbidden: 403,
    errors.NotFound: 404,
    errors.TooLarge: 413,
    errors.UnsupportedMedia: 415,
    errors.InvalidInput: 400,
    errors.InvalidPayload: 422,
    errors.InterruptExpired: 410,
    errors.UnknownInterrupt: 404,
    errors.TooManyTests: 429,
    errors.Refusal: 409,
}


def http_status(refusal: errors.Refusal) -> int:
    """The status of the nearest class that has one."""
    return next(_STATUS[kind] for kind in type(refusal).__mro__ if kind in _STATUS)


def body_of(refusal: errors.Refusal) -> dict[str, Any]:
    """What every error answer holds: a code for machines, a sentence for people."""
    return {"code": refusal.code, "message": refusal.message, **refusal.detail}


def json_response(refusal: errors.Refusal) -> JsonResponse:
    response = JsonResponse(body_of(refusal), status=http_status(refusal))
    if response.status_code == 401:
        response.headers["WWW-Authenticate"] = "Bearer"
    return response


def to_response(error: Exception, context: dict[str, Any]) -> Response | None:
    """REST framework's exception handler."""
    if isinstance(error, RequestDataTooBig):
        error = errors.TooLarge("A request may have 2 MiB.")
    if isinstance(error, errors.Refusal):
        return Response(body_of(error), status=http_status(error))
    response = exception_handler(error, context)
    if response is not None and isinstance(error, exceptions.APIException):
        code = str(error.default_code).upper()
        if isinstance(error, exceptions.ValidationError):
            response.data = {
                "code": "INVALID_INPUT",
                "message": "The request has the wrong shape.",
                "problems": error.detail,
            }
        else:
            response.data = {"code": code, "message": str(error.detail)}
    return response
