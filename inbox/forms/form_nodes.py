"""Data of a form: its nodes as templates show them, and the result of a submission."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from inbox.forms.values import ABSENT, field_id
from inbox.rules.files.file_types import media_type_of
from inbox.rules.files.references import FileReference
from inbox.rules.schema.secrets import is_mask
from inbox.rules.text.safe_text import escape_invisible, has_invisible_characters, is_long


@dataclass(frozen=True)
class Problem:
    """An error of one field."""

    field_id: str  #: DOM id
    pointer: str  #: JSON pointer into the value (RFC 6901)
    label: str
    message: str


@dataclass(frozen=True)
class FormResult:
    """The result of a submission; `value` is ABSENT if nothing was filled in."""

    value: Any
    problems: Sequence[Problem]
    constants: Any = ABSENT  #: the constants of a form that was not filled in


@dataclass(frozen=True)
class Option:
    """One option; `value` is submitted for it, never the data itself."""

    value: str
    label: str
    data: Any
    is_chosen: bool = False
    id: str = ""


@dataclass(frozen=True)
class FileField:
    """The files that an upload accepts, and the form of its value."""

    kind: str  #: address, reference or base64
    accepts: str  #: a media type, or a range such as `image/*`
    upload_url: str
    limit_bytes: int

    @property
    def accept_attribute(self) -> str:
        """Return the value of the control's `accept`; "" for any file."""
        accepts = media_type_of(self.accepts)
        return "" if accepts in ("*/*", "application/octet-stream") else accepts


@dataclass
class Node:
    """
    One part of a form.

    `kind` selects its template and its parser: text, area, number, moment, day, choice, select,
    many, json, fixed, group, list, branch or file.
    """

    kind: str
    name: str  #: of its field; further fields of the node are named `name@word`
    label: str
    required: bool
    original: Any  #: the agent's value, or ABSENT
    masked: Any = ABSENT  #: the original with masks in place of secrets
    is_secret: bool = False  #: whether the value to enter is a secret
    key: str = ""  #: of the property
    real_name: str = ""  #: of the property, if the label does not show it
    schema: dict[str, Any] = field(default_factory=dict)
    help: list[str] = field(default_factory=list)
    initial_text: str = ""  #: of the control, before edits
    text: str = ""  #: of the control, as submitted
    options: list[Option] = field(default_factory=list)
    nullable: bool = False
    is_null: bool = False
    state: str = "on"  #: of a group or list: on, off, null, or auto (present once it has content)
    fields: list["Node"] = field(default_factory=list)
    rows: list["Row"] = field(default_factory=list)
    accepts_rows: bool = False  #: a list, or a group with additional properties
    item_label: str = ""
    can_add: bool = False
    next_token: int = 0  #: of the next added row
    branch_number: int | None = None  #: of the chosen branch
    #: the keyword and branch number of each union, for errors
    resolved_branches: list[tuple[str, int]] = field(default_factory=list)
    is_in_branch: bool = False
    in_row: bool = False
    problems: list[str] = field(default_factory=list)
    opened: bool = False
    autofocus: bool = False
    is_later: bool = False  #: whether the page loads the field on demand, and has not yet
    is_empty: bool = False  #: a group without any input
    file_field: FileField | None = None  #: of an upload, or of the items of a list of files
    file: FileReference | None = None  #: the uploaded file

    @property
    def id(self) -> str:
        return field_id(self.name)

    @property
    def is_masked(self) -> bool:
        """Return whether a mask replaces the whole value."""
        is_mask_there = isinstance(self.masked, str) and is_mask(self.masked)
        return is_mask_there and self.masked is not self.original

    @property
    def contains_mask(self) -> bool:
        """Return whether a mask replaces the value or a part of it."""
        return self.masked is not self.original and bool(self.masked != self.original)

    @cached_property
    def is_collapsible(self) -> bool:
        """Return whether the agent's text is so long that it is collapsed."""
        return self.kind in ("area", "json", "fixed") and is_long(self.initial_text)

    @cached_property
    def escaped_text(self) -> str:
        """Return the agent's text with invisible characters escaped; "" if it has none."""
        if self.is_masked:
            return ""
        if self.kind in ("text", "area") and isinstance(self.original, str):
            return (
                escape_invisible(self.original) if has_invisible_characters(self.original) else ""
            )
        return ""

    @property
    def described_by(self) -> str:
        """Return the ids for aria-describedby."""
        ids = [f"{self.id}-help"] if self.help else []
        ids += [f"{self.id}-hidden"] if self.escaped_text else []
        ids += [f"{self.id}-error"] if self.problems else []
        return " ".join(ids)

    @property
    def optional(self) -> bool:
        return not self.required

    @property
    def is_present(self) -> bool:
        return self.state in ("on", "auto")

    @property
    def is_unframed(self) -> bool:
        """Return whether the enclosing branch already draws the frame."""
        return self.is_in_branch and self.is_present

    @property
    def can_be_empty(self) -> bool:
        """Return whether an absent group or list may be added without content."""
        needs = ("required", "minItems", "minProperties")
        return self.state == "auto" and not any(map(self.schema.get, needs))

    @property
    def add_action(self) -> str:
        """Return the button for an absent list: add a first item, or put back the agent's items."""
        return "put" if self.original or not self.accepts_rows else "add"

    @property
    def can_be_removed(self) -> bool:
        return (
            self.state == "on"
            and not self.is_in_branch
            and (self.optional or self.original is ABSENT)
        )

    @property
    def row_tokens(self) -> str:
        return ",".join(str(row.token) for row in self.rows)

    @property
    def branches(self) -> list[Option]:
        return [
            replace(option, is_chosen=number == self.branch_number)
            for number, option in enumerate(self.options)
        ]

    def walk(self) -> Iterator["Node"]:
        """Yield the node and its descendants in page order."""
        yield self
        for child in self.fields:
            yield from child.walk()
        for row in self.rows:
            if row.key:
                yield row.key
            yield from row.node.walk()

    @property
    def is_short(self) -> bool:
        """Return whether the control is short enough for several in one row."""
        return self.kind in ("text", "number", "select", "day", "moment")


@dataclass
class Row:
    """One item of a list or one pair of a group; its token never changes."""

    token: int
    node: Node
    key: Node | None = None
