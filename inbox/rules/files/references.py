"""References to files on the wire, and the files that a value refers to."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from inbox.rules.schema.schema_walk import json_nodes

#: The members of a reference.
MEMBERS = ("id", "name", "media_type", "size", "sha256", "url")
_UUID = r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
#: An address as it is stored and signed: without a signature, and bound to the bytes.
_ADDRESS = re.compile(
    rf"(?P<site>https?://[^/?#\s]+)?/files/(?P<id>{_UUID})/(?P<query>\?[\w=&-]*)?"
    r"#sha256=(?P<sha256>[0-9a-f]{64})"
)
#: Every text with an address of a file has this; a cheap check before a search.
MARK = "/files/"
MAX_FILES = 20  #: of one request


@dataclass(frozen=True)
class FileReference:
    """A file as agents and clients get it, without its address."""

    id: UUID
    name: str
    media_type: str
    size: int
    sha256: str

    def address(self, site: str = "", query: str = "") -> str:
        """
        Return the address, which is stored without a query.

        `site` is the base URL without a slash at its end; `query` is that of a signed link.
        """
        return f"{site}/files/{self.id}/{query}#sha256={self.sha256}"

    def as_json(self, url: str) -> dict[str, Any]:
        values = (str(self.id), self.name, self.media_type, self.size, self.sha256, url)
        return dict(zip(MEMBERS, values, strict=True))

    def as_part(self, site: str) -> dict[str, Any]:
        """Return the file as a content part of a message (AG-UI)."""
        kind = self.media_type.partition("/")[0]
        return {
            "type": kind if kind in ("image", "audio", "video") else "document",
            "source": {"type": "url", "value": self.address(site), "mimeType": self.media_type},
            "metadata": {"filename": self.name, "size": self.size},
        }

    def facts(self) -> dict[str, Any]:
        """Return what the view digest and the row of an interrupt have of the file."""
        return {name: value for name, value in self.as_json("").items() if name != "url"}


@dataclass(frozen=True)
class FileAddress:
    """A file that a value refers to; `sha256` is what the value says of its bytes."""

    id: UUID
    sha256: str
    site: str = field(default="", compare=False)  #: "" for a path of any site


def parse_address(text: str) -> FileAddress | None:
    """Return the file that an address names; None for any other text."""
    match = _ADDRESS.fullmatch(text) if MARK in text else None
    if match is None:
        return None
    return FileAddress(UUID(match["id"]), match["sha256"], match["site"] or "")


def reference_of(facts: Mapping[str, Any]) -> FileReference:
    """Return the reference that `facts` describe."""
    values = {name: facts[name] for name in MEMBERS if name not in ("id", "url")}
    return FileReference(id=UUID(facts["id"]), **values)


def files_in(value: Any) -> Iterator[FileAddress]:
    """Yield the files whose addresses are in a JSON value."""
    for _, node in json_nodes(value):
        if isinstance(node, str):
            file = parse_address(node)
            if file is not None:
                yield file


def with_links(value: Any, link: Callable[[UUID], str]) -> Any:
    """
    Return a JSON value whose addresses of files have the query that `link` returns.

    `link` returns "" for files that the reader may not load by an address alone.
    """
    if isinstance(value, str):
        match = _ADDRESS.fullmatch(value) if MARK in value else None
        if match is None:
            return value
        query = link(UUID(match["id"]))
        return f"{match['site'] or ''}/files/{match['id']}/{query}#sha256={match['sha256']}"
    if isinstance(value, list):
        return [with_links(item, link) for item in value]
    if isinstance(value, dict):
        return {key: with_links(item, link) for key, item in value.items()}
    return value
