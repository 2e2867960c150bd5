"""The views for claims, comments, read receipts, withdrawals, retries and cancellations."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse

from inbox import engine
from inbox.actions.decisions.claims_and_comments import (
    add_comment,
    claim_interrupt,
    record_view,
    release_claim,
    renew_claim,
)
from inbox.actions.decisions.endorsements import withdraw_endorsement
from inbox.actions.decisions.withdrawals import withdraw_decision
from inbox.actions.runs.cancel_run import cancel_run
from inbox.queries.runs.threads import run_for
from inbox.rules import errors
from inbox.rules.decisions.gate import Entrance
from inbox.rules.decisions.list_filters import ListState
from inbox.rules.people.access import Actor
from inbox.web.base.list_filters import parse_list_request
from inbox.web.base.pages import is_fragment, post_page, see_other
from inbox.web.base.translate import translate
from inbox.web.decisions.inbox_lists import asks_for_part, page_of, show_interrupt
from inbox.web.decisions.interrupt_page import Notice
from inbox.web.runs.threads import show_thread

_DISPLAYED_ERRORS = (
    errors.AlreadyDecided,
    errors.AlreadyResumed,
    errors.Claimed,
    errors.InterruptExpired,
    errors.InvalidInput,
    errors.NotClaimed,
)


@post_page
def claim(request: HttpRequest, actor: Actor, interrupt_id: UUID) -> HttpResponse:
    act = partial(claim_interrupt, take_over=request.POST.get("take_over") == "1")
    return run_action(request, actor, interrupt_id, act)


@post_page
def release(request: HttpRequest, actor: Actor, interrupt_id: UUID) -> HttpResponse:
    return run_action(request, actor, interrupt_id, release_claim)


@post_page
def renew(request: HttpRequest, actor: Actor, interrupt_id: UUID) -> HttpResponse:
    """Renew the claim; the claimant's page calls this every few minutes."""
    try:
        renew_claim(interrupt_id=interrupt_id, actor=actor)
    except _DISPLAYED_ERRORS as refusal:
        return _show_error(request, actor, interrupt_id, refusal)
    return HttpResponse(status=204)


@post_page
def viewed(request: HttpRequest, actor: Actor, interrupt_id: UUID) -> HttpResponse:
    """Record that the user has viewed the interrupt; its page calls this once visible."""
    try:
        record_view(
            interrupt_id=interrupt_id, view_digest=request.POST.get("view_digest", ""), actor=actor
        )
    except errors.ViewChanged as refusal:
        return HttpResponse(translate(refusal.message), status=409, content_type="text/plain")
    return HttpResponse(status=204)


@post_page
def withdraw(request: HttpRequest, actor: Actor, interrupt_id: UUID) -> HttpResponse:
    if asks_for_part(request):  # the page opens the request by itself
        try:
            withdraw_decision(interrupt_id=interrupt_id, actor=actor)
        except _DISPLAYED_ERRORS as refusal:
            return HttpResponse(status=_status_of(refusal))
        return HttpResponse(status=204)
    return run_action(request, actor, interrupt_id, withdraw_decision)


@post_page
def withdraw_approval(request: HttpRequest, actor: Actor, interrupt_id: UUID) -> HttpResponse:
    return run_action(request, actor, interrupt_id, withdraw_endorsement)


@post_page
def comment(request: HttpRequest, actor: Actor, interrupt_id: UUID) -> HttpResponse:
    # Browsers send every newline of a text area as CRLF.
    text = request.POST.get("text", "").replace("\r\n", "\n")
    return run_action(request, actor, interrupt_id, partial(add_comment, text=text), text)


@post_page
def retry(request: HttpRequest, actor: Actor, run_id: UUID) -> HttpResponse:
    return _run_thread_action(request, actor, run_id, partial(engine.retry_run, run_id, actor))


@post_page
def cancel(request: HttpRequest, actor: Actor, run_id: UUID) -> HttpResponse:
    act = partial(cancel_run, run_id=run_id, actor=actor, entrance=Entrance.CANCEL_PAGE)
    return _run_thread_action(request, actor, run_id, act)


def _run_thread_action(
    request: HttpRequest, actor: Actor, run_id: UUID, act: Callable[[], Any]
) -> HttpResponse:
    """Call `act` and open the run's thread, with a notice if it was rejected."""
    thread_id = run_for(actor, run_id).thread_id
    try:
        act()
    except (errors.RetryRejected, errors.RunEnded, errors.Claimed) as refusal:
        return show_thread(request, actor, thread_id, notice=translate(refusal.message), status=409)
    return see_other("thread", thread_id)


def run_action(
    request: HttpRequest,
    actor: Actor,
    interrupt_id: UUID,
    act: Callable[..., Any],
    text: str = "",
) -> HttpResponse:
    """Call `act` and show the interrupt, with the error and `text` if it was rejected."""
    try:
        act(interrupt_id=interrupt_id, actor=actor)
    except _DISPLAYED_ERRORS as refusal:
        return _show_error(request, actor, interrupt_id, refusal, text)
    if is_fragment(request):
        return show_interrupt(request, actor, page_of(actor, interrupt_id))
    suffix = parse_list_request(request, state=ListState.OPEN).suffix
    return HttpResponseRedirect(reverse("interrupt", args=[interrupt_id]) + suffix, status=303)


def _show_error(
    request: HttpRequest,
    actor: Actor,
    interrupt_id: UUID,
    refusal: errors.RequestRejected,
    text: str = "",
) -> HttpResponse:
    notice = Notice(translate(refusal.message), text)
    view = replace(page_of(actor, interrupt_id), notice=notice)
    return show_interrupt(request, actor, view, status=_status_of(refusal))


def _status_of(refusal: errors.RequestRejected) -> int:
    if isinstance(refusal, errors.InvalidInput):
        return 422
    return 410 if isinstance(refusal, errors.InterruptExpired) else 409
