"""Names of sign-in methods."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from inbox.rules.errors import InvalidValue, ReauthenticationRequired
from inbox.rules.text.messages import TranslatableMessage

#: Names of second factors.
_FACTORS: Final = {"totp": "totp", "recovery_codes": "recovery-code", "webauthn": "passkey"}
#: The clock of a provider may be behind ours by so much.
_LEEWAY: Final = timedelta(seconds=60)


def sign_in_method(steps: Sequence[Mapping[str, Any]]) -> str:
    """
    Return the name of a sign-in: `password`, `password+totp`, `passkey`, `oidc:corp`.

    The steps are those that django-allauth stores in the session; reauthentication is left out.
    """
    names = [_name(step) for step in steps if not step.get("reauthenticated")]
    return "+".join(dict.fromkeys(filter(None, names)))


def last_sign_in(steps: Sequence[Mapping[str, Any]]) -> datetime | None:
    """
    Return when a user proved last who they are: by a sign-in or a re-authentication.

    At a provider that is the `auth_time` of the token: `at` is when they came back from there,
    perhaps with a session that they have had at the provider for days.
    """
    times = [
        _seconds(step.get("auth_time" if step.get("method") == "socialaccount" else "at"))
        for step in steps
    ]
    latest = max((seconds for seconds in times if seconds is not None), default=None)
    return None if latest is None else datetime.fromtimestamp(latest, UTC)


def check_fresh_sign_in(signed_in_at: datetime | None, now: datetime, *, within: timedelta) -> None:
    """Raise ReauthenticationRequired unless a user proved who they are within this time."""
    if signed_in_at is None or now - signed_in_at > within:
        raise ReauthenticationRequired(
            TranslatableMessage("Confirm your identity to continue: your sign-in is too long ago.")
        )


def check_provider_sign_in(
    claims: Mapping[str, Any], *, acr_values: Sequence[str], not_before: datetime | None
) -> None:
    """
    Raise InvalidValue unless an ID token has one of the `acr_values`, if there are any, and was
    issued for a sign-in at the provider that is not from before `not_before`.
    """
    if acr_values and claims.get("acr") not in acr_values:
        raise InvalidValue(
            TranslatableMessage(
                "Your sign-in at the provider was not as strong as this site requires. "
                "Sign in there with your second factor, or ask your administrator."
            )
        )
    if not_before is None:
        return
    auth_time = _seconds(claims.get("auth_time"))
    if auth_time is None:
        raise InvalidValue(
            TranslatableMessage(
                "The provider does not tell when you signed in there, so it cannot confirm your "
                "identity. Add a passkey or an authenticator app to your account."
            )
        )
    if auth_time < (not_before - _LEEWAY).timestamp():
        raise InvalidValue(
            TranslatableMessage(
                "Your sign-in at the provider is too long ago. Sign out there, then try again."
            )
        )


def provider_step(
    claims: Mapping[str, Any], *, acr_values: Sequence[str], now: datetime
) -> dict[str, Any]:
    """
    Return what a step of a session records of an ID token.

    Without claims it is a sign-in with a password, at an unknown time. `mfa` is of RFC 8176.
    """
    step: dict[str, Any] = {}
    auth_time = _seconds(claims.get("auth_time"))
    if auth_time is not None:
        step["auth_time"] = min(auth_time, now.timestamp())
    amr = claims.get("amr")
    has_factors = isinstance(amr, list) and "mfa" in amr
    step["has_second_factor"] = has_factors or claims.get("acr") in acr_values
    return step


def _seconds(value: object) -> float | None:
    """Return a time in seconds since 1970, None if the value is not one."""
    is_time = isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < 1e11
    return float(value) if is_time else None  # type: ignore[arg-type]  # mypy does not see through it


def _name(step: Mapping[str, Any]) -> str:
    method = str(step.get("method", ""))
    if method == "mfa":
        return _FACTORS.get(str(step.get("type")), "")
    if method == "socialaccount":
        return f"oidc:{step.get('provider')}"
    return method
