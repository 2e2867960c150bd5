"""The view of the decision form: record the decision or render the form again."""

from dataclasses import replace
from uuid import UUID

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.utils.translation import gettext
from django.views.decorators.http import require_POST

from inbox.actions.audit.rejections import audit_rejected
from inbox.actions.decisions.decide import decide
from inbox.queries.decisions.interrupts import InterruptDetail, detail_for
from inbox.rules import errors
from inbox.rules.decisions.gate import Entrance, check_view
from inbox.rules.people.access import MISSING_PERMISSION, Actor, Permission
from inbox.rules.runs.states import InterruptStatus
from inbox.web.base.pages import is_fragment, page
from inbox.web.base.translate import say
from inbox.web.decisions.decision_form import UNSEEN_ID, Posted, Sheet
from inbox.web.decisions.inbox_lists import card_of, next_address, show_interrupt
from inbox.web.decisions.interrupt_page import Card, Refused
from inbox.web.decisions.submitted_answer import AnswerWrong, read_answer


@require_POST
@page
def decide_interrupt(request: HttpRequest, actor: Actor, interrupt_id: UUID) -> HttpResponse:
    posted = Posted(request.POST)
    try:
        if posted.is_draft:
            # A fragment leaves the page's digest unchanged, so there is nothing to check.
            if not is_fragment(request):
                _check_view(detail_for(actor, interrupt_id), posted)
            return show_interrupt(request, actor, card_of(actor, interrupt_id, posted))
        _decide(actor, interrupt_id, posted)
    except errors.ContractError as refusal:
        return _refuse(request, actor, interrupt_id, posted, refusal)
    return _go(request, next_address(request, actor, interrupt_id))


def _decide(actor: Actor, interrupt_id: UUID, posted: Posted) -> None:
    detail = detail_for(actor, interrupt_id)
    if not detail.may_decide:
        # Check permission before the answer's problems, which would not matter then.
        raise errors.Forbidden(MISSING_PERMISSION[Permission.DECIDE])
    with audit_rejected("decide", actor=actor, interrupt_id=interrupt_id):
        _check_view(detail, posted)
    status, payload = read_answer(Sheet(detail, posted), posted)
    decide(
        interrupt_id=interrupt_id,
        status=status,
        payload=payload,
        view_digest=posted.view_digest,
        actor=actor,
        entrance=Entrance.PAGE,
        unseen=posted.is_unseen,
    )


def _check_view(detail: InterruptDetail, posted: Posted) -> None:
    """
    Raise ViewChanged before the form is parsed.

    The page that is rendered next has a new digest, and would keep the old confirmations.
    """
    row = detail.interrupt
    if row.status == InterruptStatus.OPEN:
        check_view(sent=posted.view_digest, shown=row.shown_digest, is_required=True)


def _go(request: HttpRequest, address: str) -> HttpResponse:
    """Redirect to a page; through HX-Redirect for htmx."""
    if is_fragment(request):
        return HttpResponse(status=204, headers={"HX-Redirect": address})
    return HttpResponseRedirect(address, status=303)


def _refuse(
    request: HttpRequest,
    actor: Actor,
    interrupt_id: UUID,
    posted: Posted,
    refusal: errors.RequestRejected,
) -> HttpResponse:
    """Render the current interrupt with the error and the posted form."""
    if isinstance(refusal, errors.ViewChanged):
        posted = posted.unread()
    card = card_of(actor, interrupt_id, posted)
    refused = _refused(card, refusal)
    return show_interrupt(request, actor, replace(card, refused=refused), status=refused.status)


def _refused(card: Card, refusal: errors.RequestRejected) -> Refused:
    # Expiry comes first: the answer's other problems no longer matter.
    if card.row.status == InterruptStatus.EXPIRED or isinstance(refusal, errors.InterruptExpired):
        return Refused(
            410, gettext("This request has expired."), gettext("Your answer was not sent.")
        )
    if card.row.status != InterruptStatus.OPEN:
        return Refused(409, "", gettext("Your answer was not sent."))
    if isinstance(refusal, errors.Claimed):
        return Refused(
            409,
            say(refusal.message),
            gettext(
                "Your answer was not sent and is still in the form. Take over the "
                "request, or wait until it is released."
            ),
        )
    if isinstance(refusal, errors.ViewChanged):
        return Refused(
            409,
            gettext("The request changed after you opened this page."),
            gettext(
                "Your answer was not sent and is still in the form. Please review "
                "the request again."
            ),
        )
    return Refused(
        422, gettext("This answer was not sent."), say(refusal.message), _problems(card, refusal)
    )


def _problems(card: Card, refusal: errors.RequestRejected) -> list[tuple[str, str, str]]:
    """Return the field id, label and message of each problem."""
    if isinstance(refusal, AnswerWrong):
        return [(problem.field_id, problem.label, problem.message) for problem in refusal.problems]
    if isinstance(refusal, errors.MaskedNotSeen):
        return [(UNSEEN_ID, gettext("Masked values"), say(refusal.message))]
    return [
        (card.sheet.field_of(problem["pointer"]), problem["pointer"], say(problem["message"]))
        for problem in refusal.detail.get("problems", ())
    ]
