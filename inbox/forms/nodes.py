"""The parts of a form as its templates show them, and what comes out of reading it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from inbox.forms.values import ABSENT, field_id
from inbox.rules.schema.secrets import is_mask
from inbox.rules.text.safe_text import escape_invisible, has_invisible_characters, is_long


@dataclass(frozen=True)
class Problem:
    """One thing to put right."""

    field_id: str  #: the DOM id to go to
    pointer: str  #: where in the value (RFC 6901)
    label: str
    message: str


@dataclass(frozen=True)
class Reading:
    """What a posted form says; ABSENT if nothing was answered."""

    value: Any
    problems: Sequence[Problem]
    constants: Any = ABSENT  #: of a form that nobody filled in: all that a press of a button says


@dataclass(frozen=True)
class Option:
    """One choice; `value` is what is posted for it, never the data itself."""

    value: str
    label: str
    data: Any
    is_chosen: bool = False
    id: str = ""


@dataclass
class Node:
    """
    One part of the form.

    `kind` says which template shows it and how it is read: text, area, number, moment, day, choice,
    select, many, json, fixed, group, list or branch.
    """

    kind: str
    name: str  #: of its field; all others of the node are the name, `@` and a word
    label: str
    required: bool
    original: Any  #: what the agent wrote, or ABSENT
    veiled: Any = ABSENT  #: the same with masks in the places of secrets
    is_masked: bool = False  #: whether all of it is a secret
    is_secret: bool = False  #: whether it is asked for as one
    key: str = ""  #: of the property that it is
    real_name: str = ""  #: of that property, where the label is another and does not say it
    schema: dict[str, Any] = field(default_factory=dict)
    help: list[str] = field(default_factory=list)
    shown: str = ""  #: what its control holds when nobody touched it
    text: str = ""  #: what its control holds now
    options: list[Option] = field(default_factory=list)
    nullable: bool = False
    is_null: bool = False
    state: str = "on"  #: of a group or list: on, off, null, or auto (there once something is in it)
    fields: list["Node"] = field(default_factory=list)
    rows: list["Row"] = field(default_factory=list)
    takes_rows: bool = False  #: a list, or a group that takes keys of one's own
    item_label: str = ""
    can_add: bool = False
    next_token: int = 0  #: of the first row that the agent did not write
    chosen: int | None = None  #: the branch
    choices: list[tuple[str, int]] = field(default_factory=list)  #: branches that hold for errors
    is_in_branch: bool = False
    in_row: bool = False
    problems: list[str] = field(default_factory=list)
    opened: bool = False
    autofocus: bool = False
    is_empty: bool = False  #: a group of which nothing was said

    @property
    def id(self) -> str:
        return field_id(self.name)

    @property
    def is_veiled(self) -> bool:
        """Whether a mask stands for the whole value."""
        is_mask_there = isinstance(self.veiled, str) and is_mask(self.veiled)
        return is_mask_there and self.veiled is not self.original

    @property
    def hides(self) -> bool:
        """Whether a mask stands for it, or somewhere in it."""
        return self.veiled is not self.original and bool(self.veiled != self.original)

    @cached_property
    def folds(self) -> bool:
        """Whether it holds more than one sees at a glance of what the agent wrote."""
        return self.kind in ("area", "json", "fixed") and is_long(self.shown)

    @cached_property
    def hidden(self) -> str:
        """The agent's text with what cannot be seen spelled out, if there is such."""
        if self.is_masked:
            return ""
        if self.kind in ("text", "area") and isinstance(self.original, str):
            return (
                escape_invisible(self.original) if has_invisible_characters(self.original) else ""
            )
        return ""

    @property
    def described_by(self) -> str:
        """The ids of what explains the control."""
        ids = [f"{self.id}-help"] if self.help else []
        ids += [f"{self.id}-hidden"] if self.hidden else []
        ids += [f"{self.id}-error"] if self.problems else []
        return " ".join(ids)

    @property
    def optional(self) -> bool:
        return not self.required

    @property
    def is_there(self) -> bool:
        return self.state in ("on", "auto")

    @property
    def is_bare(self) -> bool:
        """Whether the branch around it is its frame already."""
        return self.is_in_branch and self.is_there

    @property
    def can_be_emptied(self) -> bool:
        """Whether a group or list that is not there yet can be given with nothing in it."""
        needs = ("required", "minItems", "minProperties")
        return self.state == "auto" and not any(map(self.schema.get, needs))

    @property
    def first_step(self) -> str:
        """What adding a list means that is not there: a first item, or the agent's again."""
        return "put" if self.original or not self.takes_rows else "add"

    @property
    def can_be_dropped(self) -> bool:
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
            replace(option, is_chosen=number == self.chosen)
            for number, option in enumerate(self.options)
        ]

    def walk(self) -> Iterator["Node"]:
        """The node and all below it, in the order in which they are shown."""
        yield self
        for child in self.fields:
            yield from child.walk()
        for row in self.rows:
            if row.key:
                yield row.key
            yield from row.node.walk()

    @property
    def is_short(self) -> bool:
        """Whether it fits beside its like in a row of a list."""
        return self.kind in ("text", "number", "select", "day", "moment")


@dataclass
class Row:
    """One item of a list, or one pair of a group; the token stays while others come and go."""

    token: int
    node: Node
    key: Node | None = None
