"""Icons of lucide as a template tag that draws each of them once."""

from functools import lru_cache

from django import template
from lucide.templatetags import lucide as drawn

register = template.Library()


@register.simple_tag
@lru_cache(maxsize=500)
def lucide(name: str, *, size: int = 24, **attributes: str) -> str:
    """As the library's own tag, which copies and prints a tree for every icon of a page."""
    return str(drawn.lucide(name, size=size, **attributes))
