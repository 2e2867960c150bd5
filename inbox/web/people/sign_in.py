"""The pages of sign-in and of re-authentication: password, second factor and passkey."""

from typing import Any, Final

from allauth.account.forms import LoginForm
from allauth.account.internal.flows.reauthentication import STATE_SESSION_KEY
from allauth.account.views import LoginView, ReauthenticateView
from allauth.mfa.webauthn import views as passkeys
from django import forms
from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.translation import gettext, gettext_noop

from inbox.web.base.demo import people_to_choose
from inbox.web.base.step_up import waiting_form_url

#: As long as AXES_COOLOFF_TIME.
_LOCK_SECONDS: Final = 15 * 60
_LOCKED: Final = gettext_noop("Too many sign-in attempts with this name. Try again in 15 minutes.")


class SignInForm(LoginForm):
    def add_prefix(self, field_name: str) -> str:
        """Name the field `username`, which password managers recognize."""
        return "username" if field_name == "login" else str(super().add_prefix(field_name))


_WAIT: Final = gettext_noop("Too many sign-in attempts. Try again in {seconds} seconds.")


def _add_limit_error(request: Any, form: forms.Form, field: str | None = None) -> int:
    """Replace the form's errors if a limit was hit; return the seconds to wait, else 0."""
    if getattr(request, "axes_locked_out", False):
        # Otherwise django-axes replaces this page with plain text.
        request.axes_locked_out = False
        text, seconds = gettext(_LOCKED), _LOCK_SECONDS
    elif seconds := getattr(request, "sign_in_waits", 0):
        text = gettext(_WAIT).format(seconds=seconds)
    else:
        return 0
    form.errors.clear()
    form.add_error(field, text)
    return seconds


class SignIn(LoginView):
    template_name = "account/login.html"
    extra_context = {"providers": settings.OIDC_PROVIDERS}

    def get_context_data(self, **context: Any) -> dict[str, Any]:
        context["demo_people"] = people_to_choose(self.request)
        return dict(super().get_context_data(**context))

    def form_invalid(self, form: forms.Form) -> HttpResponse:
        seconds = _add_limit_error(self.request, form)
        response: HttpResponse = super().form_invalid(form)
        if seconds:
            response.status_code = 429
            response.headers["Retry-After"] = str(seconds)
        return response


class PasskeySignIn(passkeys.LoginWebAuthnView):
    def get(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        response: HttpResponse = super().get(request, *args, **kwargs)
        response.headers["Cache-Control"] = "no-store"
        return response


class ConfirmPassword(ReauthenticateView):
    """Re-authentication with the password, before changes of the account and sensitive actions."""

    def get_context_data(self, **context: Any) -> dict[str, Any]:
        """Offer people of the demo to confirm without their password, as they sign in."""
        people = people_to_choose(self.request)
        is_demo = any(person["user"] == self.request.user for person in people)
        next_url = self.get_next_url()  # type: ignore[no-untyped-call]
        if STATE_SESSION_KEY in self.request.session:
            next_url = waiting_form_url(next_url or reverse("pending"))
        context |= {"is_demo": is_demo, "next": next_url}
        return dict(super().get_context_data(**context))

    def form_invalid(self, form: forms.Form) -> HttpResponse:
        _add_limit_error(self.request, form, "password")
        return super().form_invalid(form)


class ConfirmPasskey(passkeys.ReauthenticateWebAuthnView):
    """Re-authentication with a passkey."""

    def form_invalid(self, form: forms.Form) -> HttpResponse:
        for text in form.errors.get("credential", []):
            messages.error(self.request, str(text))
        again: Any = self.passthrough_next_url(reverse("mfa_reauthenticate_webauthn"))  # type: ignore[no-untyped-call]
        return HttpResponseRedirect(again)
