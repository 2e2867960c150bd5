"""The language of pages."""

from typing import Any

from django.http import HttpRequest, HttpResponseBase
from django.middleware.locale import LocaleMiddleware
from django.utils import translation
from django.views.decorators.http import require_POST
from django.views.i18n import set_language

from inbox.platform.http.machine_paths import FOR_MACHINES


class PageLanguageMiddleware(LocaleMiddleware):
    """Django's LocaleMiddleware, except for paths that machines use."""

    def process_request(self, request: HttpRequest) -> None:
        if request.path_info.startswith(FOR_MACHINES):
            translation.activate("en")
        else:
            super().process_request(request)

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> Any:
        if request.path_info.startswith(FOR_MACHINES):
            return response
        return super().process_response(request, response)


#: Stores the posted `language` in a cookie and redirects to `next` if it is a local URL.
choose = require_POST(set_language)
