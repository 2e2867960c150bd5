"""Translation of the verifier's messages, which are English texts without codes."""

import re
from collections.abc import Iterable

from django.utils.translation import gettext_noop

from inbox.rules.text.messages import TranslatableMessage
from inbox.web.base.translate import translate

#: The verifier's locations that belong to no chain.
PLACES = (
    gettext_noop("log"),
    gettext_noop("log {first} to {last}"),
    gettext_noop("log {position}"),
    gettext_noop("blocks"),
    gettext_noop("checkpoints"),
    gettext_noop("checkpoint of {size}"),
    gettext_noop("checkpoint {text}"),
    gettext_noop("entry {number} of the list"),
    gettext_noop("after entry {number}"),
    gettext_noop("export"),
)
#: The verifier's problems.
PROBLEMS = (
    gettext_noop("its body is not the canonical text that was hashed"),
    gettext_noop("its columns differ from its body"),
    gettext_noop("its payload was changed after it was written"),
    gettext_noop("its payload is missing, and no erasure is recorded"),
    gettext_noop("it must come after entry {number} of its chain"),
    gettext_noop("it does not follow the previous entry of its chain"),
    gettext_noop("its position in the log is not {position}"),
    gettext_noop("it is older than the log but missing from it"),
    gettext_noop("it should be in the log: is the signing process running?"),
    gettext_noop("its last checkpoint is in the future: the clock was set back"),
    gettext_noop("it is not in the signed log"),
    gettext_noop("it cannot be used: {problem}"),
    gettext_noop("the rest cannot be read: {problem}"),
    gettext_noop("it has missing entries"),
    gettext_noop("{count} of these exist"),
    gettext_noop("it differs from what was signed"),
    gettext_noop("{size} entries were signed, but {count} exist"),
    gettext_noop("{size} entries were signed, but that checkpoint is missing"),
    gettext_noop("{size} entries have been signed since"),
    gettext_noop("there are two checkpoints of {size} entries"),
    gettext_noop("it has no signature from a trusted key"),
    gettext_noop("it does not belong to this log: {problem}"),
    gettext_noop("it is incomplete: {problem}"),
    gettext_noop("entry {number} was never signed but is in the log"),
    gettext_noop("they differ from the log and are rebuilt with the next signature"),
    gettext_noop("entries cannot be signed: {problem}"),
    gettext_noop("the last checkpoint cannot be read"),
    gettext_noop("the last checkpoint was signed with another key, or names one"),
    gettext_noop("the last checkpoint does not match its contents"),
)
#: The placeholders that are texts; the others are numbers.
_TEXTS = ("text", "problem")


def say_place(where: str) -> str:
    """Translate a location that belongs to no chain; return others unchanged."""
    return translate(_read(where, PLACES))


def say_problem(problem: str) -> str:
    """Translate a problem; texts of Python exceptions stay unchanged."""
    return translate(_read(problem, PROBLEMS))


def _read(text: str, patterns: Iterable[str]) -> str:
    """Return the message that the text was formatted from, or the text if none matches."""
    for pattern in patterns:
        if match := re.fullmatch(_expression(pattern), text, re.DOTALL):
            values = match.groupdict()
            if "problem" in values:
                values["problem"] = say_problem(values["problem"])
            return TranslatableMessage(pattern, **values)
    return text


def _expression(pattern: str) -> str:
    parts = re.split(r"\{(\w+)\}", pattern)  # texts and names alternate
    names = (f"(?P<{name}>{'.*' if name in _TEXTS else '-?[0-9]+'})" for name in parts[1::2])
    texts = map(re.escape, parts[::2])
    return "".join(part for pair in zip(texts, [*names, ""], strict=True) for part in pair)
