"""The pages of threads: list and timeline."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID, uuid4

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.translation import gettext

from inbox.queries.decisions import interrupts
from inbox.queries.people.access import permissions_in
from inbox.queries.runs import threads
from inbox.rules.people.access import Actor, Permission
from inbox.rules.schema.secrets import NAMES
from inbox.rules.text.safe_text import escape_invisible, json_text
from inbox.web.base.pages import page, show
from inbox.web.runs.thread_timeline import timeline_of

_THREADS = 100


@dataclass(frozen=True)
class ThreadRow:
    """A thread in the list; equal rows have equal HTML."""

    pk: UUID
    title: str
    agent: str
    external_id: str
    at: datetime
    is_current: bool


@page
def thread_list(request: HttpRequest, actor: Actor) -> HttpResponse:
    return show(request, actor, "runs/threads.html", _list(actor), section="threads")


@page
def thread(request: HttpRequest, actor: Actor, thread_id: UUID) -> HttpResponse:
    return show_thread(request, actor, thread_id)


def show_thread(
    request: HttpRequest,
    actor: Actor,
    thread_id: UUID,
    *,
    notice: str = "",
    message: str = "",
    status: int = 200,
) -> HttpResponse:
    """Render a thread; `notice` is the error of an action, `message` the rejected input."""
    row = threads.thread_for(actor, thread_id)
    conversation = threads.current_conversation(row)
    state = conversation.state
    permissions = permissions_in(actor, row.team_id, row.agent_id)
    timeline = timeline_of(
        thread_id=row.pk,
        messages=conversation.messages,
        client_messages=conversation.client_messages,
        calls=threads.tool_calls_of(row),
        runs=threads.runs_of(row),
        errors=threads.errors_of(row),
        interrupts=interrupts.interrupts_of(row),
        actor=actor,
        may_decide=Permission.DECIDE in permissions,
        show_all="all" in request.GET,
    )
    context = {
        "thread": row,
        "title": escape_invisible(row.title) or gettext("Untitled thread"),
        "external_id": escape_invisible(row.external_id),
        "timeline": timeline,
        "state": "" if state in (None, {}) else json_text(NAMES.masked(state)),
        "notice": notice,
        "may_run": Permission.RUN in permissions,
        "message": message,
        "key": str(uuid4()),
        **_list(actor, row.pk),
    }
    return show(request, actor, "runs/thread.html", context, section="threads", status=status)


def _list(actor: Actor, current: UUID | None = None) -> dict[str, Any]:
    rows = [
        ThreadRow(
            pk=row.pk,
            title=row.title,
            agent=row.agent.slug,
            external_id=row.external_id,
            at=row.updated_at,
            is_current=row.pk == current,
        )
        for row in threads.recently_active_threads_for(actor, limit=_THREADS)
    ]
    return {"rows": rows, "list_title": gettext("Threads"), "list_url": reverse("threads")}
