"""The template tag for times inside sentences."""

from datetime import datetime

from django import template
from django.template.loader import render_to_string
from django.utils.safestring import SafeString

register = template.Library()


@register.simple_tag
def moment(at: datetime, kind: str) -> SafeString:
    """Render `components/time.html`, for use as a variable of a `blocktranslate`."""
    return render_to_string("components/time.html", {"at": at, "as": kind})
