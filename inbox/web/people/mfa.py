"""The pages of second factors: authenticator app, passkeys and recovery codes."""

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

from inbox.web.people.sign_in import InvalidFormStatusMixin


def atomic_post(view: Callable[..., Any]) -> Callable[..., Any]:
    """Run a POST in a transaction, so that the change and its audit entry commit together."""

    @wraps(view)
    def wrapped(request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        if request.method != "POST":
            return view(request, *args, **kwargs)
        with transaction.atomic():
            return view(request, *args, **kwargs)

    return wrapped


class AddApp(InvalidFormStatusMixin, totp.ActivateTOTPView):
    pass


class AddPasskey(InvalidFormStatusMixin, passkeys.AddWebAuthnView):
    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        """Request a discoverable credential with user verification."""
        context: dict[str, Any] = super().get_context_data(**kwargs)
        options = auth.begin_registration(self.request.user, True)  # type: ignore[arg-type]  # signed in
        context["js_data"] = {"creation_options": options}
        return {**context, **kwargs}


class RenamePasskey(InvalidFormStatusMixin, passkeys.EditWebAuthnView):  # type: ignore[misc]  # a model's form
    success_url = reverse_lazy("account")


class RemovePasskey(passkeys.RemoveWebAuthnView):
    success_url = reverse_lazy("account")


class NewCodes(InvalidFormStatusMixin, codes.GenerateRecoveryCodesView):
    pass
