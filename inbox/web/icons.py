"""Icons of lucide as a template tag that draws each of them once."""

from functools import lru_cache

from django import template
from lucide.templatetags import lucide as drawn

register = template.Library()

#: They point along the line, and the other way where lines run from right to left.
_TURNING = {"arrow-left", "arrow-right", "log-out", "list-filter", "rotate-ccw", "send", "undo-2"}


@register.simple_tag
@lru_cache(maxsize=500)
def lucide(name: str, *, size: int = 24, **attributes: str) -> str:
    """As the library's own tag, which copies and prints a tree for every icon of a page."""
    if name in _TURNING:
        attributes["class"] = "turns"
    return str(drawn.lucide(name, size=size, **attributes))
