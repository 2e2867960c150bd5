"""A planned and posted form, read back as a value: what nobody touched comes out as it was."""

import re
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from typing import Any

from django.utils.translation import gettext

from agents.agui import strict_json
from inbox.forms import wording
from inbox.forms.leaves import UNSET
from inbox.forms.nodes import Node
from inbox.forms.posts import Posted
from inbox.forms.values import ABSENT, plain_newlines
from inbox.rules.schema.secrets import MASK

_NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?")
_LOCAL = re.compile(r"[0-9]{4,6}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]+)?)?")
_TEXTS = ("text", "area")
Path = tuple[str | int, ...]


@dataclass
class Reader:
    """Reads the nodes of one post; problems are put on the nodes that they are about."""

    posted: Posted
    places: dict[Path, list[Node]] = field(default_factory=dict)
    wrong: list[tuple[Path, Node]] = field(default_factory=list)
    #: Groups that have to be there and of which nothing was said: not sent, but asked about.
    empty: list[tuple[Path, Any]] = field(default_factory=list)
    tells_values: bool = True  #: whether what is wrong may be said with the values themselves

    def read(self, node: Node, path: Path = (), *, parent: Node | None = None) -> Any:
        self.places.setdefault(path, []).append(node)
        if node.kind == "fixed":
            return self._fixed(node, path, parent)
        readers = {
            "group": self._group,
            "list": self._list,
            "branch": self._branch,
            "many": self._many,
            "choice": self._choice,
            "select": self._choice,
        }
        return readers.get(node.kind, self._typed)(node, path)

    def blame(self, node: Node, path: Path, message: str) -> Any:
        node.problems.append(message)
        self.wrong.append((path, node))
        return ABSENT

    def with_empty_groups(self, value: Any) -> Any:
        """The value as if groups that have to be there were: what they lack is found in them."""
        for path, group in sorted(self.empty, key=lambda item: len(item[0])):
            value = _with(value, path, group)
        return value

    # -- one value ------------------------------------------------------------------------------

    def _typed(self, node: Node, path: Path) -> Any:
        posted = self.posted.text(node.name)
        if posted is None:
            return self.blame(node, path, gettext(wording.NOT_ARRIVED))
        text = plain_newlines(posted)
        # A browser gives back every newline as CRLF, and what it was given otherwise unchanged.
        untouched = text == plain_newlines(node.shown)
        if node.is_null:
            is_typed = text and not untouched
            return self.blame(node, path, gettext(wording.UNTICK)) if is_typed else None
        if untouched and (node.original is not None or node.kind == "json"):
            return node.original
        if node.is_masked and MASK[:2] in text:
            return self.blame(node, path, gettext(wording.PART_OF_MASK))
        if text == "" or (not text.strip() and node.kind not in _TEXTS):
            return self._emptied(node)
        return self._parsed(node, path, text)

    def _parsed(self, node: Node, path: Path, text: str) -> Any:
        match node.kind:
            case "number":
                return self._number(node, path, text.strip())
            case "moment":
                return _in_utc(text)
            case "json":
                return self._json(node, path, text)
        return text

    def _emptied(self, node: Node) -> Any:
        """A text that was there and was cleared: sent as "" only where it has to be there."""
        was_there = node.original is not ABSENT and node.original is not None
        return "" if node.required and was_there and node.kind in _TEXTS else ABSENT

    def _number(self, node: Node, path: Path, text: str) -> Any:
        if len(text) > 400 or not _NUMBER.fullmatch(text):
            return self.blame(node, path, gettext(wording.NO_NUMBER))
        try:
            value = strict_json.loads(text)
            lost = Decimal(text) != Decimal(repr(value))
        except strict_json.JsonRejected as error:
            return self.blame(node, path, str(error))
        except InvalidOperation:
            return self.blame(node, path, gettext(wording.NO_NUMBER))
        if lost:
            return self.blame(node, path, wording.too_many_digits(repr(value)))
        return int(value) if isinstance(value, float) and value.is_integer() else value

    def _json(self, node: Node, path: Path, text: str) -> Any:
        try:
            return strict_json.loads(text)
        except strict_json.JsonRejected as error:
            return self.blame(node, path, str(error))

    def _choice(self, node: Node, path: Path) -> Any:
        if not self.posted.has(f"{node.name}@here"):
            return self.blame(node, path, gettext(wording.NOT_ARRIVED))
        posted = self.posted.text(node.name)
        if posted is None:
            # A radio that was set cannot be unset, and a select always says something.
            was_set = node.kind == "select" or any(o.value == node.shown for o in node.options)
            return self.blame(node, path, gettext(wording.NOT_ARRIVED)) if was_set else ABSENT
        for option in node.options:
            if option.value == posted:
                return option.data
        if posted == UNSET:
            return ABSENT
        return self.blame(node, path, gettext(wording.NOT_OFFERED))

    def _many(self, node: Node, path: Path) -> Any:
        is_framed = self.posted.has(f"{node.name}@here") and self.posted.state(node.name)
        if not is_framed:
            return self.blame(node, path, gettext(wording.NOT_ARRIVED))
        chosen = self.posted.texts(node.name)
        known = {option.value: option.data for option in node.options}
        if not set(chosen) <= known.keys():
            return self.blame(node, path, gettext(wording.NOT_OFFERED))
        before = node.shown.split(",") if node.shown else []
        if set(before) == set(chosen) and node.original is not ABSENT:
            return node.original
        kept = [place for place in before if place in chosen]
        added = [place for place in known if place in chosen and place not in before]
        if not chosen and node.state == "auto":
            return ABSENT
        return [known[place] for place in [*kept, *added]]

    def _fixed(self, node: Node, path: Path, parent: Node | None) -> Any:
        if node.original is not ABSENT:
            return node.original
        if "const" in node.schema:
            # Whoever wrote the object wrote it without: only an object made here gets it.
            is_new = parent is None or parent.original is ABSENT
            needed = is_new and (node.required or (parent is not None and parent.is_in_branch))
            return node.schema["const"] if needed else ABSENT
        if node.required:
            self.blame(node, path, gettext(wording.LEFT_OUT))
        return ABSENT

    # -- more than one --------------------------------------------------------------------------

    def _branch(self, node: Node, path: Path) -> Any:
        if self.posted.branch(node.name) is None:
            return self.blame(node, path, gettext(wording.NOT_ARRIVED))
        return self.read(node.fields[0], path) if node.fields else ABSENT

    def _is_there(self, node: Node, path: Path) -> bool | None:
        if self.posted.state(node.name) is None:
            self.blame(node, path, gettext(wording.NOT_ARRIVED))
            return None
        return node.is_there

    def _group(self, node: Node, path: Path) -> Any:
        is_there = self._is_there(node, path)
        if not is_there:
            return None if is_there is False and node.is_null else ABSENT
        found: dict[str, Any] = {}
        says_something = False
        for child in node.fields:
            value = self.read(child, (*path, child.key), parent=node)
            if value is ABSENT:
                continue
            if child.is_empty:
                self.empty.append(((*path, child.key), value))
                continue
            found[child.key] = value
            says_something |= child.kind != "fixed"
        if node.takes_rows:
            found |= self._pairs(node, path, found)
        if node.state == "auto" and not says_something and not node.rows:
            # Nothing was said, so nothing is sent; what has to be said is found in its place.
            node.is_empty = True
        return _in_order(found, node.original)

    def _pairs(self, node: Node, path: Path, taken: dict[str, Any]) -> dict[str, Any]:
        if self.posted.tokens(node.name) is None:
            self.blame(node, path, gettext(wording.NOT_ARRIVED))
            return {}
        found: dict[str, Any] = {}
        for row in node.rows:
            assert row.key is not None  # noqa: S101 - pairs have keys
            posted = self.posted.text(row.key.name)
            key = posted
            if posted is None:
                self.blame(row.key, path, gettext(wording.NOT_ARRIVED))
            elif posted == "" and row.key.original != "":
                self.blame(row.key, path, gettext(wording.NO_KEY))
                key = None
            elif posted in taken or posted in found:
                self.blame(row.key, (*path, posted), gettext(wording.SAME_KEY))
                key = None
            value = self.read(row.node, (*path, key if key is not None else ""))
            if key is not None:
                if value is ABSENT and not row.node.problems:
                    self.blame(row.node, (*path, key), wording.enter(row.node))
                elif value is not ABSENT:
                    found[key] = value
        return found

    def _list(self, node: Node, path: Path) -> Any:
        is_there = self._is_there(node, path)
        if not is_there:
            return None if is_there is False and node.is_null else ABSENT
        if self.posted.tokens(node.name) is None:
            return self.blame(node, path, gettext(wording.NOT_ARRIVED))
        if not node.rows and node.state == "auto":
            return ABSENT
        found: list[Any] = []
        for row in node.rows:
            here = (*path, len(found))
            value = self.read(row.node, here)
            if value is ABSENT:
                if not row.node.problems:
                    self.blame(row.node, here, wording.enter(row.node))
            else:
                found.append(value)
        return found


def _in_utc(text: str) -> str:
    """What a control for local times says, as UTC; anything else as it was typed."""
    if not _LOCAL.fullmatch(text):
        return text
    return f"{text}:00Z" if text.count(":") == 1 else f"{text}Z"


def _with(value: Any, path: Path, member: Any) -> Any:
    if not path:
        return member
    first, *rest = path
    if isinstance(value, list) and isinstance(first, int) and first < len(value):
        return [*value[:first], _with(value[first], tuple(rest), member), *value[first + 1 :]]
    if isinstance(value, dict) and (not rest or first in value):
        return {**value, first: _with(value.get(first), tuple(rest), member)}
    return value


def _in_order(found: dict[str, Any], original: Any) -> dict[str, Any]:
    """The members in the order in which the agent wrote them, new ones behind."""
    if not isinstance(original, dict):
        return found
    return {key: found[key] for key in original if key in found} | found
