"""The download of a team's or thread's audit trail as a file."""

from collections.abc import Mapping

from django.http import HttpRequest, HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.urls import reverse
from django.utils.translation import gettext

from inbox import transparency_log
from inbox.platform.db_executor import iterate_in_db_threads
from inbox.rules.audit.audit_filters import EntryFilter
from inbox.rules.audit.export_formats import Format
from inbox.rules.errors import InvalidInput, NotSigned
from inbox.rules.people.access import Actor
from inbox.web.base.pages import post_page, show
from inbox.web.base.translate import translate


@post_page
def export(request: HttpRequest, actor: Actor) -> HttpResponseBase:
    filters, ignored = EntryFilter.from_query(request.POST.dict())
    if ignored:
        problem = gettext("The export has unknown filters.")
        return _refuse(request, actor, filters, problem)
    try:
        trail_export = transparency_log.export_trail(
            actor=actor, filters=filters, form=_format(request.POST)
        )
    except (InvalidInput, NotSigned) as refusal:
        return _refuse(request, actor, filters, translate(refusal.message))
    return StreamingHttpResponse(
        iterate_in_db_threads(request, trail_export.chunks),
        content_type=trail_export.content_type,
        headers={
            "Content-Disposition": f'attachment; filename="{trail_export.name}"',
            "Signoff-Entries": str(trail_export.entries),
        },
    )


def _format(posted: Mapping[str, str]) -> Format:
    try:
        return Format(posted.get("format", ""))
    except ValueError as error:
        raise InvalidInput(gettext("Choose a format.")) from error


def _refuse(request: HttpRequest, actor: Actor, filters: EntryFilter, problem: str) -> HttpResponse:
    """Render the error with a link back to the page of the export form."""
    back = reverse("audit_history", args=[filters.thread]) if filters.thread else reverse("audit")
    context = {"problem": problem, "back_url": back}
    return show(request, actor, "audit/export_refused.html", context, section="audit", status=422)
