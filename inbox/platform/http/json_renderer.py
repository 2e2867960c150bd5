"""
Rendering of responses as JSON, also of values that JSON lacks.

REST framework's renderer raises an error for NaN, infinities and lone surrogates, all of which
Python's `json` reads in the arguments that a model wrote. Can go when it has an option for them.
"""

import json
from math import isfinite
from typing import Any

from rest_framework.renderers import JSONRenderer


class AnyValueJSONRenderer(JSONRenderer):
    """Write such numbers as texts, and lone surrogates as escapes."""

    def render(
        self, data: Any, accepted_media_type: str | None = None, renderer_context: Any = None
    ) -> Any:
        try:
            return super().render(data, accepted_media_type, renderer_context)
        except ValueError:
            value = _with_texts(data)
            return _AsciiRenderer().render(value, accepted_media_type, renderer_context)


class _AsciiRenderer(JSONRenderer):
    ensure_ascii = True


def _with_texts(value: Any) -> Any:
    """Return the value with "NaN", "Infinity" and "-Infinity" for these numbers."""
    if isinstance(value, dict):
        return {key: _with_texts(member) for key, member in value.items()}
    if isinstance(value, list | tuple):
        return [_with_texts(item) for item in value]
    return json.dumps(value) if isinstance(value, float) and not isfinite(value) else value
