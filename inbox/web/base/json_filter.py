"""The template filter that writes values as JSON for scripts to read."""

import json
from typing import Any

from django import template

register = template.Library()


@register.filter
def as_json(value: Any) -> str:
    """Return JSON; not marked safe, so the template escapes it."""
    return json.dumps(value)
