"""Validation of remote agents: names, URLs and request headers."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from agents.adapters.remote.allowed_addresses import AllowedHosts
from inbox.rules.errors import InvalidValue, raise_for
from inbox.rules.text.messages import TranslatableMessage
from inbox.rules.webhooks.outgoing_urls import url_problem

#: The prefix of `Agent.implementation` of remote agents; others have a name in the registry.
REMOTE = "remote:"
#: The prefix of `Agent.implementation` of agents that run by themselves.
EXTERNAL = "external:"
MAX_HEADERS, MAX_VALUE_CHARACTERS, MAX_DESCRIPTION_CHARACTERS = 20, 4_000, 200
#: The pattern of a header's value.
VALUE = r"^[!-~](?:[ -~]*[!-~])?\Z"
#: Headers of the connection or the protocol.
_RESERVED_HEADERS = frozenset(
    {
        *("host", "connection", "te", "trailer", "transfer-encoding", "upgrade", "expect"),
        *("content-length", "content-type", "content-encoding", "accept", "accept-encoding"),
        "proxy-authorization",
    }
)
_SLUG = re.compile(r"[-a-zA-Z0-9_]{1,50}")
_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}")
_PORTS = {"http": 80, "https": 443}


def is_remote(implementation: str) -> bool:
    """Return whether an agent is remote."""
    return implementation.startswith(REMOTE)


def is_external(implementation: str) -> bool:
    """Return whether an agent runs by itself, and asks over REST."""
    return implementation.startswith(EXTERNAL)


def check_name(slug: str, description: str) -> None:
    """Raise InvalidValue unless an agent may have this name and description."""
    raise_for(_name_problems(slug, description))


@dataclass(frozen=True)
class StoredEndpoint:
    """The stored endpoint of a remote agent; `headers` is None if they cannot be decrypted."""

    url: str
    headers: Mapping[str, str] | None


def plan_headers(
    *,
    slug: str,
    url: str,
    description: str,
    headers: Mapping[str, str | None] | None,
    stored: StoredEndpoint | None,
    hosts: AllowedHosts,
) -> dict[str, str]:
    """
    Return the headers to store for a new or existing agent.

    None for a value, or for all headers, means the stored ones. They are never sent to another
    origin: if scheme, host or port change, all values must be sent again.

    Raises:
        InvalidValue: with all `problems` by field, those of headers by name; no message has a
            value.
    """
    problems: dict[str, Any] = _name_problems(slug, description)
    if (problem := url_problem(url, hosts)) is not None:
        problems["url"] = [problem]
    requested = dict.fromkeys((stored and stored.headers) or {}) if headers is None else headers
    if headers is None and stored is not None and stored.headers is None:
        problems["headers"] = {"": [_UNREADABLE]}
    has_moved = stored is not None and problem is None and _origin(url) != _origin(stored.url)
    planned, by_name = _with_values(requested, stored, has_moved=has_moved)
    if by_name:
        problems["headers"] = {name: [text] for name, text in by_name.items()}
    if problems:
        raise InvalidValue(_first(problems), problems=problems)
    return planned


def _name_problems(slug: str, description: str) -> dict[str, Any]:
    problems = {}
    if not _SLUG.fullmatch(slug):
        text = TranslatableMessage("A name can have up to 50 characters: letters, digits, - and _.")
        problems["name"] = [text]
    if len(description) > MAX_DESCRIPTION_CHARACTERS:
        text = TranslatableMessage(
            "A description can have at most {count} characters.", count=MAX_DESCRIPTION_CHARACTERS
        )
        problems["description"] = [text]
    return problems


_UNREADABLE = TranslatableMessage(
    "The stored headers cannot be decrypted: the secret key has changed."
)


def _with_values(
    requested: Mapping[str, str | None], stored: StoredEndpoint | None, *, has_moved: bool
) -> tuple[dict[str, str], dict[str, TranslatableMessage]]:
    """Return the headers with their values, and the problems by header."""
    headers = (stored and stored.headers) or {}
    values = {name.lower(): value for name, value in headers.items()}
    planned: dict[str, str] = {}
    problems: dict[str, TranslatableMessage] = {}
    for name, sent_value in requested.items():
        value = values.get(name.lower()) if sent_value is None else sent_value
        problem = _name_problem(name, planned)
        if problem is None and sent_value is None and has_moved:
            problem = TranslatableMessage(
                "The stored value of {name} is not sent to the new address. Enter "
                "the value again, or remove the header.",
                name=name,
            )
        if problem is None and value is None:
            is_lost = stored is not None and stored.headers is None
            problem = (
                _UNREADABLE
                if is_lost
                else TranslatableMessage("Enter a value for the header {name}.", name=name)
            )
        if problem is None and (
            len(value or "") > MAX_VALUE_CHARACTERS or not re.match(VALUE, value or "")
        ):
            problem = TranslatableMessage(
                "The header {name} has a value that cannot be sent.", name=name
            )
        if problem is not None:
            problems[name] = problem
        elif value is not None:
            planned[name] = value
    if len(requested) > MAX_HEADERS:
        problems[""] = TranslatableMessage(
            "At most {count} headers are allowed.", count=MAX_HEADERS
        )
    return planned, problems


def _name_problem(name: str, others: Mapping[str, str]) -> TranslatableMessage | None:
    if not _NAME.fullmatch(name):
        return TranslatableMessage("{name} is not a valid header name.", name=repr(name[:40]))
    if name.lower() in _RESERVED_HEADERS:
        return TranslatableMessage("The header {name} is reserved.", name=name)
    if name.lower() in {other.lower() for other in others}:
        return TranslatableMessage("The header {name} is given twice.", name=name)
    return None


def _origin(url: str) -> tuple[str, str, int]:
    parts = urlsplit(url)
    port = parts.port or _PORTS[parts.scheme]
    return parts.scheme, (parts.hostname or "").lower(), port


def _first(problems: Any) -> Any:
    """Return the first message in nested problems."""
    while not isinstance(problems, str):
        problems = next(iter(problems.values() if isinstance(problems, dict) else problems))
    return problems
