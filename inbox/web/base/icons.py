"""Icons of lucide as a template tag that draws each of them once."""

import re
from functools import lru_cache

from django import template
from django.utils.safestring import SafeString, mark_safe
from lucide.templatetags import lucide as drawn

register = template.Library()

#: They point along the line, and the other way where lines run from right to left.
_TURNING = {"arrow-left", "arrow-right", "log-out", "list-filter", "rotate-ccw", "send", "undo-2"}

#: A tenth of a page: what is the same in all of them stands in the style sheet, at `svg`.
_NEEDLESS = re.compile(
    r' fill="none"(?= stroke)| stroke="currentColor"| stroke-line(?:cap|join)="round"'
    r"|\s*\n\s*| (?=/>)"
)
#: Two lines that are drawn alike are one, if the second says from where.
_TWO_LINES = re.compile(r'(<path d="[^"]*)"/><path d="(?=M)')


@register.simple_tag
@lru_cache(maxsize=500)
def lucide(name: str, *, size: int = 24, **attributes: str) -> SafeString:
    """As the library's own tag, which copies and prints a tree for every icon of a page."""
    if name in _TURNING:
        attributes["class"] = "turns"
    markup = str(drawn.lucide(name, size=size, **attributes))
    markup, left = _NEEDLESS.sub("", markup), 1
    while left:
        markup, left = _TWO_LINES.subn(r"\1", markup)
    return mark_safe(markup)  # noqa: S308 - the library's own
