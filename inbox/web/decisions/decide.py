"""The view of the decision form: record the decision or render the form again."""

from dataclasses import replace
from uuid import UUID

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext

from inbox.actions.audit.rejections import audit_rejected
from inbox.actions.decisions.decide import decide
from inbox.platform.http.site_address import site_of
from inbox.queries.decisions.interrupts import InterruptDetail, detail_for
from inbox.rules import errors
from inbox.rules.decisions.gate import Entrance, check_view
from inbox.rules.people.access import MISSING_PERMISSION, Actor, Permission
from inbox.rules.policies.grants import GrantInvalid, GrantRequest
from inbox.rules.runs.states import InterruptStatus
from inbox.rules.text.messages import TranslatableMessage
from inbox.web.base.pages import is_fragment, post_page
from inbox.web.base.step_up import confirm_identity_url
from inbox.web.base.toasts import toast_of
from inbox.web.base.translate import translate
from inbox.web.decisions.decision_form import RESTORED_ID, UNSEEN_ID, DecisionForm, Submission
from inbox.web.decisions.inbox_lists import next_url, page_of, show_interrupt
from inbox.web.decisions.interrupt_page import InterruptPage, Rejection
from inbox.web.decisions.submitted_answer import InvalidAnswer, read_answer
from inbox.web.files.form_uploads import has_uploads, store_uploads
from inbox.web.policies.grant_form import GrantForm, grant_problems, may_have_grant_form

#: The draft of a page that replaces its list of changes only.
_CHANGES = "changes"


@post_page
def decide_interrupt(request: HttpRequest, actor: Actor, interrupt_id: UUID) -> HttpResponse:
    submission = Submission(request.POST, site_of(request))
    try:
        submission = _with_uploads(request, actor, interrupt_id, submission)
        if submission.is_draft:
            # A fragment leaves the page's digest unchanged, so there is nothing to check.
            if not is_fragment(request):
                _check_view(detail_for(actor, interrupt_id), submission)
            view = page_of(actor, interrupt_id, submission)
            if is_fragment(request) and submission.data["draft"] == _CHANGES:
                return render(request, "decisions/answer/preview.html", {"page": view})
            return show_interrupt(request, actor, view)
        _decide(actor, interrupt_id, submission)
    except (errors.ContractError, errors.InvalidValue) as refusal:
        return _show_rejected(request, actor, interrupt_id, submission, refusal)
    return _redirect(request, actor, interrupt_id)


def _with_uploads(
    request: HttpRequest, actor: Actor, interrupt_id: UUID, submission: Submission
) -> Submission:
    """Return the submission with the ids of its files in place of their bytes."""
    if not has_uploads(request):
        return submission
    form = DecisionForm(detail_for(actor, interrupt_id), submission)
    nodes = [
        node
        for part in (form.arguments_form, form.answer_form)
        if part is not None
        for node in part.root.walk()
    ]
    data = store_uploads(request, actor, interrupt_id, nodes)
    return replace(submission, data=data)


def _decide(actor: Actor, interrupt_id: UUID, submission: Submission) -> None:
    detail = detail_for(actor, interrupt_id)
    if not detail.may_decide:
        # Check permission before the answer's problems, which would not matter then.
        raise errors.Forbidden(MISSING_PERMISSION[Permission.DECIDE])
    with audit_rejected("decide", actor=actor, interrupt_id=interrupt_id):
        _check_view(detail, submission)
    form = DecisionForm(detail, submission)
    status, payload = read_answer(form, submission)
    decide(
        interrupt_id=interrupt_id,
        status=status,
        payload=payload,
        view_digest=submission.view_digest,
        actor=actor,
        entrance=Entrance.OVERRIDE_PAGE if submission.overrides else Entrance.PAGE,
        unseen=submission.is_unseen,
        grant=_grant(form, submission),
        despite_restore=submission.is_despite_restore,
        override_reason=submission.override_reason if submission.overrides else "",
    )


