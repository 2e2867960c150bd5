"""Detection of secret values, by key names or schema marks, and their masks."""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from functools import lru_cache
from itertools import count
from types import NoneType
from typing import Any

from inbox.rules.errors import InvalidPayload
from inbox.rules.schema.schema_secrets import Part, SecretMarks, is_marked
from inbox.rules.schema.schema_walk import TooManySteps, json_nodes
from inbox.rules.text.messages import TranslatableMessage
from inbox.rules.text.safe_text import escape_invisible, json_text

#: Replaces a secret. With a number it identifies the secret, which can be restored.
MASK = "•" * 8
_MASK = re.compile(rf"{MASK}[0-9]*")
#: Words that make a key secret anywhere in it: `db_password`, `X-Api-Key`.
SECRET_WORDS = (
    *("password", "passwd", "passphrase", "passcode", "pwd", "secret", "secrets", "token"),
    *("authorization", "bearer", "cookie", "cookies", "credential", "credentials", "otp", "totp"),
    *("cvv", "cvc", "apikey", "api key", "api keys", "private key", "secret key", "access key"),
    *("signing key", "encryption key", "ssh key", "session id", "card number", "credit card"),
    *("access token", "refresh token", "auth token", "id token", "api token", "bearer token"),
    *("client secret", "user password", "db password", "set cookie"),
)
#: Keys that are secret only as a whole: a `card_title` is not.
SECRET_NAMES = ("card", "pan", "pin", "jwt", "auth")
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+|[^\W\d_A-Za-z]+")
_PHRASES = tuple(f" {words} " for words in SECRET_WORDS)
#: The same without spaces.
_RUN_TOGETHER = frozenset(words.replace(" ", "") for words in SECRET_WORDS)
_IN_SECRET_NAMES = re.compile("|".join(sorted(_RUN_TOGETHER)))
_KEY = re.compile(r'("(?:[^"\\]|\\.){1,200}")\s*:')
_IN_ADDRESS = re.compile(r"(\b[a-zA-Z][a-zA-Z0-9+.-]{1,20}://[^\s:/@?#]{0,200}:)[^\s/?#]{1,500}@")
_CREDENTIALS = re.compile(
    r"((?:\bauthorization[\"']?\s{0,4}[:=]\s{0,4}[\"']?(?:bearer|basic|token|digest|apikey)|"
    r"\b(?:bearer|basic)(?=\s+(?:[^\s]{0,80}[0-9]|[\w.~+/=-]{20})))\s{1,4})[^\s\"',;]{4,}",
    re.IGNORECASE,
)
_NAME_IN_TEXT = re.compile(
    r"(?<![\w-])(?P<name>[A-Za-z][\w.-]{1,63})[\"']?(?P<sign>=(?!=)|[ \t]{0,8}[:=](?!=)[ \t]{0,8})"
)
_VALUE_IN_TEXT = re.compile(
    r"""(?P<quote>["'])(?P<quoted>(?:\\.|(?!(?P=quote))[^\n\\])+)|(?P<word>[^\s&,;)\]}"']+)"""
)
_NO_SECRET = re.compile(r"[(<]|^(?:None|True|False|null|true|false)$")
_LOOKS_SECRET = re.compile(r"(?=\S*[0-9])(?=\S*[A-Za-z])\S{6,}|[^\s(.]{16,}$")

Path = tuple[str | int, ...]


class HiddenBy(StrEnum):
    """The reason that a string is masked."""

    NAME = "name"  #: the name of its key, or of one above
    AGENT = "agent"  #: a mark in a schema that the agent sent


@lru_cache(maxsize=16_384)  # more than a request has values: its names are looked up many times
def is_secret_name(name: str) -> bool:
    """Return True if a key's name marks its value as secret, in any case or word separator."""
    words = [word.casefold() for word in _WORD.findall(name)]
    plain = "".join(words)
    if plain in SECRET_NAMES or plain in _RUN_TOGETHER:
        return True
    if not _IN_SECRET_NAMES.search(plain):  # most names: an object may have thousands
        return False
    spaced = f" {' '.join(words)} "
    return any(phrase in spaced for phrase in _PHRASES)


def names_secrets(schema: Any) -> bool:
    """Return True if any part of a schema marks a value as secret, or names one like a secret."""
    parts = [schema]
    while parts:
        part = parts.pop()
        if isinstance(part, Mapping):
            if is_marked(part) or any(is_secret_name(str(key)) for key in part):
                return True
            parts.extend(part.values())
        elif isinstance(part, list):
            parts.extend(part)
    return False


