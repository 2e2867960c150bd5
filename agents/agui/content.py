"""Message and tool result content (text, or a list of parts) as plain text."""

from collections.abc import Mapping
from typing import Any

_SOURCE_LENGTH = 200


def content_text(content: Any) -> str:
    """
    Return content (as JSON) as text, one part per line.

    Media parts become a description in brackets, as in `[image: image/png, 2048 bytes]`.
    """
    if isinstance(content, str):
        return content
    return "\n".join(_part_text(part) for part in content or ())


def _part_text(part: Any) -> str:
    if not isinstance(part, Mapping):
        return "[part]"
    if isinstance(part.get("text"), str):
        return str(part["text"])
    kind, source = part.get("type", "part"), part.get("source")
    details = _source_details(source) if isinstance(source, Mapping) else []
    return f"[{kind}: {', '.join(details)}]" if details else f"[{kind}]"


def _source_details(source: Mapping[str, Any]) -> list[str]:
    value = str(source.get("value", ""))
    if source.get("type") == "data":
        location = f"{len(value.rstrip('=')) * 3 // 4} bytes"
    else:
        location = value[:_SOURCE_LENGTH]
    return [detail for detail in (source.get("mimeType"), location) if detail]
