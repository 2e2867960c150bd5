"""Pages: uploads for the answer to a request, by scripts of the form."""

from uuid import UUID

from django.http import HttpRequest, HttpResponse, JsonResponse

from inbox.actions.files.uploads import upload_to_request
from inbox.platform.files.received_files import ReceivedFile
from inbox.queries.decisions.interrupts import interrupt_for
from inbox.rules import errors
from inbox.rules.people.access import Actor
from inbox.web.base.pages import post_page
from inbox.web.base.translate import translate

_STATUSES = {errors.TooLarge: 413, errors.StorageFull: 507, errors.AlreadyDecided: 409}


@post_page
def upload(request: HttpRequest, actor: Actor, interrupt_id: UUID) -> HttpResponse:
    """Store one file, and return its reference or the problem with it."""
    interrupt_for(actor, interrupt_id)
    received = request.FILES.get("file")
    if not isinstance(received, ReceivedFile):
        return JsonResponse({"problem": ""}, status=400)
    try:
        row = upload_to_request(
            interrupt_id=interrupt_id,
            file=received,
            actor=actor,
            accepts=request.POST.get("accepts", "")[:200],
        )
    except (errors.InvalidInput, errors.StorageFull, errors.AlreadyDecided) as refusal:
        statuses = (status for kind, status in _STATUSES.items() if isinstance(refusal, kind))
        return JsonResponse({"problem": translate(refusal.message)}, status=next(statuses, 422))
    return JsonResponse({"id": str(row.pk), "name": row.name, "size": row.size})
