"""The result of a tool call in words, for a list: "Refunded, rf_9021", never JSON."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from django.utils.text import capfirst
from django.utils.translation import gettext, ngettext

from inbox.forms.number_format import number_format
from inbox.rules.schema.secrets import NAMES, cut_at_secret, is_mask
from inbox.rules.text.labels import label_of
from inbox.rules.text.safe_text import escape_invisible

_CHARACTERS = 80
_PART_CHARACTERS = 40
_PARTS = 3
#: Longer results are not parsed for a list.
_MAX_PARSED = 20_000
_MAX_LEAVES = 50
#: The members that say most, in this order; then what is true, an id, and the others.
_FIRST = ("error", "message", "detail", "status", "state", "outcome", "result", "summary", "text")
#: Left out beside others.
_SILENT = frozenset({"type", "kind", "object", "ok", "success"})


def result_words(text: str) -> str:
    """Return a result in one short line; "" if it has no words."""
    try:
        return _words(text)
    except RecursionError:  # JSON that is nested too deeply to be masked
        return ""


def _words(text: str) -> str:
    try:
        value = json.loads(text) if len(text) <= _MAX_PARSED else text
    except ValueError:
        value = text
    if isinstance(value, str):
        is_json = value is text and value.lstrip().startswith(("{", "[[", "[{", '["'))
        return "" if is_json else _line(value, _CHARACTERS)
    value = NAMES.masked(value)
    if isinstance(value, list) and len(value) != 1:
        return ngettext("{count} item", "{count} items", len(value)).format(count=len(value))
    leaves = [leaf for leaf, _ in zip(_leaves("", value), range(_MAX_LEAVES), strict=False)]
    telling = [leaf for leaf in leaves if leaf[0].lower() not in _SILENT] or leaves
    texts = [_text(name, leaf) for name, leaf in sorted(telling, key=_rank)]
    words = list(dict.fromkeys(filter(None, texts)))[:_PARTS]
    line = _line(", ".join(words), _CHARACTERS)
    return capfirst(line) if line.partition(",")[0].partition(" ")[0].isalpha() else line


def _leaves(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    """Yield the scalars of a value with the names of their members."""
    if isinstance(value, Mapping):
        for key, member in value.items():
            yield from _leaves(key, member)
    elif isinstance(value, list):
        for item in value:
            yield from _leaves(name, item)
    else:
        yield name, value


def _rank(leaf: tuple[str, Any]) -> int:
    name, value = leaf[0].lower(), leaf[1]
    if name in _FIRST:
        return _FIRST.index(name)
    return len(_FIRST) + (0 if value is True else 1 if name.endswith("id") else 2)


def _text(name: str, value: Any) -> str:
    """Return a scalar as words: a text or an id alone, others with their name."""
    label = label_of(name) if name else ""
    if isinstance(value, bool):
        says = label or (gettext("yes") if value else gettext("no"))
        return says if value or not label else gettext("{name}: no").format(name=label)
    if isinstance(value, int | float):
        number = number_format().write_grouped(json.dumps(value))
        return f"{label} {number}".strip()
    if value is None or is_mask(value):
        return ""
    return _line(value, _PART_CHARACTERS)


def _line(text: str, most: int) -> str:
    line = escape_invisible(" ".join(cut_at_secret(text[: 4 * most]).split()))
    return line if len(line) <= most else f"{line[: most - 1].rstrip()}…"
