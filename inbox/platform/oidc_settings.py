"""OpenID Connect providers from the setting SIGNOFF_OIDC."""

import json
from typing import Any, Final
from urllib.parse import urlsplit

from django.core.exceptions import ImproperlyConfigured

_REQUIRED: Final = ("id", "name", "issuer", "client_id", "client_secret")
_ALLOWED: Final = {*_REQUIRED, "team", "role", "domains"}
_ROLES: Final = ("viewer", "reviewer", "admin")


def parse_providers(text: str) -> list[dict[str, Any]]:
    """
    Parse the providers of SIGNOFF_OIDC: a JSON list of objects, or provider object; "" for none.

    Each has an id (part of URLs), a display name, issuer, client_id and client_secret. With `team`,
    a person without an account gets one in that team with `role` (default: viewer), if
    `domains` is missing or lists the domain of the e-mail address.

    Raises:
        ImproperlyConfigured.
    """
    if not text:
        return []
    try:
        value = json.loads(text)
    except ValueError as error:
        raise ImproperlyConfigured("SIGNOFF_OIDC is not valid JSON.") from error
    providers = value if isinstance(value, list) else [value]
    for provider in providers:
        _check_provider(provider)
    return providers


def allauth_settings(providers: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the providers as settings of django-allauth."""
    apps = [
        {
            "provider_id": provider["id"],
            "name": provider["name"],
            "client_id": provider["client_id"],
            "secret": provider["client_secret"],
            "settings": {"server_url": provider["issuer"].rstrip("/")},
        }
        for provider in providers
    ]
    return {"openid_connect": {"APPS": apps, "OAUTH_PKCE_ENABLED": True}}


def _check_provider(provider: Any) -> None:
    if not isinstance(provider, dict) or not all(
        isinstance(provider.get(key), str) for key in _REQUIRED
    ):
        raise ImproperlyConfigured(f"SIGNOFF_OIDC: a provider needs {', '.join(_REQUIRED)}.")
    if unknown := set(provider) - _ALLOWED:
        raise ImproperlyConfigured(f"SIGNOFF_OIDC: unknown key: {', '.join(sorted(unknown))}.")
    # These paths below login/ are taken.
    if not (provider["id"].isascii() and provider["id"].isalnum()) or provider["id"] in (
        "code",
        "passkey",
    ):
        raise ImproperlyConfigured(
            "SIGNOFF_OIDC: an id has letters and digits only, and is not code or passkey."
        )
    if urlsplit(provider["issuer"]).scheme not in ("https", "http"):
        raise ImproperlyConfigured("SIGNOFF_OIDC: an issuer must be an http or https URL.")
    if provider.get("role", "viewer") not in _ROLES:
        raise ImproperlyConfigured(f"SIGNOFF_OIDC: a role must be provider of {', '.join(_ROLES)}.")
