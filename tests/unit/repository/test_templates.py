"""Rules of templates that their formatter leaves to people."""

import re
from pathlib import Path

TEMPLATES = Path(__file__).parents[3] / "templates"


def test_no_line_of_a_template_is_longer_than_120_characters():
    long = [
        f"{path.relative_to(TEMPLATES)}:{number}"
        for path in sorted(TEMPLATES.rglob("*"))
        if path.is_file()
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if len(line) > 120
    ]
    assert not long


def test_what_a_page_asks_for_by_itself_does_not_extend_the_session():
    pages = [path.read_text() for path in TEMPLATES.rglob("*.html")]
    elements = [tag for page in pages for tag in re.findall(r"<[^<>]*load delay[^<>]*>", page)]

    assert elements
    assert all("X-Signoff-Refresh" in element for element in elements)


def test_a_count_that_is_hidden_while_empty_has_no_white_space():
    pages = [path.read_text() for path in TEMPLATES.rglob("*.html")]
    counts = [after for page in pages for after in re.findall(r'"count\b[^<>]*>(\s*)', page)]

    assert counts
    assert not any(counts)


def test_no_time_has_a_space_before_a_full_stop_or_comma():
    """Of an included file the end of its last line is a space; the tag `moment` leaves it out."""
    include = re.compile(r'{% include "components/time.html"[^%]*%}[.,;:)]')

    assert not [path for path in TEMPLATES.rglob("*.html") if include.search(path.read_text())]
