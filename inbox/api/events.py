"""`GET /api/threads/<id>/events`: the log as JSON, or followed as server-sent events."""

from collections.abc import Callable, Sequence
from functools import partial
from uuid import UUID

from django.http import HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.views.decorators.http import require_safe

from inbox.api.authentication import actor_of_request
from inbox.api.streams import encoded, stream
from inbox.db_threads import in_db_thread
from inbox.domain.errors import InvalidInput
from inbox.feed import follow
from inbox.selectors.access import is_allowed_still
from inbox.selectors.events import read_events
from inbox.selectors.threads import thread_for

PAGE = 1_000


@require_safe
async def thread_events(request: HttpRequest, thread_id: UUID) -> HttpResponseBase:
    wants_stream = "text/event-stream" in request.headers.get("Accept", "")
    after, rows, may_read = await in_db_thread(_read, request, thread_id, wants_stream)
    if wants_stream:
        return stream(encoded(follow(thread_id, after, may_read)))
    events = ",".join(f'{{"seq":{seq},"run":"{run}","event":{body}}}' for seq, run, _, body in rows)
    more = rows[-1][0] if len(rows) == PAGE else None
    head = JsonResponse({"next_after": more}).content.decode()
    return HttpResponse(f'{{"results":[{events}],{head[1:]}', content_type="application/json")


def _read(
    request: HttpRequest, thread_id: UUID, wants_stream: bool
) -> tuple[int, Sequence[tuple[int, str, str, str]], Callable[[], bool]]:
    actor = actor_of_request(request)
    thread = thread_for(actor, thread_id)
    may_read = partial(is_allowed_still, actor, thread.team_id)
    cursor = request.headers.get("Last-Event-ID") or request.GET.get("after") or "0"
    if not (cursor.isascii() and cursor.isdecimal() and len(cursor) < 16):
        raise InvalidInput("`after` and Last-Event-ID are the seq of an event, a whole number.")
    after = min(int(cursor), thread.next_seq - 1)
    if wants_stream:
        return after, (), may_read
    return after, read_events(thread_id=thread_id, after=after, limit=PAGE), may_read
