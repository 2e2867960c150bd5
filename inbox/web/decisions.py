"""Taking a decision from the form."""

from dataclasses import replace
from uuid import UUID

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.views.decorators.http import require_POST

from inbox.actions.decisions import decide
from inbox.domain import errors
from inbox.domain.access import Actor
from inbox.domain.states import InterruptStatus
from inbox.selectors.interrupts import InterruptDetail, detail_for
from inbox.web.answers import Posted, read_answer
from inbox.web.cards import Refused, kind_of, offered_args
from inbox.web.lists import card_of, show_interrupt
from inbox.web.pages import is_fragment, page


@require_POST
@page
def decide_interrupt(request: HttpRequest, actor: Actor, interrupt_id: UUID) -> HttpResponse:
    posted = Posted.of(request.POST)
    try:
        _decide(actor, detail_for(actor, interrupt_id), posted)
    except (
        errors.AlreadyDecided,
        errors.Claimed,
        errors.InterruptExpired,
        errors.InvalidPayload,
        errors.ViewChanged,
    ) as refusal:
        return _refuse(request, actor, interrupt_id, posted, refusal)
    if is_fragment(request):
        return show_interrupt(request, actor, card_of(actor, interrupt_id))
    address = reverse("interrupt", args=[interrupt_id])
    # The query is that of the list beside it.
    query = request.META.get("QUERY_STRING", "")
    return HttpResponseRedirect(f"{address}?{query}" if query else address, status=303)


def _decide(actor: Actor, detail: InterruptDetail, posted: Posted) -> None:
    status, payload = read_answer(posted, kind=kind_of(detail), offered=offered_args(detail))
    decide(
        interrupt_id=detail.interrupt.pk,
        status=status,
        payload=payload,
        view_digest=posted.view_digest,
        actor=actor,
    )


def _refuse(
    request: HttpRequest,
    actor: Actor,
    interrupt_id: UUID,
    posted: Posted,
    refusal: errors.Refusal,
) -> HttpResponse:
    """Show the interrupt as it is now, why the answer was not taken, and what the person wrote."""
    card = card_of(actor, interrupt_id, posted)
    refused = _refused(card.row.status, refusal)
    card = replace(card, refused=refused)
    return show_interrupt(request, actor, card, status=refused.status)


def _refused(status: str, refusal: errors.Refusal) -> Refused:
    # Who was too late has nothing left to correct, whatever else was wrong with the answer.
    if status == InterruptStatus.EXPIRED or isinstance(refusal, errors.InterruptExpired):
        return Refused(410, "This has expired.", "Your answer was not sent.", [])
    if status != InterruptStatus.OPEN:
        return Refused(409, "", "Your answer was not sent.", [])
    if isinstance(refusal, errors.Claimed):
        return Refused(
            409,
            refusal.message,
            "Your answer was not sent, and is still in the form. Take the request over, or wait "
            "until it is free.",
            [],
        )
    if isinstance(refusal, errors.ViewChanged):
        return Refused(
            409,
            "What is asked has changed since you opened this page.",
            "Your answer was not sent. Look at it again: what you wrote is still in the form.",
            [],
        )
    return Refused(422, "This answer was not sent.", refusal.message, _problems(refusal))


def _problems(refusal: errors.Refusal) -> list[tuple[str, str]]:
    """Each problem with the field that it is about."""
    field = refusal.detail.get("field")
    if field:
        return [(field, refusal.message)]
    return [
        (
            _field_of(problem["pointer"]),
            f"{problem['pointer'] or 'The answer'}: {problem['message']}",
        )
        for problem in refusal.detail.get("problems", ())
    ]


def _field_of(pointer: str) -> str:
    first = pointer.split("/")[1] if pointer else ""
    return {"editedArgs": "args", "reason": "reason", "outcome": "outcome"}.get(first, "answer")
