"""System checks of keys, which run before every command: `serve` stops at an error."""

import stat
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error, Warning  # noqa: A004 - their names in Django

from inbox.platform.deployment.secret_settings import SECRET_SETTINGS, secret_file

#: As many random characters of base64 have 190 bits.
MIN_KEY_CHARACTERS = 32
_NEW_KEY = 'python3 -c "import secrets; print(secrets.token_urlsafe(48))" prints one.'
#: Files with keys in the data directory, unless the environment has the keys.
_KEY_FILES = ("secret-key", "encryption-keys", "audit-key", "vapid-key")


def check_keys(**_: Any) -> list[CheckMessage]:
    """Return the problems of keys: too short, used for two purposes, readable by others."""
    return [*_short_keys(), *_shared_keys(), *_readable_files()]


def _short_keys() -> list[CheckMessage]:
    messages: list[CheckMessage] = []
    if _is_short(settings.ENCRYPTION_KEYS):
        # An error, because every installation with this setting is a new one.
        messages.append(
            Error(
                f"SIGNOFF_ENCRYPTION_KEYS has a key of less than {MIN_KEY_CHARACTERS} characters.",
                hint=_NEW_KEY,
                id="signoff.E010",
            )
        )
    others = {
        "SIGNOFF_SECRET_KEY": [settings.SECRET_KEY],
        "SIGNOFF_DECISION_KEYS": settings.DECISION_KEYS[:1],
    }
    messages += [
        Warning(
            f"The key of {name} is shorter than {MIN_KEY_CHARACTERS} characters.",
            hint=f"{_NEW_KEY} docs/keys.md has the steps to change it.",
            id="signoff.W010",
        )
        for name, keys in others.items()
        if _is_short(keys)
    ]
    return messages


def _is_short(keys: list[str]) -> bool:
    return any(len(key) < MIN_KEY_CHARACTERS for key in keys)


def _shared_keys() -> list[CheckMessage]:
    others = {settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS, *settings.DECISION_KEYS}
    messages: list[CheckMessage] = []
    if others & set(settings.ENCRYPTION_KEYS):
        messages.append(
            Error(
                "A key of SIGNOFF_ENCRYPTION_KEYS is also the key of another setting.",
                hint=f"Take a key of its own: {_NEW_KEY}",
                id="signoff.E011",
            )
        )
    if settings.DECISION_KEYS[:1] == [settings.SECRET_KEY]:
        messages.append(
            Warning(
                "SIGNOFF_DECISION_KEYS signs with the key of SIGNOFF_SECRET_KEY.",
                hint=f"Put a key of its own before it: {_NEW_KEY}",
                id="signoff.W011",
            )
        )
    return messages


def _readable_files() -> list[CheckMessage]:
    files = [secret_file(name) for name in SECRET_SETTINGS]
    files += [Path(settings.DATA_DIR) / name for name in _KEY_FILES]
    return [
        Warning(
            f"Other users can read {path}.",
            hint=f"chmod o= {path}",
            id="signoff.W012",
        )
        for path in files
        if path is not None and path.exists() and stat.S_IMODE(path.stat().st_mode) & 0o007
    ]