class Secrets:
    """Finds secrets in values by schemas and key names; by names only without schemas."""

    def __init__(self, *documents: Any, at: str = "") -> None:
        """Use these schemas; with `at`, the values are that member of the schemas' object."""
        self._documents = [document for document in documents if isinstance(document, Mapping)]
        self._at = at

    def masked(self, value: Any) -> Any:
        """Return the value with secrets replaced by masks."""
        return self.replaced(value, lambda _path, _secret: MASK)

    def places(self, value: Any) -> frozenset[Path]:
        """Return the paths of secrets; each is a string."""
        return frozenset(self.hidden_by(value))

    def text(self, text: str) -> str:
        """Return masked JSON text, indented; other text with invisible characters escaped."""
        try:
            return json_text(self.masked(json.loads(text)))
        except (ValueError, RecursionError):
            return escape_invisible(cut_at_secret(text))

    def json(self, text: str) -> str:
        """Return masked JSON text; the same text if there is nothing to mask."""
        try:
            value = json.loads(text)
            if not self.places(value):
                return text
            return json.dumps(self.masked(value), ensure_ascii=False, separators=(",", ":"))
        except (ValueError, RecursionError):
            return cut_at_secret(text)

    def replaced(self, value: Any, hide: Callable[[Path, str], Any]) -> Any:
        """Return a copy of the value with each secret replaced by `hide(path, secret)`."""
        return self._walked(value, lambda path, secret, _by: hide(path, secret))

    def hidden_by(self, value: Any) -> dict[Path, HiddenBy]:
        """Return the reason that each secret is masked, by its path."""
        reasons: dict[Path, HiddenBy] = {}
        self._walked(value, lambda path, _secret, by: reasons.setdefault(path, by))
        return reasons

    def _walked(self, value: Any, hide: Callable[[Path, str, HiddenBy], Any]) -> Any:
        marks = SecretMarks()
        try:
            parts = marks.flat((document, document) for document in self._documents)
            if self._at:
                parts = marks.of_member(parts, self._at)
            return _walk(value, (), marks, parts, hide)
        except TooManySteps:  # a large schema must not mask everything
            return _walk(value, (), SecretMarks(), (), hide)


class NumberedMasks:
    """
    Numbered masks, one per distinct secret, which can be restored.

    A person may edit text that contains masks. A mask is restored only where it is a complete value
    that is secret as well, so that moving a mask does not reveal its secret.
    """

    def __init__(self, secrets: Secrets) -> None:
        self._secrets = secrets
        self._masks: dict[str, str] = {}
        self._behind: dict[str, Any] = {}
        self._written: set[str] = set()
        self._last: tuple[Any, Any] = (None, None)  #: the value that was hidden last, and its copy

    def hidden(self, value: Any) -> Any:
        """Return the value with numbered masks; masks that the agent wrote stay unchanged."""
        self._written.update(text for text in texts_in(value) if is_mask(text))
        copy = self._secrets.replaced(value, lambda _path, secret: self._mask(secret))
        self._last = (value, copy)
        return copy

    def hidden_again(self, value: Any) -> Any:
        """Return an edited value with the secrets masked that were masked before."""

        if value is self._last[0]:
            return self._last[1]

        def hide(_path: Path, secret: Any) -> Any:
            return self._mask(secret) if self.knows(secret) else secret

        return self._secrets.replaced(value, hide)

    @property
    def is_empty(self) -> bool:
        return not self._behind

    def knows(self, secret: Any) -> bool:
        """Return True if this secret was masked before."""
        return _spelled(secret) in self._masks

    def restored(self, value: Any) -> Any:
        """
        Return the value with masks replaced by their secrets.

        Raises:
            InvalidPayload: a mask is unknown, or is not in the place of a secret.
        """
        if self.is_empty:
            check_no_masks(value, self._written)
            return value
        check_no_masks(self._secrets.replaced(value, self._gone), self._written)
        return self._secrets.replaced(value, self._back)

    def _mask(self, secret: Any) -> str:
        key = _spelled(secret)
        if key not in self._masks:
            masks = (f"{MASK}{number}" for number in count(len(self._behind) + 1))
            free = (mask for mask in masks if mask not in self._written | self._behind.keys())
            self._masks[key] = next(free)
            self._behind[self._masks[key]] = secret
        return self._masks[key]

    def _back(self, _path: Path, item: Any) -> Any:
        return self._behind.get(item, item) if isinstance(item, str) else item

    def _gone(self, path: Path, item: Any) -> Any:
        secret = self._back(path, item)
        return item if secret is item else None


