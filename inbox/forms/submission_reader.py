"""Reading of submissions: converts planned nodes to a value; unedited parts stay unchanged."""

import re
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from typing import Any

from django.utils.translation import gettext

from agents.agui import strict_json
from inbox.forms import labels
from inbox.forms.file_fields import FormFiles, read_file
from inbox.forms.form_nodes import Node
from inbox.forms.scalar_fields import UNSET
from inbox.forms.submission import Submission
from inbox.forms.values import ABSENT, plain_newlines
from inbox.rules.schema.secrets import MASK
from inbox.rules.text.numbers import ENGLISH, AmbiguousNumber, NotANumber, NumberFormat

MAX_NUMBER_CHARACTERS = 4_300
_LOCAL = re.compile(r"[0-9]{4,6}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]+)?)?")
_TEXTS = ("text", "area")
Path = tuple[str | int, ...]


@dataclass
class SubmissionReader:
    """A reader of one submission, which adds problems to the nodes."""

    submission: Submission
    nodes_by_path: dict[Path, list[Node]] = field(default_factory=dict)
    errors: list[tuple[Path, Node]] = field(default_factory=list)
    #: Required groups without input: not part of the value, but checked for missing fields.
    empty_groups: list[tuple[Path, Any]] = field(default_factory=list)
    may_quote_values: bool = True  #: whether errors may contain values (no secrets)
    files: FormFiles | None = None
    numbers: NumberFormat = ENGLISH

    def read(self, node: Node, path: Path = (), *, parent: Node | None = None) -> Any:
        self.nodes_by_path.setdefault(path, []).append(node)
        if node.is_later:
            return node.original
        if node.kind == "fixed":
            return self._fixed(node, path, parent)
        if node.kind in ("group", "list"):
            if self.submission.state(node.name) is None:
                return self.add_error(node, path, gettext(labels.FIELD_MISSING))
            if not node.is_present:
                return None if node.is_null else ABSENT
        readers = {
            "group": self._group,
            "list": self._list,
            "branch": self._branch,
            "many": self._many,
            "choice": self._choice,
            "select": self._choice,
            "file": self._file,
        }
        return readers.get(node.kind, self._typed)(node, path)

    def add_error(self, node: Node, path: Path, message: str) -> Any:
        node.problems.append(message)
        self.errors.append((path, node))
        return ABSENT

    def with_required_groups(self, value: Any) -> Any:
        """Return the value with required empty groups added, so that errors name their fields."""
        for path, group in sorted(self.empty_groups, key=lambda item: len(item[0])):
            value = _with(value, path, group)
        return value

    # -- one value ------------------------------------------------------------------------------

    def _typed(self, node: Node, path: Path) -> Any:
        text = self.submission.text(node.name)
        if text is None:
            return self.add_error(node, path, gettext(labels.FIELD_MISSING))
        text = plain_newlines(text)
        # Browsers submit newlines as CRLF, and all other text unchanged.
        untouched = text == plain_newlines(node.initial_text)
        if node.is_null:
            is_typed = text and not untouched
            return self.add_error(node, path, gettext(labels.CLEAR_OR_UNTICK)) if is_typed else None
        if untouched and (node.original is not None or node.kind == "json"):
            return node.original
        if node.is_masked and MASK[:2] in text:
            return self.add_error(node, path, gettext(labels.PART_OF_MASK))
        if text == "" or (not text.strip() and node.kind not in _TEXTS):
            # A cleared text that is required is ""; otherwise nothing is there.
            was_there = node.original is not ABSENT and node.original is not None
            return "" if node.required and was_there and node.kind in _TEXTS else ABSENT
        return self._parsed(node, path, text)

    def _parsed(self, node: Node, path: Path, text: str) -> Any:
        match node.kind:
            case "number":
                return self._number(node, path, text.strip())
            case "moment":
                return _in_utc(text)
            case "json":
                try:
                    return strict_json.loads(text)
                except strict_json.JsonRejected as error:
                    return self.add_error(node, path, str(error))
        return text

    def _number(self, node: Node, path: Path, text: str) -> Any:
        if len(text) > MAX_NUMBER_CHARACTERS:
            return self.add_error(node, path, labels.invalid_number(self.numbers))
        try:
            text = self.numbers.read(text)
            value = strict_json.loads(text)
            lost = Decimal(text) != Decimal(repr(value))
        except AmbiguousNumber as error:
            return self.add_error(node, path, labels.ambiguous_number(text, error.readings))
        except strict_json.JsonRejected as error:
            return self.add_error(node, path, str(error))
        except (NotANumber, InvalidOperation):
            return self.add_error(node, path, labels.invalid_number(self.numbers))
        if lost:
            message = gettext(
                "This number has too many digits to be stored exactly: it would become {kept}."
            )
            return self.add_error(node, path, message.format(kept=self.numbers.write(repr(value))))
        # A larger one has the digits of its nearest double, not those that were typed.
        is_exact = isinstance(value, float) and value.is_integer() and abs(value) < 2**53
        return int(value) if is_exact else value

    def _file(self, node: Node, path: Path) -> Any:
        problem = self.submission.text(f"{node.name}@problem")
        if problem:
            return self.add_error(node, path, problem)
        if self.files is None or self.submission.text(node.name) is None:
            return self.add_error(node, path, gettext(labels.FIELD_MISSING))
        if node.is_null and not node.text:
            return None
        value, problem = read_file(self.files, node)
        return self.add_error(node, path, problem) if problem else value

    def _choice(self, node: Node, path: Path) -> Any:
        if not self.submission.has(f"{node.name}@here"):
            return self.add_error(node, path, gettext(labels.FIELD_MISSING))
        text = self.submission.text(node.name)
        if text is None:
            # A set radio button cannot be unset, and a select is always sent.
            was_set = node.kind == "select" or any(
                o.value == node.initial_text for o in node.options
            )
            return self.add_error(node, path, gettext(labels.FIELD_MISSING)) if was_set else ABSENT
        for option in node.options:
            if option.value == text:
                return option.data
        if text == UNSET:
            return ABSENT
        return self.add_error(node, path, gettext(labels.INVALID_CHOICE))

    def _many(self, node: Node, path: Path) -> Any:
        is_submitted = self.submission.has(f"{node.name}@here") and self.submission.state(node.name)
        if not is_submitted:
            return self.add_error(node, path, gettext(labels.FIELD_MISSING))
        chosen = self.submission.texts(node.name)
        data = {option.value: option.data for option in node.options}
        if not set(chosen) <= data.keys():
            return self.add_error(node, path, gettext(labels.INVALID_CHOICE))
        before = node.initial_text.split(",") if node.initial_text else []
        if set(before) == set(chosen) and node.original is not ABSENT:
            return node.original
        remaining = [number for number in before if number in chosen]
        added = [number for number in data if number in chosen and number not in before]
        if not chosen and node.state == "auto":
            return ABSENT
        return [data[number] for number in [*remaining, *added]]

    def _fixed(self, node: Node, path: Path, parent: Node | None) -> Any:
        if node.original is not ABSENT:
            return node.original
        if "const" in node.schema:
            # The agent's object is not extended; only new objects get their constants.
            is_new = parent is None or parent.original is ABSENT
            needed = is_new and (node.required or (parent is not None and parent.is_in_branch))
            return node.schema["const"] if needed else ABSENT
        if node.required:
            self.add_error(node, path, gettext(labels.READ_ONLY_MISSING))
        return ABSENT

    # -- more than one --------------------------------------------------------------------------

    def _branch(self, node: Node, path: Path) -> Any:
        if self.submission.branch(node.name) is None:
            return self.add_error(node, path, gettext(labels.FIELD_MISSING))
        return self.read(node.fields[0], path) if node.fields else ABSENT

    def _group(self, node: Node, path: Path) -> Any:
        members: dict[str, Any] = {}
        has_input = False
        for child in node.fields:
            value = self.read(child, (*path, child.key), parent=node)
            if value is ABSENT:
                continue
            if child.is_empty:
                self.empty_groups.append(((*path, child.key), value))
                continue
            members[child.key] = value
            has_input |= child.kind != "fixed"
        if node.accepts_rows:
            members |= self._pairs(node, path, members)
        if node.state == "auto" and not has_input and not node.rows:
            # Without input there is no value; missing required fields are reported separately.
            node.is_empty = True
        return _in_order(members, node.original)

    def _pairs(self, node: Node, path: Path, properties: dict[str, Any]) -> dict[str, Any]:
        if self.submission.tokens(node.name) is None:
            self.add_error(node, path, gettext(labels.FIELD_MISSING))
            return {}
        pairs: dict[str, Any] = {}
        for row in node.rows:
            assert row.key is not None  # noqa: S101 - pairs have keys
            submitted_key = self.submission.text(row.key.name)
            key = submitted_key
            if submitted_key is None:
                self.add_error(row.key, path, gettext(labels.FIELD_MISSING))
            elif submitted_key == "" and row.key.original != "":
                self.add_error(row.key, path, gettext(labels.KEY_MISSING))
                key = None
            elif submitted_key in properties or submitted_key in pairs:
                self.add_error(row.key, (*path, submitted_key), gettext(labels.DUPLICATE_KEY))
                key = None
            value = self.read(row.node, (*path, key if key is not None else ""))
            if key is not None:
                if value is ABSENT and not row.node.problems:
                    self.add_error(row.node, (*path, key), labels.missing_text(row.node))
                elif value is not ABSENT:
                    pairs[key] = value
        return pairs

    def _list(self, node: Node, path: Path) -> Any:
        if self.submission.tokens(node.name) is None:
            return self.add_error(node, path, gettext(labels.FIELD_MISSING))
        problem = self.submission.text(f"{node.name}@problem")
        if problem:
            return self.add_error(node, path, problem)
        if not node.rows and node.state == "auto":
            return ABSENT
        items: list[Any] = []
        for row in node.rows:
            item_path = (*path, len(items))
            value = self.read(row.node, item_path)
            if value is ABSENT:
                if not row.node.problems:
                    self.add_error(row.node, item_path, labels.missing_text(row.node))
            else:
                items.append(value)
        return items


def _in_utc(text: str) -> str:
    """Return the text of a datetime-local control as UTC; other texts unchanged."""
    if not _LOCAL.fullmatch(text):
        return text
    return f"{text}:00Z" if text.count(":") == 1 else f"{text}Z"


def _with(value: Any, path: Path, member: Any) -> Any:
    if not path:
        return member
    first, *remaining = path
    if isinstance(value, list) and isinstance(first, int) and first < len(value):
        return [*value[:first], _with(value[first], tuple(remaining), member), *value[first + 1 :]]
    if isinstance(value, dict) and (not remaining or first in value):
        return {**value, first: _with(value.get(first), tuple(remaining), member)}
    return value


def _in_order(members: dict[str, Any], original: Any) -> dict[str, Any]:
    """Return the members in the agent's order, followed by new ones."""
    if not isinstance(original, dict):
        return members
    return {key: members[key] for key in original if key in members} | members
