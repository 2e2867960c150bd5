"""Files in the decision form: those of scripts, which are stored, and those sent with the form."""

from collections.abc import Iterable
from typing import TYPE_CHECKING
from uuid import UUID

from django.conf import settings
from django.http import HttpRequest, QueryDict
from django.urls import reverse

from inbox.actions.files.uploads import upload_to_request
from inbox.forms.file_fields import FormFiles
from inbox.forms.form_nodes import Node
from inbox.platform.files.received_files import ReceivedFile
from inbox.queries.files.files import file_of_request, open_file
from inbox.rules.errors import InvalidInput, StorageFull
from inbox.rules.files.references import FileReference
from inbox.rules.people.access import Actor
from inbox.rules.presentations.reasons import UPLOAD_REQUIRED
from inbox.web.base.translate import translate

if TYPE_CHECKING:
    from inbox.models import Interrupt

_FILE, _NEW, _PROBLEM = "@file", "@new", "@problem"


def form_files(row: "Interrupt", site: str) -> FormFiles:
    """Return the files that the form of a request may have."""

    def find(file_id: UUID) -> FileReference | None:
        file = file_of_request(row, file_id)
        return file.reference if file else None

    def read(file_id: UUID) -> bytes:
        file = file_of_request(row, file_id)
        if file is None:
            return b""
        with open_file(file) as content:
            return content.read()

    return FormFiles(
        find=find,
        read=read,
        upload_url=reverse("upload_file", args=[row.pk]),
        site=site,
        public_site=settings.PUBLIC_URL,
        limit_bytes=settings.FILE_BYTES,
        is_requested=row.reason.removeprefix("draft:") == UPLOAD_REQUIRED,
    )


def has_uploads(request: HttpRequest) -> bool:
    """Return whether a form has files that are not part of its fields yet."""
    is_marked = any(name.endswith((_NEW, _PROBLEM)) for name in request.POST)
    return is_marked or any(name.endswith(_FILE) for name in request.FILES)


def store_uploads(
    request: HttpRequest, actor: Actor, interrupt_id: UUID, nodes: Iterable[Node]
) -> QueryDict:
    """
    Store the files of a form, and return its data with their ids.

    A file that is refused becomes the error of its field. Files for other fields are ignored.

    Raises:
        NotFound, Forbidden, AlreadyDecided.
    """
    data = request.POST.copy()
    for name in [name for name in data if name.endswith(_PROBLEM)]:
        del data[name]
    for node in nodes:
        if node.file_field is None:
            continue
        ids = [part for part in data.get(node.name + _NEW, "").split(",") if part]
        data.pop(node.name + _NEW, None)
        for received in request.FILES.getlist(node.name + _FILE):
            if isinstance(received, ReceivedFile):
                try:
                    accepts = node.file_field.accepts
                    row = upload_to_request(
                        interrupt_id=interrupt_id, file=received, actor=actor, accepts=accepts
                    )
                    ids.append(str(row.pk))
                except (InvalidInput, StorageFull) as refusal:
                    data[node.name + _PROBLEM] = translate(refusal.message)
        if ids and node.kind == "list":
            _append(data, node, ids)
        elif ids:
            data[node.name] = ids[-1]
    return data


def _append(data: QueryDict, node: Node, ids: list[str]) -> None:
    """Add a row for each file to a list of files."""
    tokens = [row.token for row in node.rows]
    first = max([node.next_token - 1, *tokens]) + 1
    # A row without a file is one that was added to choose a file in.
    blank = [row for row in node.rows if not data.get(row.node.name)]
    for row, file_id in zip(blank, ids, strict=False):
        data[row.node.name] = file_id
    for number, file_id in enumerate(ids[len(blank) :]):
        tokens.append(first + number)
        data[f"{node.name}/{first + number}"] = file_id
    data[f"{node.name}@rows"] = ",".join(map(str, tokens))
    data[f"{node.name}@on"] = "on"
