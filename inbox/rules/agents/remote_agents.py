"""Which remote agents there can be: their names, where they are, and what is sent to them."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from agents.adapters.remote.allowed_addresses import AddressProblem, AddressRefused, check_url
from inbox.rules.errors import InvalidValue
from inbox.rules.text.messages import TranslatableMessage

#: What stands before the id of an agent's row, where others have a name of the registry.
REMOTE = "remote:"
MAX_HEADERS, MAX_VALUE_CHARACTERS, MAX_URL_CHARACTERS, MAX_DESCRIPTION_CHARACTERS = (
    20,
    4_000,
    2_000,
    200,
)
#: What can be sent as the value of a header.
VALUE = r"^[!-~](?:[ -~]*[!-~])?\Z"
#: They belong to the connection or to the protocol.
_OURS = frozenset(
    {
        *("host", "connection", "te", "trailer", "transfer-encoding", "upgrade", "expect"),
        *("content-length", "content-type", "content-encoding", "accept", "accept-encoding"),
        "proxy-authorization",
    }
)
_SLUG = re.compile(r"[-a-zA-Z0-9_]{1,50}")
_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}")
_PORTS = {"http": 80, "https": 443}
_URLS = {
    AddressProblem.NO_URL: TranslatableMessage("Enter a valid URL."),
    AddressProblem.SCHEME: TranslatableMessage(
        "The URL must start with http:// or https:// and a host."
    ),
    AddressProblem.CREDENTIALS: TranslatableMessage(
        "Put credentials in headers. URLs are displayed and logged."
    ),
    AddressProblem.CHARACTERS: TranslatableMessage("Encode the special characters in the URL."),
}


def is_remote(implementation: str) -> bool:
    """Whether an agent runs elsewhere."""
    return implementation.startswith(REMOTE)


@dataclass(frozen=True)
class StoredEndpoint:
    """What is stored of a remote agent; None for headers that cannot be read any more."""

    url: str
    headers: Mapping[str, str] | None


def plan_headers(
    *,
    slug: str,
    url: str,
    description: str,
    headers: Mapping[str, str | None] | None,
    kept: StoredEndpoint | None,
) -> dict[str, str]:
    """
    Return the headers that an agent is to be kept with, which may be one that is kept already.

    None for a value, or for all headers, means those that are kept. They stay where they were
    meant to go: another scheme, host or port gets none of them, only what is given anew.

    Raises:
        InvalidValue: with all `problems` by field, those of headers by name; no message repeats a
            value.
    """
    problems: dict[str, Any] = {}
    if not _SLUG.fullmatch(slug):
        text = TranslatableMessage("A name can have up to 50 characters: letters, digits, - and _.")
        problems["name"] = [text]
    if len(description) > MAX_DESCRIPTION_CHARACTERS:
        text = TranslatableMessage(
            "A description can have at most {count} characters.", count=MAX_DESCRIPTION_CHARACTERS
        )
        problems["description"] = [text]
    if (wrong := _wrong_url(url)) is not None:
        problems["url"] = [wrong]
    wanted = dict.fromkeys((kept and kept.headers) or {}) if headers is None else headers
    if headers is None and kept is not None and kept.headers is None:
        problems["headers"] = {"": [_UNREADABLE]}
    has_moved = kept is not None and wrong is None and _origin(url) != _origin(kept.url)
    planned, by_name = _with_values(wanted, kept, has_moved=has_moved)
    if by_name:
        problems["headers"] = {name: [text] for name, text in by_name.items()}
    if problems:
        raise InvalidValue(_first(problems), problems=problems)
    return planned


_UNREADABLE = TranslatableMessage(
    "The stored headers cannot be decrypted: the secret key has changed."
)


def _with_values(
    wanted: Mapping[str, str | None], kept: StoredEndpoint | None, *, has_moved: bool
) -> tuple[dict[str, str], dict[str, TranslatableMessage]]:
    """The headers with their values, and what is wrong with which."""
    stored = (kept and kept.headers) or {}
    values = {name.lower(): value for name, value in stored.items()}
    planned: dict[str, str] = {}
    problems: dict[str, TranslatableMessage] = {}
    for name, given in wanted.items():
        value = values.get(name.lower()) if given is None else given
        wrong = _wrong_name(name, planned)
        if wrong is None and given is None and has_moved:
            wrong = TranslatableMessage(
                "The stored value of {name} is not sent to the new address. Enter "
                "the value again, or remove the header.",
                name=name,
            )
        if wrong is None and value is None:
            is_lost = kept is not None and kept.headers is None
            wrong = (
                _UNREADABLE
                if is_lost
                else TranslatableMessage("Enter a value for the header {name}.", name=name)
            )
        if wrong is None and (
            len(value or "") > MAX_VALUE_CHARACTERS or not re.match(VALUE, value or "")
        ):
            wrong = TranslatableMessage(
                "The header {name} has a value that cannot be sent.", name=name
            )
        if wrong is not None:
            problems[name] = wrong
        elif value is not None:
            planned[name] = value
    if len(wanted) > MAX_HEADERS:
        problems[""] = TranslatableMessage(
            "At most {count} headers are allowed.", count=MAX_HEADERS
        )
    return planned, problems


def _wrong_url(url: str) -> TranslatableMessage | None:
    if len(url) > MAX_URL_CHARACTERS:
        return TranslatableMessage(
            "A URL can have at most {count} characters.", count=MAX_URL_CHARACTERS
        )
    try:
        check_url(url)
    except AddressRefused as refused:
        return _URLS[refused.fault]
    return None


def _wrong_name(name: str, others: Mapping[str, str]) -> TranslatableMessage | None:
    if not _NAME.fullmatch(name):
        return TranslatableMessage("{name} is not a valid header name.", name=repr(name[:40]))
    if name.lower() in _OURS:
        return TranslatableMessage("The header {name} is reserved.", name=name)
    if name.lower() in {other.lower() for other in others}:
        return TranslatableMessage("The header {name} is given twice.", name=name)
    return None


def _origin(url: str) -> tuple[str, str, int]:
    parts = urlsplit(url)
    port = parts.port or _PORTS[parts.scheme]
    return parts.scheme, (parts.hostname or "").lower(), port


def _first(problems: Any) -> Any:
    """The first sentence in nested problems."""
    while not isinstance(problems, str):
        problems = next(iter(problems.values() if isinstance(problems, dict) else problems))
    return problems
