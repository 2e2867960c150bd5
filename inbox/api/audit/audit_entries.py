"""REST about the audit trail of teams: searching and exporting it."""

from typing import Any

from django.http import HttpResponseBase, StreamingHttpResponse
from rest_framework.request import Request
from rest_framework.response import Response

from inbox.api.base.base_view import Caller
from inbox.api.base.openapi_descriptions import (
    Text,
    operation,
    page_parameters,
    query,
)
from inbox.api.base.pagination import NUMBER_CURSOR, Window, refuse_ignored
from inbox.api.base.request_models import ExportInput, checked
from inbox.api.base.response_models import Page, TrailCall, TrailEntry
from inbox.api.runs.threads import entry_json, tool_call_json
from inbox.platform.db_executor import iterate_in_db_threads
from inbox.queries.audit.audit_entries import entries_for
from inbox.queries.audit.tool_calls import tool_calls_for
from inbox.queries.decisions.masked_values import interrupt_bodies_by_id
from inbox.rules.audit.audit_filters import UNDECIDED, CallFilter, EntryFilter
from inbox.rules.audit.export_formats import Format
from inbox.rules.decisions.list_filters import MAX_NAME_CHARACTERS, MAX_SEARCH_CHARACTERS
from inbox.rules.errors import InvalidValue, NotFound, NotSigned
from inbox.rules.people.access import Permission
from inbox.rules.runs.states import ToolCallOutcome
from inbox.transparency_log import origin

_NAME = {"type": "string", "maxLength": MAX_NAME_CHARACTERS}
_DAY = {"type": "string", "format": "date"}
_ID = {"type": "string", "format": "uuid"}
#: What both searches are narrowed by.
_FILTERS = [
    query("team", "Of this team.", _NAME),
    query("agent", "Of this agent.", _NAME),
    query("tool", "About calls of this tool.", _NAME),
    query("decision", "What was decided.", {"enum": [*ToolCallOutcome, UNDECIDED]}),
    query("since", "From this day on (UTC).", _DAY),
    query("until", "Up to this day (UTC).", _DAY),
    query("q", "With all of these words.", {"type": "string", "maxLength": MAX_SEARCH_CHARACTERS}),
]
_DECIDED_BY = query("by", "Decided by this person or key, or `system:expiry`.", _NAME)
#: What entries are narrowed by beside.
_OF_ENTRIES = [
    query("thread", "Of this thread.", _ID),
    query("action", "This action, as `interrupt.resolved`.", _NAME),
    query("by", "Done by this person, key or agent, or a part of Signoff.", _NAME),
]
_LOOKS_ON = "A page may hold less than its limit, even nothing: it goes on at `next_after`."


class AuditTrail(Caller):
    @operation(
        "searchAudit",
        "Search the audit trail, the latest entries first",
        tag="audit",
        scope=Permission.READ,
        answers={200: Page[TrailEntry]},
        refuses=(InvalidValue,),
        parameters=[*_FILTERS, *_OF_ENTRIES, *page_parameters(NUMBER_CURSOR)],
        more=f"What a team does with itself is for its administrators. {_LOOKS_ON}",
    )
    def get(self, request: Request) -> Response:
        window = Window.of(request.query_params)
        found = entries_for(
            self.actor(request),
            _entries(request.query_params.dict()),
            limit=window.limit,
            after=window.after_number or None,
        )
        asked = None if self.may_see_secrets(request) else interrupt_bodies_by_id(found.rows)
        return _page(found, lambda entry: _trail_entry_json(entry, asked))


class ToolCalls(Caller):
    @operation(
        "searchToolCalls",
        "Search the tool calls, the latest first",
        tag="audit",
        scope=Permission.READ,
        answers={200: Page[TrailCall]},
        refuses=(InvalidValue,),
        parameters=[*_FILTERS, _DECIDED_BY],
        more=_LOOKS_ON,
    )
    def get(self, request: Request) -> Response:
        window = Window.of(request.query_params)
        wanted, ignored = CallFilter.from_query(request.query_params.dict())
        refuse_ignored(ignored)
        found = tool_calls_for(
            self.actor(request), wanted, limit=window.limit, after=window.after_id
        )
        whole = self.may_see_secrets(request)
        return _page(found, lambda call: _trail_call_json(call, whole=whole))


class AuditExport(Caller):
    @operation(
        "exportAudit",
        "Export the trail of a team or of a thread",
        tag="audit",
        scope=Permission.ADMIN,
        also=Permission.READ,
        answers={
            200: (
                Text(
                    "application/x-ndjson",
                    "With proofs, as docs/audit.md has it.",
                    '{"checkpoint":"signoff-1f\\n128\\n…","scope":"part","signoff_audit":1}\n',
                ),
                Text(
                    "text/csv", "A table; no cell of it is a formula.", "position,team,thread\r\n"
                ),
            )
        },
        takes=ExportInput,
        refuses=(InvalidValue, NotFound, NotSigned),
        more="Of the same `checkpoint` it is the same, byte by byte. It is in the trail itself "
        "that, what and by whom was exported.",
        negotiates=False,
    )
    def post(self, request: Request) -> HttpResponseBase:
        given = dict(checked(ExportInput, request))
        form, size = Format(given.pop("format")), given.pop("checkpoint", None)
        wanted = _entries({name: str(value) for name, value in given.items()})
        export = origin.export_trail(actor=self.actor(request), wanted=wanted, form=form, size=size)
        return StreamingHttpResponse(
            iterate_in_db_threads(request._request, export.chunks),  # noqa: SLF001 - as the server gave it
            content_type=export.kind,
            headers={"Content-Disposition": f'attachment; filename="{export.name}"'},
        )

    def perform_content_negotiation(self, request: Request, force: bool = False) -> Any:
        """What it answers in, the body says."""
        return super().perform_content_negotiation(request, force=True)


def _entries(query: dict[str, str]) -> EntryFilter:
    wanted, ignored = EntryFilter.from_query(query)
    refuse_ignored(ignored)
    return wanted


def _page(found: Any, shape: Any) -> Response:
    following = str(found.after) if found.after is not None else None
    return Response({"results": list(map(shape, found.rows)), "next_after": following})


def _trail_entry_json(entry: Any, asked: Any) -> dict[str, Any]:
    return {
        "id": entry.pk,
        "team": entry.team.slug if entry.team else None,
        "thread": str(entry.thread_id) if entry.thread_id else None,
        **entry_json(entry, asked),
    }


def _trail_call_json(call: Any, *, whole: bool) -> dict[str, Any]:
    return {
        "agent": call.agent.slug,
        "thread": str(call.thread_id),
        "thread_id": call.thread.external_id,
        "decision": call.verdict or None,
        "decided_by": call.decided_by or None,
        **tool_call_json(call, whole=whole),
    }
