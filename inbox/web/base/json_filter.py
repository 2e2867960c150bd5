"""Values that scripts read from the attributes of elements."""

import json
from typing import Any

from django import template

register = template.Library()


@register.filter
def as_json(value: Any) -> str:
    """The value as JSON text; the template escapes it as it does every text."""
    return json.dumps(value)
