"""Markdown of agents as HTML without links, images, raw HTML and headings."""

from functools import lru_cache

from django.utils.safestring import SafeString, mark_safe
from markdown_it import MarkdownIt
from markdown_it.token import Token

#: Longer texts are shown as they are written.
MAX_CHARACTERS = 50_000
#: Texts that may have larger tables are as well: rows of one character get all columns.
MAX_CELLS = 5_000
#: Rules that could load something, lead away from the page, or draw HTML of the agent.
_FORBIDDEN = ["link", "image", "autolink", "html_inline", "html_block", "reference", "entity"]


@lru_cache(maxsize=1)
def _parser() -> MarkdownIt:
    # Without "entity" an invisible character cannot come in as &#8238;.
    return (
        MarkdownIt("commonmark", {"html": False, "linkify": False, "breaks": True})
        .enable("table")
        .disable(_FORBIDDEN)
    )


def markdown_html(text: str) -> SafeString | None:
    """
    Return Markdown as HTML, None if the text is too long, or may have too large a table.

    `text` has its invisible characters escaped. Headings become paragraphs: they must not
    imitate the headings of the page.
    """
    lines = text.split("\n")
    if len(text) > MAX_CHARACTERS or len(lines) * max(map(_pipes, lines)) > MAX_CELLS:
        return None
    tokens = _parser().parse(text)
    for token in tokens:
        _without_heading(token)
        if token.type in ("th_open", "td_open"):
            token.attrs = {}  # a style attribute, which the CSP refuses
        if token.type == "fence":
            token.info = ""
    html = str(_parser().renderer.render(tokens, _parser().options, {}))
    return mark_safe(html)  # noqa: S308 - the library escapes texts


def _pipes(line: str) -> int:
    return line.count("|")


def _without_heading(token: Token) -> None:
    if token.type in ("heading_open", "heading_close"):
        token.tag = "p"
        if token.nesting == 1:
            token.attrs = {"class": "md-heading"}
