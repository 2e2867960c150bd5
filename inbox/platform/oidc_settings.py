"""Identity providers that people may sign in at, as the operator names them."""

import json
from typing import Any, Final
from urllib.parse import urlsplit

from django.core.exceptions import ImproperlyConfigured

_NEEDED: Final = ("id", "name", "issuer", "client_id", "client_secret")
_KNOWN: Final = {*_NEEDED, "team", "role", "domains"}
_ROLES: Final = ("viewer", "reviewer", "admin")


def read_providers(text: str) -> list[dict[str, Any]]:
    """
    The providers of SIGNOFF_OIDC: a JSON list of objects, or one object; "" for none.

    Each has an id for its addresses, a name for people, issuer, client_id and client_secret. With
    `team` whoever signs in there and is not known gets an account in it, as `role` (viewer), of
    all or of the e-mail `domains` named.

    Raises:
        ImproperlyConfigured.
    """
    if not text:
        return []
    try:
        found = json.loads(text)
    except ValueError as error:
        raise ImproperlyConfigured("SIGNOFF_OIDC is no JSON.") from error
    providers = found if isinstance(found, list) else [found]
    for one in providers:
        _check(one)
    return providers


def allauth_settings(providers: list[dict[str, Any]]) -> dict[str, Any]:
    """The providers as django-allauth is told of them."""
    apps = [
        {
            "provider_id": one["id"],
            "name": one["name"],
            "client_id": one["client_id"],
            "secret": one["client_secret"],
            "settings": {"server_url": one["issuer"].rstrip("/")},
        }
        for one in providers
    ]
    return {"openid_connect": {"APPS": apps, "OAUTH_PKCE_ENABLED": True}}


def _check(one: Any) -> None:
    if not isinstance(one, dict) or not all(isinstance(one.get(key), str) for key in _NEEDED):
        raise ImproperlyConfigured(f"SIGNOFF_OIDC: a provider needs {', '.join(_NEEDED)}.")
    if unknown := set(one) - _KNOWN:
        raise ImproperlyConfigured(f"SIGNOFF_OIDC: nobody reads {', '.join(sorted(unknown))}.")
    # Addresses below login/ that are ours already.
    if not (one["id"].isascii() and one["id"].isalnum()) or one["id"] in ("code", "passkey"):
        raise ImproperlyConfigured("SIGNOFF_OIDC: an id has letters and digits only.")
    if urlsplit(one["issuer"]).scheme not in ("https", "http"):
        raise ImproperlyConfigured("SIGNOFF_OIDC: an issuer is a URL.")
    if one.get("role", "viewer") not in _ROLES:
        raise ImproperlyConfigured(f"SIGNOFF_OIDC: a role is one of {', '.join(_ROLES)}.")
