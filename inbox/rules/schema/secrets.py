"""Which values are secret, by the names of their keys or by marks of a schema, and their masks."""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from functools import lru_cache
from itertools import count
from typing import Any

from inbox.rules.errors import InvalidPayload
from inbox.rules.schema.schema_secrets import (
    Part,
    SecretMarks,
    TooManySteps,
    is_marked,
)
from inbox.rules.text.messages import TranslatableMessage
from inbox.rules.text.safe_text import escape_invisible, json_text

#: Stands where a secret is. With a number behind it, it says which one, and can be put back.
MASK = "•" * 8
_MASK = re.compile(rf"{MASK}[0-9]*")
#: Words that make a key secret wherever they stand in it: `db_password`, `X-Api-Key`.
SECRET_WORDS = (
    *("password", "passwd", "passphrase", "passcode", "pwd", "secret", "secrets", "token"),
    *("authorization", "bearer", "cookie", "cookies", "credential", "credentials", "otp", "totp"),
    *("cvv", "cvc", "apikey", "api key", "api keys", "private key", "secret key", "access key"),
    *("signing key", "encryption key", "ssh key", "session id", "card number", "credit card"),
    *("access token", "refresh token", "auth token", "id token", "api token", "bearer token"),
    *("client secret", "user password", "db password", "set cookie"),
)
#: Keys that are secret if there is nothing else in them: a `card_title` is none.
SECRET_NAMES = ("card", "pan", "pin", "jwt", "auth")
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+|[^\W\d_A-Za-z]+")
_PHRASES = tuple(f" {words} " for words in SECRET_WORDS)
#: As they are written without anything between the words.
_RUN_TOGETHER = frozenset(words.replace(" ", "") for words in SECRET_WORDS)
_KEY = re.compile(r'("(?:[^"\\]|\\.){1,200}")\s*:')

Path = tuple[str | int, ...]


class HiddenBy(StrEnum):
    """Why a string is masked."""

    NAME = "name"  #: the name of its key, or of one above
    AGENT = "agent"  #: a mark in a schema that the agent sent


@lru_cache(maxsize=4096)
def is_secret_name(name: str) -> bool:
    """Whether a key says that its value is secret, in whatever case and with whatever between."""
    words = [word.casefold() for word in _WORD.findall(name)]
    plain = "".join(words)
    if plain in SECRET_NAMES or plain in _RUN_TOGETHER:
        return True
    spaced = f" {' '.join(words)} "
    return any(phrase in spaced for phrase in _PHRASES)


class Secrets:
    """What is secret in values of some schemas; without any, what the names of keys say."""

    def __init__(self, *documents: Any, at: str = "") -> None:
        """`at` names the member that the values are, where the documents are about its object."""
        self._documents = [one for one in documents if isinstance(one, Mapping)]
        self._at = at

    def masked(self, value: Any) -> Any:
        """The value with a mask in the place of each secret."""
        return self.replaced(value, lambda _path, _secret: MASK)

    def places(self, value: Any) -> frozenset[Path]:
        """Where the secrets of a value are: each is a string."""
        return frozenset(self.hidden_by(value))

    def text(self, text: str) -> str:
        """JSON text as one reads it, masked; what is no JSON as it is, but for what hides."""
        try:
            return json_text(self.masked(json.loads(text)))
        except (ValueError, RecursionError):
            return escape_invisible(cut_at_secret(text))

    def json(self, text: str) -> str:
        """JSON text as JSON text, masked; the same text where there is nothing to mask."""
        try:
            value = json.loads(text)
            if not self.places(value):
                return text
            return json.dumps(self.masked(value), ensure_ascii=False, separators=(",", ":"))
        except (ValueError, RecursionError):
            return cut_at_secret(text)

    def places_in(self, text: str) -> list[str]:
        """Where the secrets of a JSON text are (RFC 6901); the whole text if it is not all JSON."""
        try:
            return sorted(map(pointer, self.places(json.loads(text))))
        except (ValueError, RecursionError):
            return [""] if cut_at_secret(text) != text else []

    def replaced(self, value: Any, hide: Callable[[Path, str], Any]) -> Any:
        """A copy of the value in which each secret is what `hide` makes of it."""
        return self._walked(value, lambda path, secret, _by: hide(path, secret))

    def hidden_by(self, value: Any) -> dict[Path, HiddenBy]:
        """Why each secret of a value is masked, by its place."""
        found: dict[Path, HiddenBy] = {}
        self._walked(value, lambda path, _secret, by: found.setdefault(path, by))
        return found

    def _walked(self, value: Any, hide: Callable[[Path, str, HiddenBy], Any]) -> Any:
        marks = SecretMarks()
        try:
            parts = marks.flat((one, one) for one in self._documents)
            if self._at:
                parts = marks.of_member(parts, self._at)
            return _walk(value, (), marks, parts, hide)
        except TooManySteps:  # an agent must not hide all of it by the size of its schema
            return _walk(value, (), SecretMarks(), (), hide)


