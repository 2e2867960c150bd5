"""
Django's session middleware, except that a response does not delete an unknown session's cookie.

Why: a page may send a request with the cookie from before a confirmation of the identity while the
browser gets the new one. The response to that request would delete the new cookie, which has the
same name, and so sign the person out.
Remove when: Django deletes the cookie only of a session that the request has emptied.
"""

from django.contrib.sessions.middleware import SessionMiddleware
from django.http import HttpRequest, HttpResponse
from django.utils.cache import patch_vary_headers


class SessionCookieMiddleware(SessionMiddleware):
    def process_response(self, request: HttpRequest, response: HttpResponse) -> HttpResponse:
        session = request.session
        if session.is_empty() and not session.modified:  # signing out modifies it
            if session.accessed:
                patch_vary_headers(response, ("Cookie",))
            return response
        return super().process_response(request, response)
