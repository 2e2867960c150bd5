"""`GET /api/threads/<id>/events`: the log as JSON, or as a stream of server-sent events."""

from collections.abc import Callable
from uuid import UUID

from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.views.decorators.http import require_safe

from inbox.api.base.authentication import actor_of_request
from inbox.api.base.base_view import conditional_response
from inbox.api.base.field_types import Agui, Id
from inbox.api.base.openapi_descriptions import (
    EVENT_STREAM,
    describe_operation,
    header,
    page_parameters,
)
from inbox.api.base.pagination import Pagination, field_names
from inbox.api.base.schema import Schema
from inbox.api.runs.streams import encoded, stream
from inbox.feed import follow, take_stream_of_team
from inbox.platform import rate_limits
from inbox.platform.db_executor import in_db_thread
from inbox.queries.people.live_access import TeamReader
from inbox.queries.runs.events import read_events
from inbox.queries.runs.threads import thread_for
from inbox.rules import errors
from inbox.rules.people.access import Permission

PAGE, PAGE_BYTES = 1_000, 4 * 1024 * 1024


class LoggedEvent(Schema):
    seq: int
    run: Id
    event: Agui


class EventPage(Schema):
    results: list[LoggedEvent]
    next_after: int | None
    """The `after` of the next page; null on the last one."""


_SEQ = {"type": "string", "pattern": "^[0-9]{1,15}$"}
_AFTER = "The seq of the last event that the client has; 0 for none."
_LAST_EVENT_ID = header(
    "Last-Event-ID", "The seq of the last event that a browser has. Overrides `after`.", _SEQ
)


@describe_operation(
    "GET",
    "Read the log of a thread, or follow it",
    {200: (EventPage, EVENT_STREAM)},
    tag="threads",
    scope=Permission.READ,
    parameters=[*page_parameters(_SEQ, _AFTER, maximum=PAGE), _LAST_EVENT_ID],
    description="With `Accept: text/event-stream` the stream does not end; the `id:` of each event "
    "is its seq.",
    negotiates=False,
    refusals=(errors.InvalidInput, errors.LimitReached),
)
@require_safe
async def list_events(request: HttpRequest, thread_id: UUID) -> HttpResponseBase:
    wants_stream = "text/event-stream" in request.headers.get("Accept", "")
    if not wants_stream:
        return conditional_response(request, await in_db_thread(_page, request, thread_id))
    after, reader = await in_db_thread(_cursor, request, thread_id, is_stream=True)
    return stream(encoded(follow(thread_id, after, reader)))


def _page(request: HttpRequest, thread_id: UUID) -> HttpResponse:
    """Return a page; the bodies of events are JSON already and are not parsed."""
    after, _ = _cursor(request, thread_id)
    pagination = Pagination.of(request.GET, limit=PAGE, maximum=PAGE)
    names = field_names(request.GET.get("fields", ",".join(_FIELDS)), _FIELDS)
    rows, is_cut = read_events(
        thread_id=thread_id, after=after, limit=pagination.one_more, max_bytes=PAGE_BYTES
    )
    page = rows[: pagination.limit]
    following = page[-1][0] if is_cut or len(rows) > len(page) else "null"
    parts = [",".join(part(row) for name, part in _FIELDS.items() if name in names) for row in page]
    results = ",".join(f"{{{part}}}" for part in parts)
    text = f'{{"results":[{results}],"next_after":{following}}}'
    return HttpResponse(text, content_type="application/json")


_FIELDS: dict[str, Callable[[tuple[int, str, str, str]], str]] = {
    "seq": lambda row: f'"seq":{row[0]}',
    "run": lambda row: f'"run":"{row[1]}"',
    "event": lambda row: f'"event":{row[3]}',
}


def _cursor(
    request: HttpRequest, thread_id: UUID, *, is_stream: bool = False
) -> tuple[int, TeamReader]:
    """Return the seq to read from, and a check whether the actor may still read the log."""
    actor = actor_of_request(request)
    if is_stream:
        rate_limits.take_stream(actor)
    thread = thread_for(actor, thread_id)
    if is_stream:
        take_stream_of_team(thread.team_id)
    cursor = request.headers.get("Last-Event-ID") or request.GET.get("after") or "0"
    if not (cursor.isascii() and cursor.isdecimal() and len(cursor) < 16):
        raise errors.InvalidInput(
            "`after` and Last-Event-ID are the seq of an event, a whole number."
        )
    reader = TeamReader(actor, thread.team_id)
    return min(int(cursor), thread.next_seq - 1), reader
