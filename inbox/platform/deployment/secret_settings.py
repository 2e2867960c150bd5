"""
Secrets of the environment: `NAME`, or `NAME_FILE` with the path of a file that has the value.

Containers get secrets as files (`/run/secrets/...`): others can read the environment of a process
more easily, and it is inherited by child processes and printed by tools that report crashes.
"""

import os
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from django.core.exceptions import ImproperlyConfigured

#: Settings that may come from a file.
SECRET_SETTINGS = (
    "DATABASE_URL",
    "REDIS_URL",
    "SIGNOFF_DATABASE_PASSWORD",
    "SIGNOFF_REDIS_PASSWORD",
    "SIGNOFF_SECRET_KEY",
    "SIGNOFF_SECRET_KEY_FALLBACKS",
    "SIGNOFF_ENCRYPTION_KEYS",
    "SIGNOFF_DECISION_KEYS",
    "SIGNOFF_AUDIT_KEY",
    "SIGNOFF_VAPID_KEY",
    "SIGNOFF_EMAIL_URL",
    "SIGNOFF_OIDC",
    "SIGNOFF_EGRESS_PROXY",
    "SIGNOFF_APPLICATION_PASSWORD",
    "SIGNOFF_METRICS_TOKEN",
    "OTEL_EXPORTER_OTLP_HEADERS",
)
#: The product works without them. Docker Compose has an empty file for each that is not used.
OPTIONAL_SECRETS = frozenset(
    (
        "SIGNOFF_SECRET_KEY_FALLBACKS",
        "SIGNOFF_VAPID_KEY",
        "SIGNOFF_EMAIL_URL",
        "SIGNOFF_OIDC",
        "SIGNOFF_EGRESS_PROXY",
        "SIGNOFF_METRICS_TOKEN",
        "OTEL_EXPORTER_OTLP_HEADERS",
    )
)


def read_secret(name: str) -> str:
    """
    Return the value of a setting, or the content of the file that `NAME_FILE` names; "" for none.

    White space around the content of a file is ignored. The file of an optional secret may be
    empty.

    Raises:
        ImproperlyConfigured: both are set, or the file cannot be read or is empty.
    """
    value, path = os.environ.get(name, ""), secret_file(name)
    if path is None:
        return value
    if value:
        raise ImproperlyConfigured(f"Set {name} or {name}_FILE, not both.")
    try:
        value = path.read_text().strip()
    except (OSError, UnicodeDecodeError) as error:
        raise ImproperlyConfigured(f"{name}_FILE cannot be read: {error}") from error
    if not value and name not in OPTIONAL_SECRETS:
        raise ImproperlyConfigured(f"{name}_FILE: {path} is empty.")
    return value


def secret_file(name: str) -> Path | None:
    """Return the path in `NAME_FILE`, None if it is not set."""
    path = os.environ.get(f"{name}_FILE")
    return Path(path) if path else None


def read_secrets(name: str) -> list[str]:
    """Return the values of a setting that are separated by commas or lines; see `read_secret`."""
    return split_secrets(read_secret(name))


def split_secrets(text: str) -> list[str]:
    parts = (part.strip() for line in text.splitlines() for part in line.split(","))
    return [part for part in parts if part]


def generated_secret(path: Path, new_secret: Callable[[], str]) -> str:
    """Return the content of a file, which is generated if it is missing, for its owner only."""
    if not path.exists():
        # Another process must never read a file that is not written yet.
        descriptor, draft = tempfile.mkstemp(prefix=f"{path.name}.", dir=path.parent)
        try:
            with os.fdopen(descriptor, "w") as file:
                file.write(new_secret())
                file.flush()
                os.fsync(file.fileno())
            with suppress(FileExistsError):  # another process was faster
                os.link(draft, path)
        finally:
            Path(draft).unlink()
    return path.read_text()


def replace_secret_file(path: Path, text: str) -> None:
    """Replace the content of a file at once, readable by its owner only."""
    descriptor, draft = tempfile.mkstemp(prefix=f"{path.name}.", dir=path.parent)
    with os.fdopen(descriptor, "w") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    Path(draft).replace(path)
