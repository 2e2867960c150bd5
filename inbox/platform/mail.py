"""
Mail settings from one URL.

Why: Django has eight settings and no URL for them.
Remove when: a mail URL is part of Django.
"""

from typing import Any
from urllib.parse import unquote, urlsplit

from django.core.exceptions import ImproperlyConfigured

_TIMEOUT_SECONDS = 10


def mail_settings(url: str) -> dict[str, Any]:
    """
    Return Django's settings for `smtp://user:password@host:587`, or `smtps://` for implicit TLS.

    `smtp://` uses STARTTLS unless the URL ends with `?tls=0`. Without a URL, mails are printed.

    Raises:
        ImproperlyConfigured: the URL is not valid.
    """
    if not url:
        return {"EMAIL_BACKEND": "django.core.mail.backends.console.EmailBackend"}
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
        "EMAIL_TIMEOUT": _TIMEOUT_SECONDS,
    }
