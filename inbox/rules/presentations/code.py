"""Line diffs of texts and patches, as rows of two numbered columns."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, zip_longest

from diff_match_patch.diff_match_patch import diff_match_patch

from inbox.rules.text.safe_text import is_long

#: The page shows so many rows; the JSON of the request has all.
MAX_ROWS = 400
#: Unchanged lines around a change.
CONTEXT = 3
MAX_COMPARED_CHARACTERS = 100_000
#: The time limit of a line diff; after it the diff is coarser.
SECONDS = 0.25
#: The numbers are bounded: Python refuses to parse very long ones.
_HUNK = re.compile(r"^@@ -(\d{1,12})(?:,\d+)? \+(\d{1,12})(?:,\d+)? @@")
_FILE_HEADERS = (
    "diff ",
    "index ",
    "--- ",
    "+++ ",
    "new file",
    "deleted file",
    "rename ",
    "similarity ",
)


@dataclass(frozen=True)
class DiffRow:
    """A line of a diff; `tag` is "", "ins", "del", "hunk" or "file"."""

    tag: str
    text: str
    old_number: int | None = None
    new_number: int | None = None


@dataclass(frozen=True)
class DiffView:
    """A diff, unified and side by side."""

    rows: Sequence[DiffRow]
    added: int
    removed: int
    is_cut: bool  #: there are more rows

    @property
    def pairs(self) -> list[tuple[DiffRow | None, DiffRow | None]]:
        """The rows side by side: removed lines beside those that replace them."""
        pairs: list[tuple[DiffRow | None, DiffRow | None]] = []
        removed: list[DiffRow] = []
        added: list[DiffRow] = []

        def flush() -> None:
            pairs.extend(zip_longest(removed, added))
            removed.clear()
            added.clear()

        for row in self.rows:
            if row.tag == "del":
                if added:
                    flush()
                removed.append(row)
            elif row.tag == "ins":
                added.append(row)
            else:
                flush()
                pairs.append((row, row))
        flush()
        return pairs


def parse_patch(text: str) -> DiffView:
    """Return a unified diff as rows; lines that belong to none are shown as they are."""
    return _view(_patch_rows(text))


def compare_texts(before: str, after: str) -> DiffView | None:
    """
    Return the line diff of two texts, of long ones with a few unchanged lines around each change.

    Unchanged lines of short texts stay: pages ask nobody to open those before an approval, and an
    agent chooses what it calls the text before. None if the texts are too long to compare while a
    page waits.
    """
    if len(before) + len(after) > MAX_COMPARED_CHARACTERS:
        return None
    rows = list(_compared_rows(before, after))
    return _view(_with_context(rows) if is_long(before) or is_long(after) else iter(rows))


def _view(rows: Iterator[DiffRow]) -> DiffView:
    first_rows = list(islice(rows, MAX_ROWS + 1))
    added = sum(row.tag == "ins" for row in first_rows)
    removed = sum(row.tag == "del" for row in first_rows)
    return DiffView(first_rows[:MAX_ROWS], added, removed, is_cut=len(first_rows) > MAX_ROWS)


def _patch_rows(text: str) -> Iterator[DiffRow]:
    old, new, is_in_hunk = 0, 0, False
    for line in text.split("\n"):
        if match := _HUNK.match(line):
            old, new, is_in_hunk = int(match[1]), int(match[2]), True
            yield DiffRow("hunk", line)
        elif not is_in_hunk or line.startswith("diff "):
            is_in_hunk = False
            yield DiffRow("file" if line.startswith(_FILE_HEADERS) else "", line)
        elif line.startswith("+"):
            yield DiffRow("ins", line[1:], None, new)
            new += 1
        elif line.startswith("-"):
            yield DiffRow("del", line[1:], old, None)
            old += 1
        elif line.startswith("\\"):
            yield DiffRow("hunk", line)
        else:
            yield DiffRow("", line[1:], old, new)
            old, new = old + 1, new + 1


def _compared_rows(before: str, after: str) -> Iterator[DiffRow]:
    engine = diff_match_patch()
    engine.Diff_Timeout = SECONDS
    old_codes, new_codes, lines = engine.diff_linesToChars(before, after)
    old, new = 1, 1
    for operation, codes in engine.diff_main(old_codes, new_codes, False):
        for code in codes:
            text = lines[ord(code)].removesuffix("\n")
            if operation == engine.DIFF_EQUAL:
                yield DiffRow("", text, old, new)
                old, new = old + 1, new + 1
            elif operation == engine.DIFF_DELETE:
                yield DiffRow("del", text, old, None)
                old += 1
            else:
                yield DiffRow("ins", text, None, new)
                new += 1


def _with_context(rows: list[DiffRow]) -> Iterator[DiffRow]:
    """Yield the changed rows with their context, and a mark for what is left out."""
    near: set[int] = set()
    for number, row in enumerate(rows):
        if row.tag:
            near.update(range(number - CONTEXT, number + CONTEXT + 1))
    is_gap = False
    for number, row in enumerate(rows):
        if number in near:
            is_gap = False
            yield row
        elif not is_gap:
            is_gap = True
            yield DiffRow("hunk", "⋯")
