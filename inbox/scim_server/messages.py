"""Responses of the SCIM server: errors (RFC 7644, section 3.12), for any state of the rules."""

from collections.abc import Mapping
from typing import Any, Final

from django.http import JsonResponse

from inbox.api.base.error_responses import status_of
from inbox.platform.monitoring.refusals import note_refusal
from inbox.rules import errors

SCIM_JSON: Final = "application/scim+json"
_ERROR: Final = "urn:ietf:params:scim:api:messages:2.0:Error"
_DENIALS: Final = (errors.Unauthenticated, errors.Forbidden, errors.NotFound)
#: The keywords of RFC 7644, table 9; the first class of a refusal counts, "" for its own status.
_SCIM_TYPES: Final = {
    errors.UsernameTaken: "uniqueness",
    errors.InvalidValue: "invalidValue",
    errors.TooLarge: "",
    errors.UnsupportedMedia: "",
    errors.InvalidInput: "invalidSyntax",
}


def scim_response(
    body: Mapping[str, Any], *, status: int = 200, headers: Mapping[str, str] | None = None
) -> JsonResponse:
    return JsonResponse(
        body,
        status=status,
        content_type=SCIM_JSON,
        headers={"Cache-Control": "no-store", **(headers or {})},
    )


def scim_error(
    status: int, detail: str, scim_type: str = "", headers: Mapping[str, str] | None = None
) -> JsonResponse:
    body = {"schemas": [_ERROR], "status": str(status), "detail": detail}
    if scim_type:
        body["scimType"] = scim_type
    return scim_response(body, status=status, headers=headers)


def error_of(refusal: errors.RequestRejected) -> JsonResponse:
    """Return the response to a request that is rejected by the product's rules."""
    if isinstance(refusal, _DENIALS):
        note_refusal(refusal.code)
    status, scim_type = _status_and_type(refusal)
    headers = {}
    if status == 401:
        headers["WWW-Authenticate"] = "Bearer"
    if isinstance(refusal, errors.RateLimited):
        headers["Retry-After"] = str(refusal.detail["retry_after"])
    return scim_error(status, refusal.message, scim_type, headers)


def _status_and_type(refusal: errors.RequestRejected) -> tuple[int, str]:
    kinds = (scim_type for kind, scim_type in _SCIM_TYPES.items() if isinstance(refusal, kind))
    scim_type = next(kinds, "")
    # This product has 422 for values that a rule does not allow.
    return 400 if scim_type.startswith("invalid") else status_of(type(refusal)), scim_type
