"""The addresses at which programs may be called back."""

from collections.abc import Sequence
from urllib.parse import urlsplit

from agents.adapters.remote.allowed_addresses import AllowedHosts
from inbox.rules import errors
from inbox.rules.text.messages import TranslatableMessage
from inbox.rules.webhooks.outgoing_urls import url_problem

MAX_PREFIXES = 20
_NOT_PLAIN = TranslatableMessage(
    "A prefix is a URL without a query, without . or .. in its path, and without encoded slashes."
)
_PORTS = {"http": 80, "https": 443}
#: What servers may read as another path than it says.
_AMBIGUOUS = ("\\", "//", "/./", "/../", ";", "%2f", "%5c", "%2e", "%00")


def check_prefixes(prefixes: Sequence[str], hosts: AllowedHosts) -> None:
    """
    Raise unless programs may be called back below these URLs.

    Raises:
        InvalidValue.
    """
    problems = []
    if len(prefixes) > MAX_PREFIXES:
        problems.append(
            TranslatableMessage("At most {count} prefixes are allowed.", count=MAX_PREFIXES)
        )
    for prefix in prefixes:
        if problem := url_problem(prefix, hosts):
            problems.append(problem)
        elif not _is_plain(prefix) or "?" in prefix:
            problems.append(_NOT_PLAIN)
    errors.raise_for({"callback_prefixes": problems} if problems else {})


def check_callback(url: str, prefixes: Sequence[str]) -> None:
    """
    Raise unless a URL is below one of the prefixes: the same origin, and whole path segments.

    Raises:
        InvalidValue.
    """
    if not (_is_plain(url) and any(_is_below(url, prefix) for prefix in prefixes)):
        text = TranslatableMessage(
            "This agent is not called back at this URL. An administrator adds the beginning of the "
            "URL to callback_prefixes of the agent."
        )
        raise errors.InvalidValue(text, problems={"callback_url": [text]})


def _is_plain(url: str) -> bool:
    """Return whether every server reads the same origin and path."""
    try:
        parts = urlsplit(url)
        has_port = parts.port != 0
    except ValueError:
        return False
    path = parts.path.lower()
    is_plain = not any(text in path for text in _AMBIGUOUS) and not path.endswith(("/.", "/.."))
    has_origin = parts.scheme in _PORTS and bool(parts.hostname) and has_port
    return has_origin and is_plain and "@" not in parts.netloc and "#" not in url


def _is_below(url: str, prefix: str) -> bool:
    parts, allowed = urlsplit(url), urlsplit(prefix)
    if _origin(url) != _origin(prefix):
        return False
    path = allowed.path.rstrip("/")
    return parts.path in (path, f"{path}/") or parts.path.startswith(f"{path}/")


def _origin(url: str) -> tuple[str, str, int]:
    parts = urlsplit(url)
    return parts.scheme, (parts.hostname or "").lower(), parts.port or _PORTS[parts.scheme]
