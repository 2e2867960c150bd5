"""Mentions of people in comments: `@bob`."""

import re

#: So many people are told of one comment.
MAX_MENTIONS = 20
#: A name after a boundary, so that an e-mail address mentions nobody.
_MENTION = re.compile(r"(?<![\w@.+-])@([\w.+-]{1,150})")


def mentioned_names(text: str) -> list[str]:
    """Return the names after @ that may be usernames, in order, each once."""
    names: dict[str, None] = {}
    for match in _MENTION.finditer(text):
        for name in _candidates(match[1]):
            names.setdefault(name)
    return list(names)[: 2 * MAX_MENTIONS]


def split_mentions(text: str, usernames: frozenset[str]) -> list[tuple[str, str]]:
    """Return the parts of a text, each with the username that it mentions, or ""."""
    parts: list[tuple[str, str]] = []
    start = 0
    for match in _MENTION.finditer(text):
        name = next((name for name in _candidates(match[1]) if name in usernames), "")
        if name:
            end = match.start() + 1 + len(name)
            parts += [(text[start : match.start()], ""), (text[match.start() : end], name)]
            start = end
    parts.append((text[start:], ""))
    return [part for part in parts if part[0]]


def _candidates(name: str) -> list[str]:
    """Return a name as written, and without the punctuation that ends a sentence."""
    return list(dict.fromkeys((name, name.rstrip(".-+"))))