def _grant(form: DecisionForm, submission: Submission) -> GrantRequest | None:
    args = form.proposed_values
    if not submission.allows_more:
        return None
    if not may_have_grant_form(args):
        raise GrantInvalid(TranslatableMessage("The arguments are too large for a grant."))
    return GrantForm(args, form.masked_values, submission.data).read()


def _check_view(detail: InterruptDetail, submission: Submission) -> None:
    """
    Raise ViewChanged before the form is parsed.

    The page that is rendered next has a new digest, and would keep the old confirmations.
    """
    row = detail.interrupt
    if row.status == InterruptStatus.OPEN:
        check_view(sent=submission.view_digest, current=row.shown_digest, is_required=True)


def _redirect(request: HttpRequest, actor: Actor, interrupt_id: UUID) -> HttpResponse:
    """Lead to the list's next request; a page that shows it by itself gets the toast."""
    address = next_url(request, actor, interrupt_id)
    if not is_fragment(request):
        return HttpResponseRedirect(address, status=303)
    context = {"toast": toast_of(interrupt_id, actor)}
    response = render(request, "base/toast.html", context)
    response.headers["HX-Redirect"] = address
    return response


def _show_rejected(
    request: HttpRequest,
    actor: Actor,
    interrupt_id: UUID,
    submission: Submission,
    refusal: errors.RequestRejected,
) -> HttpResponse:
    """Render the current interrupt with the error and the posted form."""
    if isinstance(refusal, errors.ViewChanged):
        submission = submission.without_confirmations()
    view = page_of(actor, interrupt_id, submission)
    rejection = _rejection(request, view, refusal)
    return show_interrupt(
        request, actor, replace(view, rejection=rejection), status=rejection.status
    )


def _rejection(
    request: HttpRequest, view: InterruptPage, refusal: errors.RequestRejected
) -> Rejection:
    # Expiry comes first: the answer's other problems no longer matter.
    if view.interrupt.status == InterruptStatus.EXPIRED or isinstance(
        refusal, errors.InterruptExpired
    ):
        return Rejection(
            410, gettext("This request has expired."), gettext("Your answer was not sent.")
        )
    if view.interrupt.status != InterruptStatus.OPEN:
        return Rejection(409, "", gettext("Your answer was not sent."))
    if isinstance(refusal, errors.Claimed):
        return Rejection(
            409,
            translate(refusal.message),
            gettext(
                "Your answer was not sent and is still in the form. Take over the "
                "request, or wait until it is released."
            ),
        )
    if isinstance(refusal, errors.ViewChanged):
        return Rejection(
            409,
            gettext("The request changed after you opened this page."),
            gettext(
                "Your answer was not sent and is still in the form. Please review "
                "the request again."
            ),
        )
    return Rejection(
        503 if isinstance(refusal, errors.AuditSinkLags) else 422,
        gettext("This answer was not sent."),
        translate(refusal.message),
        _problems(view, refusal),
        *_confirmation(request, view, refusal),
    )


def _confirmation(
    request: HttpRequest, view: InterruptPage, refusal: errors.RequestRejected
) -> tuple[str, bool]:
    if not isinstance(refusal, errors.SignInTooOld):
        return "", False
    return confirm_identity_url(request, reverse("interrupt", args=[view.interrupt.pk]))


def _problems(view: InterruptPage, refusal: errors.RequestRejected) -> list[tuple[str, str, str]]:
    """Return the field id, label and message of each problem."""
    if isinstance(refusal, InvalidAnswer):
        return [(problem.field_id, problem.label, problem.message) for problem in refusal.problems]
    if isinstance(refusal, errors.MaskedNotSeen):
        return [(UNSEEN_ID, gettext("Masked values"), translate(refusal.message))]
    if isinstance(refusal, errors.RestoreNotChecked):
        return [(RESTORED_ID, gettext("Restored from a backup"), translate(refusal.message))]
    if isinstance(refusal, GrantInvalid) and view.grant_form:
        return grant_problems(view.grant_form, refusal.detail.get("problems", ()), translate)
    return [
        (
            view.form.field_of(problem["pointer"]),
            problem["pointer"],
            translate(problem["message"]),
        )
        for problem in refusal.detail.get("problems", ())
    ]
