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
    if kind == "binary":  # of clients before AG-UI 1.0
        name = "data" if "data" in part else "url"
        source = {"type": name, "value": part.get(name), "mimeType": part.get("mimeType")}
    details = _source_details(source) if isinstance(source, Mapping) else []
    name = _file_name(part)
    if name:
        # The name says more than an address or a size.
        details = [name, *details[:1]]
    return f"[{kind}: {', '.join(details)}]" if details else f"[{kind}]"


def _file_name(part: Mapping[str, Any]) -> str:
    """Return the name of a part's file, as the client or agent gives it; "" without one."""
    metadata = part.get("metadata")
    name = part.get("filename") or (
        metadata.get("filename") if isinstance(metadata, Mapping) else None
    )
    return name[:_SOURCE_LENGTH] if isinstance(name, str) else ""


def _source_details(source: Mapping[str, Any]) -> list[str]:
    value = str(source.get("value") or "")
    if source.get("type") == "data":
        location = f"{len(value.rstrip('=')) * 3 // 4} bytes"
    else:
        location = value[:_SOURCE_LENGTH]
    return [detail for detail in (source.get("mimeType"), location) if detail]
