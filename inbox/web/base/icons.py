"""The template tag for lucide icons, with their markup cached and shortened."""

import re
from functools import lru_cache

from django import template
from django.utils.safestring import SafeString, mark_safe
from lucide.templatetags import lucide as drawn

register = template.Library()

#: Icons with a direction; mirrored in right-to-left languages.
_TURNING = {"arrow-left", "arrow-right", "log-out", "list-filter", "rotate-ccw", "send", "undo-2"}

#: Attributes that the style decision_form sets on every `svg`: a tenth of a page's bytes.
_NEEDLESS = re.compile(
    r' fill="none"(?= stroke)| stroke="currentColor"| stroke-line(?:cap|join)="round"'
    r"|\s*\n\s*| (?=/>)"
)
#: Two paths can be joined if the second begins with an absolute move.
_TWO_LINES = re.compile(r'(<path d="[^"]*)"/><path d="(?=M)')


@register.simple_tag
@lru_cache(maxsize=500)
def lucide(name: str, *, size: int = 24, **attributes: str) -> SafeString:
    """Return an icon's markup; the library's own tag would serialize a tree each time."""
    if name in _TURNING:
        attributes["class"] = "turns"
    markup = str(drawn.lucide(name, size=size, **attributes))
    markup, left = _NEEDLESS.sub("", markup), 1
    while left:
        markup, left = _TWO_LINES.subn(r"\1", markup)
    return mark_safe(markup)  # noqa: S308 - the library's own
