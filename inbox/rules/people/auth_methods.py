"""Names of sign-in methods."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final

#: Names of second factors.
_FACTORS: Final = {"totp": "totp", "recovery_codes": "recovery-code", "webauthn": "passkey"}


def sign_in_method(steps: Sequence[Mapping[str, Any]]) -> str:
    """
    Return the name of a sign-in: `password`, `password+totp`, `passkey`, `oidc:corp`.

    The steps are those that django-allauth stores in the session; reauthentication is left out.
    """
    names = [_name(step) for step in steps if not step.get("reauthenticated")]
    return "+".join(dict.fromkeys(filter(None, names)))


def last_sign_in(steps: Sequence[Mapping[str, Any]]) -> datetime | None:
    """Return when a user proved last who they are: by a sign-in or a re-authentication."""
    times = [step["at"] for step in steps if isinstance(step.get("at"), int | float)]
    return datetime.fromtimestamp(max(times), UTC) if times else None


def _name(step: Mapping[str, Any]) -> str:
    method = str(step.get("method", ""))
    if method == "mfa":
        return _FACTORS.get(str(step.get("type")), "")
    if method == "socialaccount":
        return f"oidc:{step.get('provider')}"
    return method
