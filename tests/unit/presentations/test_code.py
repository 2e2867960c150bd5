"""Line diffs of texts and patches."""

import pytest

from inbox.rules.presentations.code import MAX_ROWS, compare_texts, parse_patch

PATCH = """diff --git a/x b/x
--- a/x
+++ b/x
@@ -3,3 +3,3 @@ def f():
 same
-old
+new
+newer
\\ No newline at end of file"""


def test_patch_has_numbered_rows():
    view = parse_patch(PATCH)

    assert [(row.tag, row.old_number, row.new_number, row.text) for row in view.rows[4:8]] == [
        ("", 3, 3, "same"),
        ("del", 4, None, "old"),
        ("ins", None, 4, "new"),
        ("ins", None, 5, "newer"),
    ]
    assert (view.added, view.removed) == (2, 1)


def test_no_line_of_a_patch_is_lost():
    lines = PATCH.split("\n")

    assert [row.text for row in parse_patch(PATCH).rows] == [
        line[1:] if line[0] in " +-" and index > 3 else line for index, line in enumerate(lines)
    ]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "no patch",
        "@@ -1 +1 @@",
        "+\n-\n",
        "@@ -9999999999 +1 @@\n-x",
        f"@@ -{'9' * 5_000} +1 @@",
    ],
    ids=["empty", "text", "no lines", "signs", "large number", "number too long to parse"],
)
def test_text_that_is_no_patch_is_shown_as_it_is(text):
    texts = [row.text for row in parse_patch(text).rows]

    assert "\n".join(texts).replace("x", "") in text.replace("-x", "")


def test_removed_lines_stand_beside_those_that_replace_them():
    pairs = [
        (old and old.text, new and new.text)
        for old, new in compare_texts("a\nb\n", "a\nc\nd\n").pairs
    ]

    assert pairs == [("a", "a"), ("b", "c"), (None, "d")]


def test_unchanged_lines_far_from_a_change_are_left_out():
    lines = [str(number) for number in range(100)]

    view = compare_texts("\n".join(lines), "\n".join([*lines[:50], "new", *lines[50:]]))

    assert [row.text for row in view.rows] == ["⋯", "47", "48", "49", "new", "50", "51", "52", "⋯"]


def test_diff_of_short_texts_has_every_line():
    text = "delete_everything()\n\n\n\n\nx = 1"

    rows = compare_texts(text, text.replace("1", "2")).rows

    assert [row.text for row in rows] == ["delete_everything()", "", "", "", "", "x = 1", "x = 2"]
    assert [row.text for row in compare_texts(text, text).rows] == text.split("\n")


def test_long_diffs_are_cut():
    view = parse_patch("\n".join(["@@ -1 +1 @@", *["+x"] * 1000]))

    assert (len(view.rows), view.is_cut) == (MAX_ROWS, True)
