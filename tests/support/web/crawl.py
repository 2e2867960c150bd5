"""Every page in a few states, and the texts that one reads there."""

from html.parser import HTMLParser
from typing import Any

#: Code, what was typed, and what scripts read: no words of ours.
_UNREAD = {"script", "style", "svg", "pre", "code", "kbd", "textarea", "output"}
_VOID = {"meta", "link", "input", "br", "img", "path", "circle", "line", "rect", "polyline"}
_SPOKEN = ("aria-label", "placeholder", "title")


class _Texts(HTMLParser):
    """The texts of a page in their order, spoken attributes among them."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self._unread: list[str] = []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        values = dict(attributes)
        if not self._unread:
            self.found += [values[name] or "" for name in _SPOKEN if values.get(name)]
        if tag in _UNREAD:
            self._unread.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if self._unread and self._unread[-1] == tag:
            self._unread.pop()

    def handle_data(self, data: str) -> None:
        if data.strip() and not self._unread:
            self.found.append(" ".join(data.split()))


def texts_of(page: Any) -> list[str]:
    parser = _Texts()
    parser.feed(page.content.decode())
    return parser.found
