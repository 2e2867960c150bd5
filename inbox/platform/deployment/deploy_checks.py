"""Checks of `manage.py check --deploy`: settings that give others access."""

import ipaddress
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from django.conf import settings
from django.core.checks import CheckMessage, Error, Warning  # noqa: A004 - their names in Django

#: Keys of examples and of the build of the image, which everybody knows.
KNOWN_KEYS = frozenset(
    {
        "build-build-build-build-build-build",
        "a key for tests, the same for every process of one product",
        "change-me",
        "changeme",
        "secret",
    }
)


def check_deployment(**_: Any) -> list[CheckMessage]:
    """Return the problems of the settings; docs/deployment.md lists them."""
    return [*_https(), *_redis(), *_database(), *_keys(), *_data(), *_people(), *_network()]


def _https() -> Iterator[CheckMessage]:
    if settings.DEBUG:
        yield Error(
            "SIGNOFF_DEBUG is on: pages of errors show settings and local variables.",
            hint="Unset SIGNOFF_DEBUG.",
            id="signoff.E020",
        )
    if not settings.SESSION_COOKIE_SECURE:
        yield Warning(
            "SIGNOFF_HTTPS is off: cookies and keys travel in the clear.",
            hint="Run a proxy with TLS (docs/deployment.md, HTTPS), and set SIGNOFF_HTTPS=1.",
            id="signoff.W020",
        )
    elif not settings.ALLAUTH_TRUSTED_PROXY_COUNT:
        yield Warning(
            "SIGNOFF_HTTPS is on, and SIGNOFF_PROXIES is 0: limits count the address of the proxy.",
            hint="Set SIGNOFF_PROXIES to the number of your own proxies.",
            id="signoff.W021",
        )
    if not settings.PUBLIC_URL.startswith("https://"):
        yield Warning(
            "SIGNOFF_PUBLIC_URL is no https URL: links in mails follow the Host header, or lead to "
            "http.",
            hint="Set SIGNOFF_PUBLIC_URL to https:// and the host of the site.",
            id="signoff.W022",
        )
    if any(host.startswith(("*", ".")) for host in settings.ALLOWED_HOSTS):
        yield Warning(
            "SIGNOFF_ALLOWED_HOSTS has a wildcard.",
            hint="List the host names of the site.",
            id="signoff.W023",
        )


def _network() -> Iterator[CheckMessage]:
    if not settings.OUTGOING_HOSTS:
        yield Warning(
            "Agents, webhooks and chats may be at any public host.",
            hint="List their hosts in SIGNOFF_OUTGOING_HOSTS (docs/operations.md).",
            id="signoff.W037",
        )


def _redis() -> Iterator[CheckMessage]:
    if not settings.REDIS_URL:
        return
    url = urlsplit(settings.REDIS_URL)
    if not url.password:
        yield Warning(
            "Redis has no password: whoever reaches it delays work and resets counts of attempts.",
            hint="Set SIGNOFF_REDIS_PASSWORD or SIGNOFF_REDIS_PASSWORD_FILE.",
            id="signoff.W024",
        )
    elif url.username in ("", None, "default"):
        yield Warning(
            "Redis is used as its user `default`, who may do everything.",
            hint="Use a user with the ACL of deploy/redis/users.acl.",
            id="signoff.W025",
        )
    if url.scheme != "rediss" and not _is_local(url.hostname):
        yield Warning(
            "Redis is reached without TLS.",
            hint="Use rediss:// in REDIS_URL, and SIGNOFF_REDIS_CA_FILE.",
            id="signoff.W026",
        )
    elif parse_qs(url.query).get("ssl_cert_reqs", ["required"]) != ["required"]:
        yield Warning(
            "The certificate of Redis is not verified.",
            hint="Remove ssl_cert_reqs from REDIS_URL.",
            id="signoff.W026",
        )


def _database() -> Iterator[CheckMessage]:
    database = settings.DATABASES["default"]
    if not settings.DATABASE_URL:
        return
    if not _is_local(database["HOST"]) and database["OPTIONS"].get("sslmode") not in (
        "verify-ca",
        "verify-full",
    ):
        yield Warning(
            "PostgreSQL is reached without a verified certificate.",
            hint="Add ?sslmode=verify-full&sslrootcert=/path/of/ca.pem to DATABASE_URL.",
            id="signoff.W027",
        )


def _keys() -> Iterator[CheckMessage]:
    keys = {settings.SECRET_KEY, *settings.ENCRYPTION_KEYS, *settings.DECISION_KEYS}
    if keys & KNOWN_KEYS:
        yield Error(
            "A key is one of an example.",
            hint="docs/keys.md has the steps to change it.",
            id="signoff.E021",
        )
    if not settings.ENCRYPTION_KEYS:
        yield Warning(
            "SIGNOFF_ENCRYPTION_KEYS is not set: the key of sessions encrypts stored secrets.",
            hint="docs/keys.md, Encryption keys, has the steps.",
            id="signoff.W028",
        )
    if settings.EMBEDDED:
        return
    if not settings.DECISION_KEYS:
        yield Warning(
            "SIGNOFF_DECISION_KEYS is not set: the key of sessions signs decisions.",
            hint="Set SIGNOFF_DECISION_KEYS to a key of its own.",
            id="signoff.W029",
        )
    if not settings.SEPARATE_SIGNER:
        yield Warning(
            "Workers have the key that signs the audit trail.",
            hint="Run `manage.py serve --signer`, with SIGNOFF_SEPARATE_SIGNER=1.",
            id="signoff.W030",
        )
    if not settings.AUDIT_SINKS:
        yield Warning(
            "Checkpoints of the audit trail are in one place only.",
            hint="Name another one in SIGNOFF_AUDIT_SINKS (docs/audit.md).",
            id="signoff.W031",
        )
    if not settings.AUDIT_ENTRY_SINKS:
        yield Warning(
            "The audit trail is in this database only.",
            hint="Name a place for all entries in SIGNOFF_AUDIT_ENTRY_SINKS (docs/audit.md).",
            id="signoff.W035",
        )


def _people() -> Iterator[CheckMessage]:
    if not settings.BREACHED_PASSWORDS:
        yield Warning(
            "New passwords are not compared with those that are known from data breaches.",
            hint="Set SIGNOFF_BREACHED_PASSWORDS (docs/signin.md, Passwords).",
            id="signoff.W034",
        )


def _data() -> Iterator[CheckMessage]:
    directory = Path(settings.DATA_DIR)
    if stat.S_IMODE(directory.stat().st_mode) & 0o007:
        yield Warning(
            f"Other users can read {directory}.",
            hint=f"chmod o= {directory}",
            id="signoff.W032",
        )


def _is_local(host: str | None) -> bool:
    """Return whether a host is this machine, or a socket on it."""
    if not host or host == "localhost" or host.startswith("/"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
