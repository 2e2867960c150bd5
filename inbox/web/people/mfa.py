"""What people sign in with beside a password: an authenticator app, passkeys, recovery codes."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from allauth.mfa.recovery_codes import views as codes
from allauth.mfa.totp import views as totp
from allauth.mfa.webauthn import views as passkeys
from allauth.mfa.webauthn.internal import auth
from django.db import transaction
from django.http import HttpRequest
from django.urls import reverse_lazy

from inbox.web.people.sign_in import Refusing


def written_down(view: Callable[..., Any]) -> Callable[..., Any]:
    """Make a view whose change is in the audit trail, or did not happen."""

    @wraps(view)
    def wrapped(request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        if request.method != "POST":
            return view(request, *args, **kwargs)
        with transaction.atomic():
            return view(request, *args, **kwargs)

    return wrapped


class AddApp(Refusing, totp.ActivateTOTPView):
    pass


class AddPasskey(Refusing, passkeys.AddWebAuthnView):
    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        """Ask for a key that signs in by itself, and knows who holds it."""
        context: dict[str, Any] = super().get_context_data(**kwargs)
        user: Any = self.request.user
        context["js_data"] = {"creation_options": auth.begin_registration(user, True)}
        return {**context, **kwargs}


class RenamePasskey(Refusing, passkeys.EditWebAuthnView):  # type: ignore[misc]  # a model's form
    success_url = reverse_lazy("account")


class RemovePasskey(passkeys.RemoveWebAuthnView):
    success_url = reverse_lazy("account")


class NewCodes(Refusing, codes.GenerateRecoveryCodesView):
    pass