def check_no_masks(value: Any, allowed: Iterable[str] = ()) -> None:
    """
    Raise InvalidPayload if a value contains a mask.

    `allowed` are masks that the agent itself wrote.
    """
    masks = {text for text in texts_in(value) if is_mask(text)}
    if masks and not masks <= frozenset(allowed):
        raise InvalidPayload(
            TranslatableMessage(
                "The value contains a mask. Enter the real value, or leave it unchanged."
            )
        )


def is_mask(text: str) -> bool:
    return _MASK.fullmatch(text) is not None


def without_mask_numbers(text: str) -> str:
    return _MASK.sub(MASK, text)


def masked_prose(text: str) -> str:
    """
    Return a text for people, such as that of an exception, with the secrets in it masked.

    JSON is masked by its names. Elsewhere these are secrets: the credentials of `Authorization` and
    of addresses (`https://user:secret@host`), and what follows a secret name, such as
    `password=secret`. After a colon, which prose has too, it has to look like a secret.
    """
    text = _IN_ADDRESS.sub(rf"\1{MASK}@", NAMES.text(text))
    text = _CREDENTIALS.sub(rf"\1{MASK}", text)
    parts, end = [], 0
    for match in _NAME_IN_TEXT.finditer(text):
        value = _VALUE_IN_TEXT.match(text, match.end())
        if not value or match.start() < end or not is_secret_name(match["name"]):
            continue
        word, is_quoted = value["quoted"] or value["word"], bool(value["quote"])
        if match["sign"] == "=" and not is_quoted:
            is_secret = _NO_SECRET.search(word) is None
        else:
            is_secret = len(word) > 3 if is_quoted else _LOOKS_SECRET.match(word) is not None
        if is_secret:
            parts += [text[end : value.start(value.lastgroup or 0)], MASK]
            end = value.end(value.lastgroup or 0)
    return "".join((*parts, text[end:]))


def cut_at_secret(text: str) -> str:
    """Return JSON text, possibly truncated, up to its first secret."""
    for match in _KEY.finditer(text):
        try:
            name = json.loads(match[1])
        except ValueError:
            name = match[1]
        if is_secret_name(name):
            return f"{text[: match.end()]} {MASK} …"
    return text


#: Without schemas: by key names only.
NAMES = Secrets()


def masked_strings(value: Any) -> Any:
    """Return the value with all strings masked; keys and other values stay."""
    return _walk(value, (), SecretMarks(), (), lambda *_: MASK, HiddenBy.NAME)


_NEVER_SECRET = frozenset({int, float, bool, NoneType})
_SCALARS = _NEVER_SECRET | {str}


def _walk(
    value: Any,
    path: Path,
    marks: SecretMarks,
    parts: Sequence[Part],
    hide: Callable[[Path, str, HiddenBy], Any],
    by: HiddenBy | None = None,
) -> Any:
    """Replace strings only, so that the structure below a secret stays visible."""
    if isinstance(value, int | float | None):
        return value
    if by is None and parts and any(is_marked(schema) for _, schema in parts):
        by = HiddenBy.AGENT
    if isinstance(value, str):
        return hide(path, value, by) if by and value else value
    if isinstance(value, Mapping):
        members = {}
        for key, item in value.items():
            reason = HiddenBy.NAME if is_secret_name(key) else by
            if type(item) in _NEVER_SECRET or (reason is None and not parts and type(item) is str):
                members[key] = item
                continue
            inner = marks.of_member(parts, key) if parts else ()
            members[key] = _walk(item, (*path, key), marks, inner, hide, reason)
        return members
    if isinstance(value, list):
        if by is None and not parts and all(type(item) in _SCALARS for item in value):
            return list(value)
        return [
            _walk(item, (*path, position), marks, marks.of_item(parts, position), hide, by)
            for position, item in enumerate(value)
        ]
    return value


def pointer(path: Path) -> str:
    """Return the JSON pointer of a path (RFC 6901)."""
    return "".join("/" + str(part).replace("~", "~0").replace("/", "~1") for part in path)


def _spelled(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


def texts_in(value: Any) -> Iterator[str]:
    """Yield every string in a value except keys, without recursion."""
    return (node for _, node in json_nodes(value) if isinstance(node, str))
