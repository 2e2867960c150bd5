"""The page of a thread."""

from uuid import UUID, uuid4

from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext

from inbox.actions.audit.thread_deletion import keep_thread
from inbox.platform import clock
from inbox.queries.decisions import interrupts
from inbox.queries.people.access import permissions_in
from inbox.queries.runs import threads
from inbox.queries.runs.agent_errors import agent_errors_of
from inbox.queries.runs.thread_runs import endorsements_of, waits_of
from inbox.rules.people.access import Actor, Permission
from inbox.rules.schema.secrets import NAMES
from inbox.rules.text.safe_text import escape_invisible, json_text
from inbox.web.base.pages import page, post_page, see_other, show
from inbox.web.runs.thread_timeline import RunErrors, timeline_of
from inbox.web.runs.waterfall import ThreadRows, waterfall_of


@page
def thread(request: HttpRequest, actor: Actor, thread_id: UUID) -> HttpResponse:
    return show_thread(request, actor, thread_id)


@post_page
def keep(request: HttpRequest, actor: Actor, thread_id: UUID) -> HttpResponse:
    """Keep a thread whatever its age, or let its team's retention apply again."""
    keep_thread(thread_id=thread_id, is_kept=request.POST.get("keep") == "1", actor=actor)
    return see_other("thread", thread_id)


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
    calls, runs = threads.tool_calls_of(row), threads.runs_of(row)
    requests = interrupts.interrupts_of(row)
    timeline = timeline_of(
        thread_id=row.pk,
        messages=conversation.messages,
        client_messages=conversation.client_messages,
        calls=calls,
        runs=runs,
        errors=RunErrors(threads.errors_of(row), agent_errors_of(row)),
        interrupts=requests,
        actor=actor,
        may_decide=Permission.DECIDE in permissions,
        show_all="all" in request.GET,
    )
    context = {
        "thread": row,
        "title": escape_invisible(row.title) or gettext("Untitled thread"),
        "external_id": escape_invisible(row.external_id),
        "timeline": timeline,
        "waterfall": waterfall_of(
            ThreadRows(runs, calls, requests, endorsements_of(row.pk), waits_of([row.pk])),
            start=row.created_at,
            now=clock.now(),
            me=actor.user_id,
            show_all="all" in request.GET,
        ),
        "is_open": bool(notice) or "all" in request.GET,
        "may_decide": Permission.DECIDE in permissions,
        "state": "" if state in (None, {}) else json_text(NAMES.masked(state)),
        "notice": notice,
        "may_run": Permission.RUN in permissions,
        "may_keep": Permission.ADMIN in permissions,
        "message": message,
        "key": str(uuid4()),
    }
    return show(request, actor, "runs/thread.html", context, section="runs", status=status)
