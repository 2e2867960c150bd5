"""Markdown and code of agents as HTML that can do nothing."""

import re
from types import SimpleNamespace

import pytest

from inbox.web.presentations.highlighting import highlighted
from inbox.web.presentations.markup_time import SECONDS, markup_time
from inbox.web.presentations.safe_markdown import MAX_CHARACTERS, markdown_html

HOSTILE = [
    "<script>alert(1)</script>",
    "[click](javascript:alert(1))",
    "[click](https://evil.test)",
    "![x](https://evil.test/x.png)",
    "<https://evil.test>",
    "https://evil.test",
    "[a]: https://evil.test\n\n[a]",
    "<img src=x onerror=alert(1)>",
    '# <b onclick="x">Approved</b>',
    "| a |\n|:-:|\n| <i>b</i> |",
    '```html"><script>x</script>\ncode\n```',
    "&#8238;evil",
    "* " * 500,
    "> " * 500 + "x",
    "`" * 5000,
]
ALLOWED = {
    *("p", "strong", "em", "ul", "ol", "li", "pre", "code", "table", "thead", "tbody", "tr", "th"),
    *("td", "blockquote", "br", "hr", "s"),
}


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_markdown_has_harmless_tags_only(text):
    markup = str(markdown_html(text))

    assert {tag.lower() for tag in re.findall(r"<([a-zA-Z0-9]+)", markup)} <= ALLOWED
    assert not re.search(r"<[^>]*\s(?!class=\"md-heading\"|start=\"\d+\")[a-z-]+=", markup)


def test_markdown_keeps_every_word():
    markup = str(markdown_html("# Title\n\nSome **bold** [text](https://evil.test)\n\n- one"))

    assert "Title" in markup
    assert "<strong>bold</strong>" in markup
    assert "[text](https://evil.test)" in markup


def test_headings_of_markdown_are_no_headings_of_the_page():
    assert str(markdown_html("# Title")) == '<p class="md-heading">Title</p>\n'


def test_long_markdown_is_not_parsed():
    assert markdown_html("x" * (MAX_CHARACTERS + 1)) is None


def test_short_markdown_with_a_huge_table_is_not_parsed():
    assert markdown_html("|" + "a|" * 400 + "\n|" + "-|" * 400 + "\n" + "|\n" * 1_000) is None


@pytest.mark.parametrize("language", ["sql", "bash", "python", "json", "html", "unknown", ""])
@pytest.mark.parametrize(
    "text", ["", "<script>alert(1)</script>", "SELECT '1' -- x\n\n", "a\tb\n", '"&amp;"']
)
def test_colours_leave_the_code_as_it_is(text, language):
    markup = str(highlighted(text, language))
    plain = re.sub(r'<span class="hl-[a-z]">|</span>', "", markup)

    assert "<" not in plain
    assert (
        plain.replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&#x27;", "'")
        .replace("&quot;", '"')
        .replace("&amp;", "&")
        == text
    )


def test_code_has_no_colours_once_the_time_is_over():
    text = "SELECT 'time is over'"

    assert "<span" not in highlighted(text, "sql", seconds=0)
    assert "<span" in highlighted(text, "sql")


def test_later_texts_of_a_page_get_the_time_that_is_left():
    request = SimpleNamespace()

    with markup_time(request) as first:
        pass
    with markup_time(request) as second:
        pass

    assert second < first == SECONDS
