"""Fields for files: which schemas become uploads, and what the answer has of a file."""

import base64
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.utils.translation import gettext

from inbox.forms import labels
from inbox.forms.form_nodes import FileField, Node
from inbox.forms.schema_resolver import types_of
from inbox.forms.values import ABSENT
from inbox.rules.files.file_types import is_accepted
from inbox.rules.files.references import MEMBERS, FileReference, parse_address

if TYPE_CHECKING:
    from inbox.forms.planner import Planner

#: The longest address of a file; a text that must be shorter is no address.
ADDRESS_CHARACTERS = 400
#: An answer with the bytes themselves has to stay below the size of a request body.
INLINE_BYTES = 1024 * 1024
_ADDRESS_FORMATS = ("uri", "uri-reference", "url", "iri", "binary", "data-url")
#: The schema of an answer without a schema to a request for a file.
ANY_FILE: dict[str, Any] = {"type": "object", "contentMediaType": "*/*"}


@dataclass(frozen=True)
class FormFiles:
    """The files that a form may have, and where its scripts send them."""

    find: Callable[[UUID], FileReference | None]
    read: Callable[[UUID], bytes]
    upload_url: str
    site: str  #: the base URL of the addresses in answers
    public_site: str  #: the base URL of this installation, "" if it is not set
    limit_bytes: int
    #: whether the request asks for a file, so that texts with an address are uploads as well
    is_requested: bool = False


def plan_file(planner: "Planner", node: Node) -> bool:
    """Plan an upload; return False if the schema or the agent's value is not one of a file."""
    files = planner.files
    kind = _kind_of(node.schema, is_requested=bool(files and files.is_requested))
    if files is None or kind is None or node.contains_mask:
        return False
    value = ABSENT if node.original is None else node.original
    reference = _reference_in(value, files)
    if value is not ABSENT and reference is None:
        return False
    node.kind = "file"
    accepts = node.schema.get("contentMediaType")
    is_inline = kind == "base64"
    node.file_field = FileField(
        kind=kind,
        accepts=accepts if isinstance(accepts, str) else "*/*",
        upload_url=files.upload_url,
        limit_bytes=min(files.limit_bytes, INLINE_BYTES) if is_inline else files.limit_bytes,
    )
    node.initial_text = str(reference.id) if reference else ""
    node.text = planner.current_text_of(node)
    node.file = _find(files, node.text)
    return True


def read_file(files: FormFiles, node: Node) -> tuple[Any, str]:
    """Return the value of a submitted upload, ABSENT without one, and the problem with it."""
    if not node.text or node.text == node.initial_text:
        return (node.original if node.text else ABSENT), ""
    problem = _problem_with(node)
    return (ABSENT, problem) if problem else (_value_of(files, node), "")


def _problem_with(node: Node) -> str:
    """Return why the file of a node cannot be part of the answer; "" if it can."""
    field, file = node.file_field, node.file
    if file is None or field is None:
        return gettext(labels.FILE_GONE)
    if not is_accepted(file.media_type, field.accepts):
        return gettext(labels.FILE_TYPE).format(
            media_type=file.media_type, accepted=field.accepts[:100]
        )
    return gettext(labels.FILE_TOO_LARGE) if file.size > field.limit_bytes else ""


def _value_of(files: FormFiles, node: Node) -> Any:
    """Return what the answer has of the file: its address, its reference or its bytes."""
    assert node.file_field is not None  # noqa: S101 - the planner has set it
    assert node.file is not None  # noqa: S101 - it has no problem
    if node.file_field.kind == "base64":
        return base64.b64encode(files.read(node.file.id)).decode()
    address = node.file.address(files.site)
    if node.file_field.kind == "address":
        return address
    reference = node.file.as_json(address)
    if node.schema.get("additionalProperties") is False:
        properties = node.schema.get("properties", {})
        return {name: value for name, value in reference.items() if name in properties}
    return reference


def _kind_of(schema: Mapping[str, Any], *, is_requested: bool) -> str | None:
    """Return what a schema's value has of a file: address, base64 or reference; None for others."""
    if {"pattern", "enum", "const"} & schema.keys():
        return None
    types = [name for name in types_of(schema) if name != "null"]
    is_file = "contentMediaType" in schema
    if types == ["object"]:
        needed = set(schema.get("required", ()))
        return "reference" if is_file and needed <= set(MEMBERS) else None
    format_name = schema.get("format")
    if types not in ([], ["string"]) or not (
        is_file or (is_requested and format_name in _ADDRESS_FORMATS)
    ):
        return None
    encoding = schema.get("contentEncoding")
    if encoding is not None and format_name not in _ADDRESS_FORMATS:
        return "base64" if encoding == "base64" else None
    is_short = schema.get("maxLength", ADDRESS_CHARACTERS) < ADDRESS_CHARACTERS
    return None if is_short or format_name not in (None, *_ADDRESS_FORMATS) else "address"


def _reference_in(value: Any, files: FormFiles) -> FileReference | None:
    """
    Return the stored file that a value refers to, None if the value says anything else.

    The form shows the file in place of the value: an address of another site, another digest or
    further members would be approved unseen.
    """
    text = value.get("url") if isinstance(value, Mapping) else value
    if not isinstance(text, str):
        return None
    address = parse_address(text)
    if address is None or address.site not in ("", files.public_site):
        return None
    file = files.find(address.id)
    if file is None or file.sha256 != address.sha256:
        return None
    if isinstance(value, Mapping) and not value.items() <= file.as_json(text).items():
        return None
    return file


def _find(files: FormFiles, text: str) -> FileReference | None:
    try:
        return files.find(UUID(text)) if text else None
    except ValueError:
        return None
