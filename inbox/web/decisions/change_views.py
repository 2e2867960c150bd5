"""A reviewer's changes as displayed: masked, escaped and shortened."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext, gettext_noop

from inbox.forms.number_format import number_format
from inbox.forms.values import ABSENT
from inbox.rules.decisions.value_diff import Change, ChangeKind, changes_between
from inbox.rules.schema.secrets import (
    MASK,
    NAMES,
    NumberedMasks,
    Secrets,
    is_mask,
    without_mask_numbers,
)
from inbox.rules.text.safe_text import escape_invisible, json_text

#: The characters kept at each end of a long unchanged text.
_CONTEXT = 120
_GAP = " ⋯ "
_ARROW = " → "
_KINDS = {
    ChangeKind.ADDED: gettext_noop("added"),
    ChangeKind.REMOVED: gettext_noop("removed"),
    ChangeKind.CHANGED: gettext_noop("changed"),
}


@dataclass(frozen=True)
class ChangeView:
    """One change: its path, kind and text."""

    path: str
    kind: str  #: "added", "removed" or "changed", in words
    pieces: Sequence[tuple[str, str]]  #: ("", "ins" or "del"; text)

    @property
    def parts(self) -> Sequence[tuple[str, str]]:
        """The pieces with an arrow ("to") between removed and inserted text: 310 → 31."""
        parts: list[tuple[str, str]] = []
        for piece in self.pieces:
            if parts and (parts[-1][0], piece[0]) == ("del", "ins"):
                parts.append(("to", _ARROW))
            parts.append(piece)
        return parts


def change_views(before: Any, after: Any, secrets: Secrets = NAMES) -> list[ChangeView]:
    """Return the changes between two values, with secrets masked."""
    if before is after:
        return []  # a page without edits; comparing 10,000 values takes a second
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        # A form returns the agent's own objects for what was not edited.
        same = {name for name, value in before.items() if value is after.get(name, ABSENT)}
        before = {name: value for name, value in before.items() if name not in same}
        after = {name: value for name, value in after.items() if name not in same}
    masks = NumberedMasks(secrets)
    changes = changes_between(masks.hidden(before), masks.hidden(after))
    return [_change_view(change) for change in changes]


def _change_view(change: Change) -> ChangeView:
    return ChangeView(
        path=" / ".join(escape_invisible(str(part)) for part in change.path),
        kind=gettext(_KINDS[change.kind]),
        pieces=_masked(change)
        or [
            (piece.tag, without_mask_numbers(_text(piece.tag, piece.text)))
            for piece in change.pieces
        ],
    )


def _masked(change: Change) -> list[tuple[str, str]]:
    """Return masked pieces if the text was or became a secret, else none."""
    if not all(isinstance(piece.text, str) for piece in change.pieces):
        return []
    before = "".join(piece.text for piece in change.pieces if piece.tag != "ins")
    after = "".join(piece.text for piece in change.pieces if piece.tag != "del")
    if not (is_mask(before) or is_mask(after)):
        return []
    sides = (("del", before), ("ins", after))
    return [(tag, MASK if is_mask(text) else escape_invisible(text)) for tag, text in sides if text]


def _json_text(value: Any) -> str:
    return number_format().write_grouped(json_text(value))


def _text(tag: str, value: Any) -> str:
    text = escape_invisible(value) if isinstance(value, str) else _json_text(value)
    if tag == "" and len(text) > 2 * _CONTEXT + len(_GAP):
        return text[:_CONTEXT] + _GAP + text[-_CONTEXT:]
    return text
