"""What the verifier has found, in the reader's language: it says so in English, without codes."""

import re
from collections.abc import Iterable

from django.utils.translation import gettext_noop

from inbox.rules.text.messages import TranslatableMessage
from inbox.web.base.translate import say

#: What the verifier calls the places that belong to no chain.
PLACES = (
    gettext_noop("log"),
    gettext_noop("log {first} to {last}"),
    gettext_noop("log {position}"),
    gettext_noop("blocks"),
    gettext_noop("checkpoints"),
    gettext_noop("checkpoint of {size}"),
    gettext_noop("checkpoint {text}"),
    gettext_noop("entry {number} of the list"),
    gettext_noop("behind entry {number}"),
    gettext_noop("export"),
)
#: What it says is wrong there.
PROBLEMS = (
    gettext_noop("its body is not the canonical text that was hashed"),
    gettext_noop("its columns are not what its body says"),
    gettext_noop("its payload is not the one it was written with"),
    gettext_noop("its payload is gone, and nothing says why"),
    gettext_noop("entry {number} of its chain comes before it"),
    gettext_noop("the entry before it in its chain is not the one it follows"),
    gettext_noop("its position in the log is not {position}"),
    gettext_noop("it is older than the log, and not in it"),
    gettext_noop("it should be in the log: is that still sealed?"),
    gettext_noop("its last checkpoint lies in the future: the clock went back"),
    gettext_noop("it is not in the log that was signed"),
    gettext_noop("it cannot be taken: {problem}"),
    gettext_noop("the rest cannot be read: {problem}"),
    gettext_noop("entries of it are missing"),
    gettext_noop("{count} of these are there"),
    gettext_noop("it is not what was signed"),
    gettext_noop("{size} entries were signed, {count} are there"),
    gettext_noop("{size} entries were signed, and that checkpoint is gone"),
    gettext_noop("{size} entries were signed by now"),
    gettext_noop("there are two checkpoints of {size} entries"),
    gettext_noop("no trusted key has signed it"),
    gettext_noop("it is none of this log: {problem}"),
    gettext_noop("it is not whole: {problem}"),
    gettext_noop("nobody has sealed entry {number}, and it is there"),
    gettext_noop("they are not those of the log, and made anew when it is sealed"),
    gettext_noop("nothing can be sealed: {problem}"),
    gettext_noop("the last checkpoint cannot be read"),
    gettext_noop("the last checkpoint was signed with another key, or names another one"),
    gettext_noop("the last checkpoint is not what it says it is"),
)
#: The rest of what stands in braces are numbers.
_TEXTS = ("text", "problem")


def say_place(where: str) -> str:
    """A place that belongs to no chain; one of another kind as it is."""
    return say(_read(where, PLACES))


def say_problem(problem: str) -> str:
    """What is wrong there; what an error of Python says of it stays as it is."""
    return say(_read(problem, PROBLEMS))


def _read(text: str, patterns: Iterable[str]) -> str:
    """The text as the sentence that it was made from; as it is if that is none of these."""
    for pattern in patterns:
        if found := re.fullmatch(_expression(pattern), text, re.DOTALL):
            values = found.groupdict()
            if "problem" in values:
                values["problem"] = say_problem(values["problem"])
            return TranslatableMessage(pattern, **values)
    return text


def _expression(pattern: str) -> str:
    parts = re.split(r"\{(\w+)\}", pattern)  # text and names by turns
    names = (f"(?P<{name}>{'.*' if name in _TEXTS else '-?[0-9]+'})" for name in parts[1::2])
    texts = map(re.escape, parts[::2])
    return "".join(part for pair in zip(texts, [*names, ""], strict=True) for part in pair)
