"""Names of people: no hidden characters, look-alikes, or names of keys and the system."""

import unicodedata
from collections.abc import Iterable
from typing import Final

from inbox.rules.errors import InvalidValue
from inbox.rules.text.confusables import READINGS, lookalikes, scripts_of
from inbox.rules.text.messages import TranslatableMessage
from inbox.rules.text.safe_text import has_invisible_characters

MAX_NAME_CHARACTERS: Final = 150
#: The audit trail and pages name keys, agents, directories and the system so.
_RESERVED: Final = ("key", "system", "agent", "directory", "signoff")
#: Characters that many fonts draw alike.
_DRAWN_ALIKE: Final = str.maketrans("1l|0", "iiio")


def check_person_name(name: str, others: Iterable[str] = (), *, field: str = "name") -> None:
    """
    Raise InvalidValue unless a person may have this name beside the names of `others`.

    Names of others may differ in more than capitals, accents and characters that look alike.
    """
    message = _problem_of(name, others)
    if message is not None:
        raise InvalidValue(message, problems={field: [message]})


def is_valid_name(name: str, others: Iterable[str] = ()) -> bool:
    return _problem_of(name, others) is None


def skeleton(name: str) -> str:
    """Return a text that is the same for names that look alike."""
    plain = "".join(READINGS.get(char, char) for char in unicodedata.normalize("NFKC", name))
    decomposed = unicodedata.normalize("NFKD", plain.casefold())
    letters = "".join(char for char in decomposed if not unicodedata.combining(char))
    return " ".join(letters.translate(_DRAWN_ALIKE).split())


def _problem_of(name: str, others: Iterable[str]) -> TranslatableMessage | None:
    if not 1 <= len(name) <= MAX_NAME_CHARACTERS:
        return TranslatableMessage(
            "A name must have 1 to {count} characters.", count=MAX_NAME_CHARACTERS
        )
    if not name.isprintable() or has_invisible_characters(name):
        return TranslatableMessage("A name cannot have hidden characters.")
    if any(lookalikes(name, is_id=True, scripts=scripts_of(name))):
        return TranslatableMessage("A name cannot mix letters that look like other letters.")
    bare = skeleton(name)
    first_word = bare.partition(" ")[0].partition(":")[0]
    if first_word in map(skeleton, _RESERVED):
        return TranslatableMessage("Names of people cannot begin with this word.")
    if any(bare == skeleton(other) for other in others):
        return TranslatableMessage(
            "This looks like the name of another member of your team. Add something that tells "
            "you apart."
        )
    return None
