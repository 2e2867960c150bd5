"""The type of a file by its content, what a schema accepts, and what a download is served as."""

import re
from pathlib import PurePosixPath
from typing import Final

import puremagic

OCTETS: Final = "application/octet-stream"
#: How much of a file its type is read from.
HEAD_BYTES = 8_192
_SIGNATURES: Final = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
)
_PDF_WITHIN = 1_024  #: readers accept the header of a PDF up to here
#: Texts by the extension of the name, because their content has no signature.
_TEXTS: Final = {
    ".csv": "text/csv",
    ".tsv": "text/tab-separated-values",
    ".md": "text/markdown",
    ".json": "application/json",
    ".yaml": "application/yaml",
    ".yml": "application/yaml",
    ".xml": "application/xml",
    ".svg": "image/svg+xml",
    ".htm": "text/html",
    ".html": "text/html",
    ".xhtml": "application/xhtml+xml",
    ".js": "text/javascript",
    ".mjs": "text/javascript",
    ".css": "text/css",
}
_MARKUP: Final = (
    (re.compile(r"<svg[\s>]", re.IGNORECASE), "image/svg+xml"),
    (
        re.compile(
            r"<(!doctype\s+html|html|head|body|script|iframe|style|meta|title|base|form)[\s>/]",
            re.IGNORECASE,
        ),
        "text/html",
    ),
    (re.compile(r"<[?!a-z]", re.IGNORECASE), "application/xml"),
)
#: Types that are served as themselves; everything else is served as bytes without a meaning.
SERVED: Final = frozenset(
    {
        *("image/png", "image/jpeg", "image/gif", "image/webp", "application/pdf"),
        *("text/plain", "text/csv", "text/markdown", "application/json", "application/zip"),
    }
)
_NAMES: Final = {"image/x-ms-bmp": "image/bmp", "application/x-gzip": "application/gzip"}
_MEDIA_TYPE = re.compile(r"[a-z0-9][a-z0-9!#$&^_.+-]{0,126}/([a-z0-9][a-z0-9!#$&^_.+-]{0,126}|\*)")


def detect_media_type(head: bytes, name: str) -> str:
    """
    Return the media type of a file that starts with these bytes.

    The name only tells apart what has the same signature, such as texts and office documents.
    """
    for signature, media_type in _SIGNATURES:
        if head.startswith(signature):
            return media_type
    if head[:4] == b"RIFF" and head[8:12] == b"WEBP":
        return "image/webp"
    if b"%PDF-" in head[:_PDF_WITHIN]:
        return "application/pdf"
    extension = PurePosixPath(name.lower()).suffix
    text = decode_text(head)
    return _type_of_bytes(head, extension) if text is None else _type_of_text(text, extension)


def decode_text(data: bytes) -> str | None:
    """Return the start of a text, which may be cut inside of a character; None for other bytes."""
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        text = data.decode("utf-16", errors="replace")
    else:
        try:
            text = data.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            if error.start < len(data) - 3:
                return None
            text = data[: error.start].decode("utf-8-sig")
    # Escape starts the colours of logs; every other control character is no text.
    is_text = not re.search(r"[\x00-\x08\x0e-\x1a\x1c-\x1f]", text)
    return text if is_text else None


def is_accepted(media_type: str, accepted: str) -> bool:
    """Return whether a file of this type is what a schema's `contentMediaType` accepts."""
    accepted = media_type_of(accepted)
    if accepted in ("*/*", OCTETS, media_type):
        return True
    if accepted.endswith("/*"):
        return media_type.startswith(accepted[:-1])
    if media_type == "text/plain":  # has no signature: any text may be in the accepted format
        return accepted.startswith("text/") and accepted not in ("text/html", "text/javascript")
    # Nothing is known of these bytes, and the accepted type has no signature that is missing.
    return media_type == OCTETS and accepted not in SERVED and not accepted.startswith("text/")


def media_type_of(text: str) -> str:
    """Return a media type or a range such as `image/*` without parameters; `*/*` if it is none."""
    media_type = text.partition(";")[0].strip().lower()
    return media_type if _MEDIA_TYPE.fullmatch(media_type) else "*/*"


def served_media_type(media_type: str) -> str:
    """Return the Content-Type of a download, which never is one that browsers execute."""
    return media_type if media_type in SERVED else OCTETS


def _type_of_text(text: str, extension: str) -> str:
    start = text.lstrip()
    if start.startswith("<"):
        for pattern, media_type in _MARKUP:
            if pattern.search(start):
                return media_type
    if extension == ".json" and not start.startswith(("{", "[", '"')):
        return "text/plain"
    return _TEXTS.get(extension, "text/plain")


def _type_of_bytes(head: bytes, extension: str) -> str:
    try:
        matches = [match for match in puremagic.magic_string(head) if match.mime_type]
    except (puremagic.PureError, ValueError):
        return OCTETS
    by_extension = [match for match in matches if match.extension == extension]
    media_type = str((by_extension or matches)[0].mime_type) if matches else OCTETS
    media_type = _NAMES.get(media_type, media_type)
    is_claimed_above = media_type in SERVED - {"application/zip"} or "xml" in media_type
    # Not what a signature above or a text would be: the bytes only resemble it.
    if is_claimed_above and "openxml" not in media_type:
        return OCTETS
    return OCTETS if media_type.startswith("text/") else media_type
