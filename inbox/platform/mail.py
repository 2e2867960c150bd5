"""Where mail goes: the settings behind one URL."""

from typing import Any
from urllib.parse import unquote, urlsplit

from django.core.exceptions import ImproperlyConfigured

#: Seconds that a mail server may take for one answer.
_TIMEOUT_SECONDS = 10


def mail_settings(url: str) -> dict[str, Any]:
    """
    Django's settings for `smtp://user:password@host:587`, or `smtps://` for TLS from the start.

    `smtp://` asks for STARTTLS, but not with `?tls=0` at its end. Without a URL mails are printed.

    Raises:
        ImproperlyConfigured: it is another URL.
    """
    if not url:
        return {"EMAIL_BACKEND": "django.core.mail.backends.console.EmailBackend"}
    parts = urlsplit(url)
    if parts.scheme not in ("smtp", "smtps") or not parts.hostname:
        raise ImproperlyConfigured("SIGNOFF_EMAIL_URL is no smtp:// or smtps:// URL.")
    is_tls_first = parts.scheme == "smtps"
    return {
        "EMAIL_BACKEND": "django.core.mail.backends.smtp.EmailBackend",
        "EMAIL_HOST": parts.hostname,
        "EMAIL_PORT": parts.port or (465 if is_tls_first else 587),
        "EMAIL_HOST_USER": unquote(parts.username or ""),
        "EMAIL_HOST_PASSWORD": unquote(parts.password or ""),
        "EMAIL_USE_SSL": is_tls_first,
        "EMAIL_USE_TLS": not is_tls_first and parts.query != "tls=0",
        "EMAIL_TIMEOUT": _TIMEOUT_SECONDS,
    }
