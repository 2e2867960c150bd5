"""Signing in."""

from typing import Any

from django.contrib.auth.forms import AuthenticationForm
from django.contrib.auth.views import LoginView
from django.http import HttpResponse
from django.utils.translation import gettext, gettext_noop

_LOCKED = gettext_noop(
    "There were too many attempts to sign in with this name. Wait a quarter of an hour, then try "
    "again."
)


class SignIn(LoginView):
    template_name = "login.html"
    redirect_authenticated_user = True

    def form_invalid(self, form: AuthenticationForm) -> HttpResponse:
        request: Any = self.request
        locked = getattr(request, "axes_locked_out", False)
        if locked:
            # django-axes would replace this page by a line of plain text.
            request.axes_locked_out = False
            form.errors.clear()
            form.add_error(None, gettext(_LOCKED))
        response = super().form_invalid(form)
        response.status_code = 429 if locked else 422
        return response
