"""Which language the reader of a page gets."""

from typing import Any

from django.http import HttpRequest, HttpResponseBase
from django.middleware.locale import LocaleMiddleware
from django.utils import translation
from django.views.decorators.http import require_POST
from django.views.i18n import set_language

#: Machines match texts: what they get is English, whatever their HTTP library accepts.
_FOR_MACHINES = ("/api/", "/agui/", "/healthz")


class PageLanguageMiddleware(LocaleMiddleware):
    """The language that was chosen, else the first of the browser's that there is."""

    def process_request(self, request: HttpRequest) -> None:
        if request.path_info.startswith(_FOR_MACHINES):
            translation.activate("en")
        else:
            super().process_request(request)

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> Any:
        if request.path_info.startswith(_FOR_MACHINES):
            return response
        return super().process_response(request, response)


#: Keeps the posted `language` in a cookie and goes to `next`, if that is an address of ours.
choose = require_POST(set_language)
