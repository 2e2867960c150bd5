"""REST: files: send, read, load and erase them."""

from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any
from uuid import UUID

from django.http import HttpResponseBase
from pydantic import Field
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response

from inbox.actions.files.downloads import record_download
from inbox.actions.files.file_erasure import erase_file
from inbox.actions.files.uploads import upload_for_agent
from inbox.api.base.base_view import ApiView
from inbox.api.base.field_types import AgentName, Id, PersonName, example
from inbox.api.base.openapi_descriptions import TextBody, describe_operation
from inbox.api.base.schema import Schema, source
from inbox.platform.files.downloads import download_response
from inbox.platform.files.received_files import ReceivedFile
from inbox.platform.http.site_address import site_of
from inbox.queries.agents import agents
from inbox.queries.files.files import attached_files, chunks_of, file_for, link_to, open_file
from inbox.rules import errors
from inbox.rules.files.file_types import OCTETS, SERVED
from inbox.rules.people.access import Permission

if TYPE_CHECKING:
    from inbox import models

operation = partial(describe_operation, tag="files", scope=Permission.READ)

Digest = Annotated[str, example("9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08")]


class FileInput(Schema):
    """The parts of a form; `file` is the one with the bytes."""

    agent: AgentName
    """The agent whose requests the file is for."""
    file: Annotated[str, Field(json_schema_extra={"format": "binary"}), example("the bytes")]


class FileReference(Schema):
    """A file of a request."""

    id: Id
    name: Annotated[str, example("invoice.pdf")]
    """Blank once the file is erased."""
    media_type: Annotated[str, example("application/pdf")]
    """By its content; what a client says of its type does not count."""
    size: int
    sha256: Digest
    url: Annotated[str, example("https://signoff.example/files/0199…/?expires=…&signature=…")]
    """A link to the bytes that needs no key and expires; reading the file again renews it."""


class File(FileReference):
    """A file, and what it is part of."""

    uploaded_by: PersonName
    created_at: datetime
    thread: Id | None = source("thread_id")
    """The thread whose requests or answers have the file; null until then."""
    erased_at: datetime | None


class Files(ApiView):
    parser_classes = [MultiPartParser]

    @operation(
        "POST",
        "Send a file",
        {201: File},
        scope=Permission.RUN,
        body=FileInput,
        body_type="multipart/form-data",
        description="Name its id in a run or a request within a day; it is erased otherwise.",
        refusals=(
            errors.FileTooLarge,
            errors.FileQuotaReached,
            errors.FileRefused,
            errors.StorageFull,
            errors.NotFound,
        ),
    )
    def upload_file(self, request: Request) -> Response:
        actor = self.actor
        received = request.FILES.getlist("file")
        if len(received) != 1 or not isinstance(received[0], ReceivedFile):
            raise errors.InvalidInput("Send one file as the part `file` of a form.")
        agent = agents.agent_for(actor, request.POST.get("agent", ""))
        row = upload_for_agent(
            team_id=agent.team_id, agent_id=agent.pk, file=received[0], actor=actor
        )
        return Response(represent_file(row, request), status=201)

    @operation("GET", "Read a file's description, with a new link", {200: File})
    def get_file(self, request: Request, file_id: UUID) -> Response:
        return Response(represent_file(file_for(self.actor, file_id), request))

    @operation(
        "DELETE",
        "Erase a file",
        {204: None},
        scope=Permission.ADMIN,
        description="Its digest is kept, because decisions are bound to it.",
    )
    def erase_file(self, request: Request, file_id: UUID) -> Response:
        erase_file(file_id=file_id, actor=self.actor)
        return Response(status=204)


class FileContent(ApiView):
    @operation(
        "GET",
        "Load the bytes of a file",
        {
            200: tuple(
                TextBody(
                    media_type,
                    "The bytes, as a download; of a type that no browser executes.",
                    "the bytes",
                    {"type": "string", "format": "binary"},
                )
                for media_type in (OCTETS, *sorted(SERVED))
            )
        },
        negotiates=False,
        refusals=(errors.FileErased, errors.FileChanged),
    )
    def get_file_content(self, request: Request, file_id: UUID) -> HttpResponseBase:
        row = file_for(self.actor, file_id)
        content = open_file(row)
        record_download(file=row, actor=self.actor)
        return download_response(
            request._request,  # noqa: SLF001 - as the server gave it
            chunks_of(content),
            name=row.name,
            media_type=row.media_type,
            size=row.size,
        )

    def perform_content_negotiation(self, request: Request, force: bool = False) -> Any:
        """Ignore `Accept`: the file is what it is."""
        return super().perform_content_negotiation(request, force=True)


def represent_file(row: "models.File", request: Request) -> dict[str, Any]:
    """Return a file with a new link."""
    return File.represent(row, url=link_to(row.reference, site_of(request)))


def represent_attached(row: "models.Interrupt", request: Request) -> list[dict[str, Any]]:
    """Return the files that the agent attached to a request, with new links; no query."""
    return attached_files(row, site_of(request)) if row.files else []