class NumberedMasks:
    """
    Masks that tell secrets apart, and can be put back: the same one for the same value.

    A person may edit a text with masks in it. Each stands for its secret as long as it is the whole
    value of something that is secret as well: nobody gets to read one by moving its mask.
    """

    def __init__(self, secrets: Secrets) -> None:
        self._secrets = secrets
        self._masks: dict[str, str] = {}
        self._behind: dict[str, Any] = {}
        self._written: set[str] = set()

    def hidden(self, value: Any) -> Any:
        """The value with numbered masks; what it has for masks of its own stays what it is."""
        self._written.update(text for text in texts_in(value) if is_mask(text))
        return self._secrets.replaced(value, lambda _path, secret: self._mask(secret))

    def hidden_again(self, value: Any) -> Any:
        """A value that was edited: masked where it has a secret that was hidden before."""

        def hide(_path: Path, secret: Any) -> Any:
            return self._mask(secret) if self.knows(secret) else secret

        return self._secrets.replaced(value, hide)

    @property
    def is_empty(self) -> bool:
        """Whether nothing was secret so far."""
        return not self._behind

    def knows(self, secret: Any) -> bool:
        """Whether this was hidden before."""
        return _spelled(secret) in self._masks

    def restored(self, value: Any) -> Any:
        """
        The value with its secrets in the places of their masks.

        Raises:
            InvalidPayload: a mask stands where no secret does, or is none of these.
        """
        check_no_masks(self._secrets.replaced(value, self._gone), self._written)
        return self._secrets.replaced(value, self._back)

    def _mask(self, secret: Any) -> str:
        known = _spelled(secret)
        if known not in self._masks:
            masks = (f"{MASK}{number}" for number in count(len(self._behind) + 1))
            free = (mask for mask in masks if mask not in self._written | self._behind.keys())
            self._masks[known] = next(free)
            self._behind[self._masks[known]] = secret
        return self._masks[known]

    def _back(self, _path: Path, found: Any) -> Any:
        return self._behind.get(found, found) if isinstance(found, str) else found

    def _gone(self, path: Path, found: Any) -> Any:
        back = self._back(path, found)
        return found if back is found else None


def check_no_masks(value: Any, allowed: Iterable[str] = ()) -> None:
    """
    Raise InvalidPayload if a mask would be sent in the place of what it hides.

    `allowed` are texts that the agent itself has written.
    """
    masks = {text for text in texts_in(value) if is_mask(text)}
    if masks and not masks <= frozenset(allowed):
        raise InvalidPayload(
            TranslatableMessage(
                "The value contains a mask. Enter the real value, or leave it unchanged."
            )
        )


def is_mask(text: str) -> bool:
    """Whether a whole text is nothing but a mask."""
    return _MASK.fullmatch(text) is not None


def without_mask_numbers(text: str) -> str:
    """The text with the numbers of its masks taken away."""
    return _MASK.sub(MASK, text)


def cut_at_secret(text: str) -> str:
    """As much of the beginning of a JSON text as is before its first secret: it may break off."""
    for match in _KEY.finditer(text):
        try:
            name = json.loads(match[1])
        except ValueError:
            name = match[1]
        if is_secret_name(name):
            return f"{text[: match.end()]} {MASK} …"
    return text


#: Where no schema is known: the names of keys alone.
NAMES = Secrets()


def masked_strings(value: Any) -> Any:
    """The value with a mask in the place of each string in it; keys and other values stay."""
    return _walk(value, (), SecretMarks(), (), lambda *_: MASK, HiddenBy.NAME)


def _walk(
    value: Any,
    path: Path,
    marks: SecretMarks,
    parts: Sequence[Part],
    hide: Callable[[Path, str, HiddenBy], Any],
    by: HiddenBy | None = None,
) -> Any:
    """Hide strings only, below whatever is secret: what they are part of has to be seen."""
    if by is None and any(is_marked(schema) for _, schema in parts):
        by = HiddenBy.AGENT
    if isinstance(value, Mapping):
        found = {}
        for key, item in value.items():
            named = HiddenBy.NAME if is_secret_name(key) else by
            found[key] = _walk(item, (*path, key), marks, marks.of_member(parts, key), hide, named)
        return found
    if isinstance(value, list):
        return [
            _walk(item, (*path, place), marks, marks.of_item(parts, place), hide, by)
            for place, item in enumerate(value)
        ]
    return hide(path, value, by) if by and isinstance(value, str) and value else value


def pointer(path: Path) -> str:
    """The JSON pointer to a place (RFC 6901)."""
    return "".join("/" + str(part).replace("~", "~0").replace("/", "~1") for part in path)


def _spelled(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


def texts_in(value: Any) -> Iterator[str]:
    """Every text in a value, without recursion; keys are none."""
    waiting = [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, str):
            yield item
        elif isinstance(item, Mapping):
            waiting.extend(item.values())
        elif isinstance(item, list):
            waiting.extend(item)
