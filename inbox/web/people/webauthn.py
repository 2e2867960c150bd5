"""Passkey forms that turn malformed credentials into form errors."""

import struct
from typing import Any, Final

from allauth.mfa.adapter import get_adapter
from allauth.mfa.webauthn import forms as passkeys
from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from django import forms

_MAX_CREDENTIAL_CHARACTERS: Final = 20_000
_MAX_NAME_CHARACTERS: Final = 80
#: Exceptions of malformed credentials that django-allauth does not handle.
_MALFORMED_CREDENTIAL_ERRORS: Final = (
    *(ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError),
    *(InvalidSignature, UnsupportedAlgorithm, struct.error),
)


class CredentialField(forms.JSONField):
    widget = forms.HiddenInput

    def to_python(self, value: Any) -> Any:
        if isinstance(value, str) and len(value) > _MAX_CREDENTIAL_CHARACTERS:
            raise get_adapter().validation_error("incorrect_code")
        try:
            return super().to_python(value)
        except RecursionError as error:
            raise get_adapter().validation_error("incorrect_code") from error


class _CredentialMixin:
    def clean_credential(self) -> Any:
        try:
            return super().clean_credential()  # type: ignore[misc]
        except _MALFORMED_CREDENTIAL_ERRORS as error:
            raise get_adapter().validation_error("incorrect_code") from error


class LoginForm(_CredentialMixin, passkeys.LoginWebAuthnForm):
    credential = CredentialField()


class AuthenticateForm(_CredentialMixin, passkeys.AuthenticateWebAuthnForm):
    credential = CredentialField()


class ReauthenticateForm(_CredentialMixin, passkeys.ReauthenticateWebAuthnForm):
    credential = CredentialField()


class AddForm(passkeys.AddWebAuthnForm):
    name = forms.CharField(required=False, max_length=_MAX_NAME_CHARACTERS)
    credential = CredentialField()

    def clean(self) -> dict[str, Any]:
        try:
            cleaned: dict[str, Any] = super().clean()
        except _MALFORMED_CREDENTIAL_ERRORS as error:
            raise get_adapter().validation_error("incorrect_code") from error
        return cleaned


class EditForm(passkeys.EditWebAuthnForm):
    name = forms.CharField(max_length=_MAX_NAME_CHARACTERS)
