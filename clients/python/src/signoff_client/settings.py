"""The address and the key of Signoff: from the environment, or from a file of the user's own."""

from __future__ import annotations

import json
import os
import re
import stat
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from signoff_client.errors import ConfigurationError

Duration = str | float | timedelta | None

LOOPBACK: Final = ("localhost", "127.0.0.1", "::1")
_UNITS: Final = {"s": 1, "m": 60, "h": 3600, "d": 86400}


@dataclass(frozen=True)
class Settings:
    """An address without a slash at its end, a key, and the agent that asks."""

    url: str
    api_key: str
    agent: str = ""

    def __repr__(self) -> str:  # a traceback must not show the key
        return f"Settings(url={self.url!r}, agent={self.agent!r})"


def credentials_file() -> Path:
    """Return where the address and the key are, unless the environment has them."""
    if path := os.environ.get("SIGNOFF_CREDENTIALS"):
        return Path(path)
    home = os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config"
    return Path(home) / "signoff" / "credentials.json"


def read_settings(url: str = "", api_key: str = "", agent: str = "") -> Settings:
    """
    Return the settings: arguments, then SIGNOFF_URL, SIGNOFF_API_KEY and SIGNOFF_AGENT, then file.

    Raises:
        ConfigurationError: something is missing, or the address or the file is not safe to use.
    """
    url = url or os.environ.get("SIGNOFF_URL", "")
    api_key = api_key or os.environ.get("SIGNOFF_API_KEY", "")
    agent = agent or os.environ.get("SIGNOFF_AGENT", "")
    stored = {} if url and api_key else read_credentials()
    url = check_url(url or stored.get("url", ""))
    api_key = api_key or stored.get("api_key", "")
    if not re.fullmatch(r"[\x21-\x7e]+", api_key):
        raise ConfigurationError(
            f"There is no usable API key. Set SIGNOFF_API_KEY, or put it into {credentials_file()}."
        )
    return Settings(url=url, api_key=api_key, agent=agent or stored.get("agent", ""))


def read_credentials() -> dict[str, str]:
    """
    Return the members of the credentials file, or nothing if there is none.

    Raises:
        ConfigurationError: others can read the file, or it is not an object of texts.
    """
    path = credentials_file()
    try:
        with path.open(encoding="utf-8") as file:
            status = os.fstat(file.fileno())
            text = file.read(65_536)
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise ConfigurationError(f"{path} cannot be read: {error}") from error
    if os.name == "posix" and status.st_mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise ConfigurationError(f"Others can read {path}, which has a key: run chmod 600 {path}")
    try:
        members: Any = json.loads(text)
    except ValueError as error:
        raise ConfigurationError(f"{path} is not JSON: {error}") from error
    if not isinstance(members, dict) or not all(isinstance(v, str) for v in members.values()):
        raise ConfigurationError(f'{path} must be an object: {{"url": "...", "api_key": "..."}}')
    return members


def write_credentials(members: dict[str, str]) -> Path:
    """Write the credentials file so that nobody else can read it, not even for a moment."""
    path = credentials_file()
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    draft = path.with_name(f"{path.name}.{os.getpid()}")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        json.dump(members, file, indent=2)
    draft.replace(path)
    return path


def check_url(url: str) -> str:
    """Return the address without a slash at its end; http is accepted for this machine only."""
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError as error:
        raise ConfigurationError(f"SIGNOFF_URL {url!r} is not an address: {error}") from error
    if not url:
        raise ConfigurationError(f"Set SIGNOFF_URL, or put the url into {credentials_file()}.")
    if parts.scheme not in ("http", "https") or not host or parts.query or parts.fragment:
        raise ConfigurationError(f"SIGNOFF_URL must be like https://signoff.example.com: {url!r}")
    if parts.username or parts.password:
        raise ConfigurationError("SIGNOFF_URL must not have a user name or a password.")
    if parts.scheme == "http" and host not in LOOPBACK:
        raise ConfigurationError(
            f"SIGNOFF_URL must begin with https://, because http:// would show the key to the "
            f"network; http:// is for this machine only, and {host} is another one."
        )
    return url.rstrip("/")


def to_seconds(duration: Duration) -> float | None:
    """Return seconds of 90, "90s", "1h", "1h30m" or a timedelta; None stays None: no limit."""
    if duration is None or isinstance(duration, (int, float)):
        seconds = duration
    elif isinstance(duration, timedelta):
        seconds = duration.total_seconds()
    elif re.fullmatch(r"\d+(\.\d+)?", duration):
        seconds = float(duration)
    elif re.fullmatch(r"(\d+[smhd])+", duration):
        seconds = float(sum(int(n) * _UNITS[u] for n, u in re.findall(r"(\d+)([smhd])", duration)))
    else:
        raise ValueError(f"{duration!r} is no duration: write 90, 90s, 10m, 1h30m or 2d")
    if seconds is not None and not 0 <= seconds < float("inf"):
        raise ValueError(f"{duration!r} is no duration: it must be 0 or more, or None for no limit")
    return seconds
