"""What the formatter of templates leaves to people."""

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
