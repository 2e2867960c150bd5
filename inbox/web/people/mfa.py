"""The pages of second factors: authenticator app, passkeys and recovery codes."""

from typing import Any

from allauth.mfa.webauthn import views as passkeys
from allauth.mfa.webauthn.internal import auth
from django.urls import reverse_lazy


class AddPasskey(passkeys.AddWebAuthnView):
    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        """Request a discoverable credential with user verification."""
        context: dict[str, Any] = super().get_context_data(**kwargs)
        options = auth.begin_registration(self.request.user, True)  # type: ignore[arg-type]  # signed in
        context["js_data"] = {"creation_options": options}
        return {**context, **kwargs}


class RenamePasskey(passkeys.EditWebAuthnView):
    success_url = reverse_lazy("account")


class RemovePasskey(passkeys.RemoveWebAuthnView):
    success_url = reverse_lazy("account")
