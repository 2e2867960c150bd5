"""The pages to change a password and to reset it by mail."""

from typing import Any

from allauth.account.forms import ResetPasswordForm
from allauth.account.models import EmailAddress
from allauth.account.views import PasswordChangeView
from django.http import HttpRequest, HttpResponseBase, HttpResponseRedirect
from django.urls import reverse


class PasswordChange(PasswordChangeView):
    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        user = request.user
        if user.is_authenticated and not user.has_usable_password():
            # Users of an identity provider have no password: setting one would bypass it.
            return HttpResponseRedirect(reverse("account"))
        response: HttpResponseBase = super().dispatch(request, *args, **kwargs)
        return response


class PasswordResetForm(ResetPasswordForm):
    def clean_email(self) -> str:
        """Send mail only to users with a password, and only to verified addresses."""
        email = str(super().clean_email())
        user_ids = set(
            EmailAddress.objects.filter(email=email.lower(), verified=True).values_list(
                "user", flat=True
            )
        )
        self.users = [
            user for user in self.users if user.pk in user_ids and user.has_usable_password()
        ]
        return email
