"""
Parsers of environment variables: SIGNOFF_OIDC, SIGNOFF_EMAIL_URL, SIGNOFF_VAPID_KEY and others.

Why: django-allauth and Django have many settings for these, and no format for one variable.
Remove when: Django reads mail settings from a URL, and allauth reads providers from JSON.
"""

import base64
import json
import os
import re
import secrets
from pathlib import Path
from typing import Any, Final
from urllib.parse import unquote, urlsplit

from django.core.exceptions import ImproperlyConfigured

_REQUIRED: Final = ("id", "name", "issuer", "client_id", "client_secret")
_ALLOWED: Final = {*_REQUIRED, "team", "role", "domains", "acr_values", "max_age", "trusts_email"}
_ROLES: Final = ("viewer", "reviewer", "admin")
_MAIL_TIMEOUT_SECONDS = 10
#: A name or an IPv4 address, perhaps after a wildcard; or an IPv6 address.
_HOST_PATTERN: Final = re.compile(
    r"(\*\.)?[a-z0-9_]([a-z0-9._-]*[a-z0-9_])?|[0-9a-f:]*:[0-9a-f:.]*"
)
#: The order of the group of P-256 (FIPS 186-5).
_P256_ORDER: Final = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551


def path_setting(name: str, default: Path) -> Path:
    """Return the path in an environment variable; an empty one counts as not set."""
    return Path(os.environ.get(name) or default)


def parse_providers(text: str) -> list[dict[str, Any]]:
    """
    Parse the providers of SIGNOFF_OIDC: a JSON list of objects, or one object; "" for none.

    Each has an id (part of URLs), a display name, issuer, client_id and client_secret. With `team`,
    a person without an account gets one in that team with `role` (default: viewer), if
    `domains` is missing or lists the domain of the e-mail address. `acr_values` are those of the
    ID tokens that are accepted; `max_age` is in seconds. With `trusts_email`, an address of
    `domains` counts as verified if the provider does not say that it is not.

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
    _check_trust(provider)
    values = provider.get("acr_values", ["a"])
    if not (isinstance(values, list) and values and all(map(_is_acr_value, values))):
        raise ImproperlyConfigured(
            "SIGNOFF_OIDC: acr_values must be a list of texts without spaces."
        )
    max_age = provider.get("max_age", 1)
    if not isinstance(max_age, int) or isinstance(max_age, bool) or max_age < 1:
        raise ImproperlyConfigured("SIGNOFF_OIDC: max_age must be a number of seconds.")
    if provider.get("role", "viewer") not in _ROLES:
        raise ImproperlyConfigured(f"SIGNOFF_OIDC: a role must be one of {', '.join(_ROLES)}.")


def _check_trust(provider: dict[str, Any]) -> None:
    trusts_email = provider.get("trusts_email", False)
    if not isinstance(trusts_email, bool):
        raise ImproperlyConfigured("SIGNOFF_OIDC: trusts_email must be true or false.")
    domains = provider.get("domains", ["a"])
    if not isinstance(domains, list) or not all(isinstance(name, str) and name for name in domains):
        raise ImproperlyConfigured("SIGNOFF_OIDC: domains must be a list of names.")
    if trusts_email and not provider.get("domains"):
        raise ImproperlyConfigured(
            "SIGNOFF_OIDC: trusts_email needs domains: the provider vouches for their addresses."
        )


def _is_acr_value(value: Any) -> bool:
    return isinstance(value, str) and value != "" and value.split() == [value]


def mail_settings(url: str) -> dict[str, Any]:
    """
    Return Django's settings for `smtp://user:password@host:587`, or `smtps://` for implicit TLS.

    `smtp://` uses STARTTLS unless the URL ends with `?tls=0`. Without a URL, mails are printed.

    Raises:
        ImproperlyConfigured: the URL is not valid.
    """
    if not url:
        return {"EMAIL_BACKEND": "inbox.platform.embedded.printed_mail.PrintedMailBackend"}
    parts = urlsplit(url)
    if parts.scheme not in ("smtp", "smtps") or not parts.hostname:
        raise ImproperlyConfigured("SIGNOFF_EMAIL_URL must be an smtp:// or smtps:// URL.")
    is_implicit_tls = parts.scheme == "smtps"
    return {
        "EMAIL_BACKEND": "django.core.mail.backends.smtp.EmailBackend",
        "EMAIL_HOST": parts.hostname,
        "EMAIL_PORT": parts.port or (465 if is_implicit_tls else 587),
        "EMAIL_HOST_USER": unquote(parts.username or ""),
        "EMAIL_HOST_PASSWORD": unquote(parts.password or ""),
        "EMAIL_USE_SSL": is_implicit_tls,
        "EMAIL_USE_TLS": not is_implicit_tls and parts.query != "tls=0",
        "EMAIL_TIMEOUT": _MAIL_TIMEOUT_SECONDS,
    }


def new_vapid_key() -> str:
    """Return a new private key of P-256, encoded as `parse_vapid_key` reads it."""
    number = 1 + secrets.randbelow(_P256_ORDER - 1)
    return base64.urlsafe_b64encode(number.to_bytes(32, "big")).decode().rstrip("=")


def parse_base_url(text: str, default: str) -> str:
    """Return a URL that ends with a slash: without it, another host begins with the same text."""
    return f"{(text or default).rstrip('/')}/"


def parse_host_patterns(text: str) -> tuple[str, ...]:
    """
    Parse SIGNOFF_OUTGOING_HOSTS: names and addresses of hosts, separated by commas.

    `*.example.com` is every host below example.com.

    Raises:
        ImproperlyConfigured.
    """
    patterns = tuple(part.strip().lower() for part in text.split(",") if part.strip())
    for pattern in patterns:
        if not _HOST_PATTERN.fullmatch(pattern):
            raise ImproperlyConfigured(
                "SIGNOFF_OUTGOING_HOSTS: a host is a name such as hooks.example.com, or "
                f"*.example.com for all below; {pattern!r} is not."
            )
    return patterns


def parse_vapid_key(text: str) -> str:
    """
    Check SIGNOFF_VAPID_KEY: a private key of P-256, 32 bytes in base64url; "" for none.

    Raises:
        ImproperlyConfigured.
    """
    text = text.strip().rstrip("=")
    if not text:
        return ""
    try:
        key = base64.b64decode(f"{text}=", altchars=b"-_", validate=True)
    except ValueError:
        key = b""
    if len(key) != 32 or not 1 <= int.from_bytes(key, "big") < _P256_ORDER:
        raise ImproperlyConfigured(
            "SIGNOFF_VAPID_KEY must be a private key of P-256: 32 bytes in base64url."
        )
    return text
