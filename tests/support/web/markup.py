"""HTML as a browser reads it: how a template is laid out in lines does not count."""

import re
from collections.abc import Callable
from typing import Any

_KEPT = re.compile(r"(<(textarea|pre|script|style)\b.*?</\2>)", re.DOTALL)
_TAG = re.compile(r"<[a-zA-Z](?:\"[^\"]*\"|'[^']*'|[^'\">])*>")


def on_one_line(page: str) -> str:
    """Everything on one line, without the spaces beside tags that come from line ends."""
    pieces = _KEPT.split(page)
    return "".join(
        _tags_on_one_line(piece) if index % 3 else _without_line_ends(piece)
        for index, piece in enumerate(pieces)
        if index % 3 != 2
    )


def _tags_on_one_line(markup: str) -> str:
    return _TAG.sub(lambda tag: re.sub(r" (?=/?>$)", "", re.sub(r"\s+", " ", tag[0])), markup)


def _without_line_ends(markup: str) -> str:
    markup = _tags_on_one_line(markup)
    markup = re.sub(r"(<[a-zA-Z][^<>]*>)\s*\n\s*", r"\1", markup)
    markup = re.sub(r"\s*\n\s*(?=</)", "", markup)
    markup = re.sub(r">\s*\n\s*<", "><", markup)
    return re.sub(r"\s*\n {2,}", " ", markup)  # not within what somebody wrote


class OneLineMiddleware:
    """Gives tests the pages of the product on one line."""

    def __init__(self, get_response: Callable[[Any], Any]) -> None:
        self.get_response = get_response

    def __call__(self, request: Any) -> Any:
        response = self.get_response(request)
        if response.get("Content-Type", "").startswith("text/html") and not response.streaming:
            response.content = on_one_line(response.content.decode()).encode()
        return response
