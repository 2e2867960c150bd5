"""Names of sign-in methods."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from inbox.rules.errors import ReauthenticationRequired
from inbox.rules.text.messages import TranslatableMessage

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


def check_fresh_sign_in(signed_in_at: datetime | None, now: datetime, *, within: timedelta) -> None:
    """Raise ReauthenticationRequired unless a user proved who they are within this time."""
    if signed_in_at is None or now - signed_in_at > within:
        raise ReauthenticationRequired(
            TranslatableMessage("Confirm your identity to continue: your sign-in is too long ago.")
        )


def _name(step: Mapping[str, Any]) -> str:
    method = str(step.get("method", ""))
    if method == "mfa":
        return _FACTORS.get(str(step.get("type")), "")
    if method == "socialaccount":
        return f"oidc:{step.get('provider')}"
    return method
