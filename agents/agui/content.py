"""Message and tool result content (text, or a list of parts) as plain text and media parts."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

_MAX_CHARACTERS = 200


@dataclass(frozen=True)
class MediaPart:
    """A part that is not text, as its sender describes it."""

    kind: str  #: image, audio, video, document, or a type that is not known
    name: str
    media_type: str
    address: str  #: "" for inline data
    size: int | None  #: of inline data, in bytes

    @property
    def text(self) -> str:
        """Describe the part in brackets, as in `[image: image/png, 2048 bytes]`."""
        size = "" if self.size is None else f"{self.size} bytes"
        details = [detail for detail in (self.media_type, self.address or size) if detail]
        if self.name:
            # The name says more than an address or a size.
            details = [self.name, *details[:1]]
        return f"[{self.kind}: {', '.join(details)}]" if details else f"[{self.kind}]"


def content_text(content: Any) -> str:
    """
    Return content (as JSON) as text, one part per line.

    Media parts become a description in brackets.
    """
    if isinstance(content, str):
        return content
    return "\n".join(
        part.text if isinstance(part, MediaPart) else part for part in _parts(content or ())
    )


def media_parts(content: Any) -> list[MediaPart]:
    """Return the parts of content (as JSON) that are not text, in their order."""
    parts = _parts(content) if isinstance(content, list) else ()
    return [part for part in parts if isinstance(part, MediaPart)]


def text_parts(content: Any) -> str:
    """Return the text of content (as JSON) without its media parts."""
    if isinstance(content, list):
        return "\n".join(part for part in _parts(content) if isinstance(part, str))
    return content_text(content)


def _parts(content: Any) -> list[str | MediaPart]:
    return [_part(part) for part in content]


def _part(part: Any) -> str | MediaPart:
    if not isinstance(part, Mapping):
        return "[part]"
    if isinstance(part.get("text"), str):
        return str(part["text"])
    source = part.get("source")
    if part.get("type") == "binary":  # of clients before AG-UI 1.0
        name = "data" if "data" in part else "url"
        source = {"type": name, "value": part.get(name), "mimeType": part.get("mimeType")}
    if not isinstance(source, Mapping):
        source = {}
    value = str(source.get("value") or "")
    is_inline = source.get("type") == "data"
    return MediaPart(
        kind=str(part.get("type", "part"))[:_MAX_CHARACTERS],
        name=_file_name(part),
        media_type=str(source.get("mimeType") or "")[:_MAX_CHARACTERS],
        address="" if is_inline else value[:_MAX_CHARACTERS],
        size=len(value.rstrip("=")) * 3 // 4 if is_inline else None,
    )


def _file_name(part: Mapping[str, Any]) -> str:
    """Return the name of a part's file, as the client or agent gives it; "" without one."""
    metadata = part.get("metadata")
    name = part.get("filename") or (
        metadata.get("filename") if isinstance(metadata, Mapping) else None
    )
    return name[:_MAX_CHARACTERS] if isinstance(name, str) else ""
