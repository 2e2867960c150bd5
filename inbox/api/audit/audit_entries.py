"""REST: the audit trail of teams and threads: read, search and export it."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any
from uuid import UUID

from django.http import HttpResponseBase, StreamingHttpResponse
from rest_framework.request import Request
from rest_framework.response import Response

from inbox import transparency_log
from inbox.api.base.base_view import ApiView
from inbox.api.base.field_types import (
    UNSET,
    Day,
    Id,
    OneOf,
    PersonName,
    Range,
    TeamName,
    Text,
    example,
)
from inbox.api.base.openapi_descriptions import (
    TextBody,
    describe_operation,
    page_parameters,
    query,
)
from inbox.api.base.pagination import NUMBER_CURSOR, page_response, reject_values
from inbox.api.base.schema import Page, Schema, source
from inbox.api.decisions.decisions import DIGEST
from inbox.platform.db_executor import iterate_in_db_threads
from inbox.queries.audit.audit_entries import entries_for
from inbox.queries.audit.deleted_threads import thread_of_trail
from inbox.queries.decisions.masked_values import bodies_of_entry, interrupt_bodies_by_id
from inbox.queries.runs import thread_children
from inbox.rules import errors
from inbox.rules.audit.audit_filters import UNDECIDED, EntryFilter
from inbox.rules.audit.export_formats import Format
from inbox.rules.decisions.list_filters import MAX_NAME_CHARACTERS, MAX_SEARCH_CHARACTERS
from inbox.rules.people.access import ActorKind, Permission
from inbox.rules.runs.states import ToolCallOutcome
from inbox.rules.schema.mask_agui import masked_detail

if TYPE_CHECKING:
    from inbox import models


operation = partial(describe_operation, tag="audit", scope=Permission.READ)

NAME = {"type": "string", "maxLength": MAX_NAME_CHARACTERS}
_DAY = {"type": "string", "format": "date"}
_ID = {"type": "string", "format": "uuid"}
#: Parameters of both searches.
FILTERS = [
    query("team", "Only those of this team.", NAME),
    query("agent", "Only those of this agent.", NAME),
    query("tool", "Only those about this tool.", NAME),
    query("decision", "Only those with this decision.", {"enum": [*ToolCallOutcome, UNDECIDED]}),
    query("since", "Only those from this day on (UTC).", _DAY),
    query("until", "Only those up to this day (UTC).", _DAY),
    query(
        "q",
        "Only those with all of these words.",
        {"type": "string", "maxLength": MAX_SEARCH_CHARACTERS},
    ),
]
_ENTRY_FILTERS = [
    query("thread", "Only those of this thread.", _ID),
    query("action", "Only this action, such as `interrupt.resolved`.", NAME),
    query("by", "Only what this person, key, agent or part of Signoff has done.", NAME),
]
PAGES = "A page may hold fewer rows than its limit, or none; continue until `next_after` is null."
_Name = Annotated[str, Text(MAX_NAME_CHARACTERS)]


class AuditActor(Schema):
    kind: ActorKind
    id: Annotated[str, example("3")]
    name: PersonName | None
    """Null if it was erased."""


class AuditEntry(Schema):
    seq: int
    """Its position in the chain of its thread, from 1 without gaps."""
    hash: Annotated[str, example(DIGEST)]
    action: Annotated[str, example("interrupt.resolved")]
    actor: AuditActor
    run: Id | None = source("run_id")
    interrupt: Id | None = source("interrupt_id")
    tool_call: Id | None = source("tool_call_id")
    detail: Annotated[dict[str, Any] | None, example({})]
    """Null if it was erased."""
    at: datetime


class TrailEntry(AuditEntry):
    id: int
    """Its position among all entries, which is the cursor of the search."""
    team: TeamName | None = source("team.slug")
    thread: Id | None = source("thread_id")
    """The thread whose chain it is in; null if it belongs to the team."""


class ExportInput(Schema):
    """A format, and the filters of `GET /api/audit`."""

    format: Format
    checkpoint: Annotated[int, Range(1, 10**15 - 1)] = UNSET
    team: Annotated[_Name, example("ops")] = ""
    thread: Id = UNSET
    agent: _Name = ""
    tool: _Name = ""
    by: _Name = ""
    action: _Name = ""
    decision: Annotated[str, OneOf(*ToolCallOutcome, UNDECIDED)] = ""
    since: Day = UNSET
    until: Day = UNSET
    q: Annotated[str, Text(MAX_SEARCH_CHARACTERS)] = ""


class AuditEntries(ApiView):
    @operation(
        "GET",
        "List the audit entries of a thread",
        {200: Page[AuditEntry]},
        tag="threads",
        parameters=page_parameters(NUMBER_CURSOR),
    )
    def list_audit_entries(self, request: Request, thread_id: UUID) -> Response:
        thread = thread_of_trail(self.actor, thread_id)
        pagination = self.pagination
        rows = thread_children.audit_entries_page(
            thread, limit=pagination.one_more, after=pagination.after_number
        )
        bodies = None if self.may_see_secrets else interrupt_bodies_by_id(rows)
        return pagination.page(rows, lambda row: _represent(row, bodies), lambda row: row.seq)

    @operation(
        "GET",
        "Search the audit trail, the latest entries first",
        {200: Page[TrailEntry]},
        parameters=[*FILTERS, *_ENTRY_FILTERS, *page_parameters(NUMBER_CURSOR)],
        description=f"Only administrators see entries about the team itself. {PAGES}",
        refusals=(errors.InvalidValue,),
    )
    def search_audit(self, request: Request) -> Response:
        pagination = self.pagination
        page = entries_for(
            self.actor,
            _filter(request.query_params.dict()),
            limit=pagination.limit,
            after=pagination.after_number or None,
        )
        bodies = None if self.may_see_secrets else interrupt_bodies_by_id(page.rows)
        return page_response(page.rows, page.after, lambda row: _represent(row, bodies, TrailEntry))


class AuditExport(ApiView):
    @operation(
        "POST",
        "Export the trail of a team or of a thread",
        {
            200: (
                TextBody(
                    "application/x-ndjson",
                    "With proofs; docs/audit.md describes the format.",
                    '{"checkpoint":"signoff-1f\\n128\\n…","scope":"part","signoff_audit":1}\n',
                ),
                TextBody(
                    "text/csv",
                    "A table whose cells are never formulas.",
                    "position,team,thread\r\n",
                ),
            )
        },
        scope=Permission.ADMIN,
        second_scope=Permission.READ,
        body=ExportInput,
        description="Exports at the same `checkpoint` are identical byte for byte. Each export "
        "adds an entry to the trail.",
        negotiates=False,
        refusals=(errors.InvalidValue, errors.NotFound, errors.NotSigned),
    )
    def export_audit(self, request: Request) -> HttpResponseBase:
        body = ExportInput.from_request(request)
        filters = body.model_dump(mode="json", exclude_unset=True, exclude={"format", "checkpoint"})
        export = transparency_log.export_trail(
            actor=self.actor,
            filters=_filter(filters),
            form=body.format,
            size=body.checkpoint,
        )
        return StreamingHttpResponse(
            iterate_in_db_threads(request._request, export.chunks),  # noqa: SLF001 - as the server gave it
            content_type=export.content_type,
            headers={"Content-Disposition": f'attachment; filename="{export.name}"'},
        )

    def perform_content_negotiation(self, request: Request, force: bool = False) -> Any:
        """Ignore `Accept`: the body names the format."""
        return super().perform_content_negotiation(request, force=True)


def _filter(query: dict[str, str]) -> EntryFilter:
    entry_filter, ignored = EntryFilter.from_query(query)
    reject_values(ignored)
    return entry_filter


def _represent(
    entry: "models.AuditEntry",
    bodies: Mapping[UUID, Sequence[str]] | None,
    model: type[AuditEntry] = AuditEntry,
) -> dict[str, Any]:
    """Return an entry, masked if there are `bodies`; erased names and texts are null."""
    is_kept = hasattr(entry, "payload")
    content = entry.content
    detail = content["detail"]
    if bodies is not None:
        detail = masked_detail(detail, *bodies_of_entry(entry, bodies))
    actor = {"kind": entry.actor_kind, "id": entry.actor_id, "name": content["actor"]}
    return model.represent(
        entry,
        actor=actor if is_kept else {**actor, "name": None},
        detail=detail if is_kept else None,
    )
