"""The colours of pages: those of the system, light, or dark."""

from enum import StrEnum
from typing import Final

from django.conf import settings
from django.core.exceptions import BadRequest
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_POST

_SECONDS: Final = 365 * 24 * 3600


class Theme(StrEnum):
    SYSTEM = ""
    LIGHT = "light"
    DARK = "dark"


def cookie_name() -> str:
    return f"{settings.COOKIE_PREFIX}theme"


@require_POST
def choose(request: HttpRequest) -> HttpResponse:
    """Store the posted `theme` in a cookie and redirect to `next` if it is a local URL."""
    theme, address = request.POST.get("theme", ""), request.POST.get("next", "")
    if theme not in set(Theme):
        raise BadRequest("There is no such theme.")
    is_local = url_has_allowed_host_and_scheme(address, allowed_hosts={request.get_host()})
    response = HttpResponseRedirect(address if is_local else "/", status=303)
    if theme:
        response.set_cookie(
            cookie_name(),
            theme,
            max_age=_SECONDS,
            samesite="Lax",
            httponly=True,
            secure=settings.SESSION_COOKIE_SECURE,
        )
    else:
        response.delete_cookie(cookie_name(), samesite="Lax")
    return response
