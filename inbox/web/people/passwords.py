"""Changing a password, and choosing another one by a mail."""

from typing import Any

from allauth.account.forms import ResetPasswordForm
from allauth.account.models import EmailAddress
from allauth.account.views import PasswordChangeView, PasswordResetFromKeyView, PasswordResetView
from django.http import HttpRequest, HttpResponseBase, HttpResponseRedirect
from django.urls import reverse

from inbox.web.people.sign_in import Refusing


class Change(Refusing, PasswordChangeView):
    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        user: Any = request.user
        if user.is_authenticated and not user.has_usable_password():
            # Who comes by another way has none: it would be a way around that one.
            return HttpResponseRedirect(reverse("account"))
        found: HttpResponseBase = super().dispatch(request, *args, **kwargs)
        return found


class ForgottenForm(ResetPasswordForm):
    def clean_email(self) -> str:
        """Write only to who has a password, at an address that is known to be theirs."""
        email = str(super().clean_email())
        theirs = set(
            EmailAddress.objects.filter(email=email.lower(), verified=True).values_list(
                "user", flat=True
            )
        )
        self.users = [
            user for user in self.users if user.pk in theirs and user.has_usable_password()
        ]
        return email


class Forgotten(Refusing, PasswordResetView):
    """Send a mail, if there is somebody to send it to; the page does not tell."""


class Choose(Refusing, PasswordResetFromKeyView):
    """Choose another password, behind the link of a mail."""
