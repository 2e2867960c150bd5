"""The views for claims, comments, read receipts, withdrawals, retries and cancellations."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.views.decorators.http import require_POST

from inbox import engine
from inbox.actions.decisions.claims_and_comments import (
    add_comment,
    claim_interrupt,
    record_view,
    release_claim,
    renew_claim,
)
from inbox.actions.decisions.withdrawals import withdraw_decision
from inbox.actions.runs.cancel_run import cancel_run
from inbox.queries.runs.threads import run_for
from inbox.rules import errors
from inbox.rules.decisions.gate import Entrance
from inbox.rules.decisions.list_filters import ListState
from inbox.rules.people.access import Actor
from inbox.web.base.list_filters import parse_list_request
from inbox.web.base.pages import is_fragment, page
from inbox.web.base.translate import say
from inbox.web.decisions.collaboration import Notice
from inbox.web.decisions.inbox_lists import card_of, show_interrupt
from inbox.web.runs.threads import show_thread

_SAID_ON_THE_PAGE = (
    errors.AlreadyDecided,
    errors.AlreadyResumed,
    errors.Claimed,
    errors.InterruptExpired,
    errors.InvalidInput,
    errors.NotClaimed,
)


@require_POST
@page
def claim(request: HttpRequest, actor: Actor, interrupt_id: UUID) -> HttpResponse:
    act = partial(claim_interrupt, take_over=request.POST.get("take_over") == "1")
    return _answer(request, actor, interrupt_id, act)


@require_POST
@page
def release(request: HttpRequest, actor: Actor, interrupt_id: UUID) -> HttpResponse:
    return _answer(request, actor, interrupt_id, release_claim)


@require_POST
@page
def renew(request: HttpRequest, actor: Actor, interrupt_id: UUID) -> HttpResponse:
    """Renew the claim; the claimant's page calls this every few minutes."""
    try:
        renew_claim(interrupt_id=interrupt_id, actor=actor)
    except _SAID_ON_THE_PAGE as refusal:
        return _refuse(request, actor, interrupt_id, refusal)
    return HttpResponse(status=204)


@require_POST
@page
def viewed(request: HttpRequest, actor: Actor, interrupt_id: UUID) -> HttpResponse:
    """Record that the user has viewed the interrupt; its page calls this once visible."""
    try:
        record_view(
            interrupt_id=interrupt_id, view_digest=request.POST.get("view_digest", ""), actor=actor
        )
    except errors.ViewChanged as refusal:
        return HttpResponse(say(refusal.message), status=409, content_type="text/plain")
    return HttpResponse(status=204)


@require_POST
@page
def withdraw(request: HttpRequest, actor: Actor, interrupt_id: UUID) -> HttpResponse:
    return _answer(request, actor, interrupt_id, withdraw_decision)


@require_POST
@page
def comment(request: HttpRequest, actor: Actor, interrupt_id: UUID) -> HttpResponse:
    # Browsers send every newline of a text area as CRLF.
    text = request.POST.get("text", "").replace("\r\n", "\n")
    return _answer(request, actor, interrupt_id, partial(add_comment, text=text), text)


@require_POST
@page
def retry(request: HttpRequest, actor: Actor, run_id: UUID) -> HttpResponse:
    return _answer_on_thread(request, actor, run_id, partial(engine.retry_run, run_id, actor))


@require_POST
@page
def cancel(request: HttpRequest, actor: Actor, run_id: UUID) -> HttpResponse:
    act = partial(cancel_run, run_id=run_id, actor=actor, entrance=Entrance.CANCEL_PAGE)
    return _answer_on_thread(request, actor, run_id, act)


def _answer_on_thread(
    request: HttpRequest, actor: Actor, run_id: UUID, act: Callable[[], Any]
) -> HttpResponse:
    """Call `act` and open the run's thread, with a notice if it was rejected."""
    thread_id = run_for(actor, run_id).thread_id
    try:
        act()
    except (errors.RetryRejected, errors.RunEnded, errors.Claimed) as refusal:
        return show_thread(request, actor, thread_id, notice=say(refusal.message), status=409)
    return HttpResponseRedirect(reverse("thread", args=[thread_id]), status=303)


def _answer(
    request: HttpRequest,
    actor: Actor,
    interrupt_id: UUID,
    act: Callable[..., Any],
    text: str = "",
) -> HttpResponse:
    """Call `act` and show the interrupt, with the error and `text` if it was rejected."""
    try:
        act(interrupt_id=interrupt_id, actor=actor)
    except _SAID_ON_THE_PAGE as refusal:
        return _refuse(request, actor, interrupt_id, refusal, text)
    if is_fragment(request):
        return show_interrupt(request, actor, card_of(actor, interrupt_id))
    suffix = parse_list_request(request, state=ListState.OPEN).suffix
    return HttpResponseRedirect(reverse("interrupt", args=[interrupt_id]) + suffix, status=303)


def _refuse(
    request: HttpRequest,
    actor: Actor,
    interrupt_id: UUID,
    refusal: errors.RequestRejected,
    text: str = "",
) -> HttpResponse:
    notice = Notice(say(refusal.message), text)
    card = replace(card_of(actor, interrupt_id), notice=notice)
    return show_interrupt(request, actor, card, status=_status(refusal))


def _status(refusal: errors.RequestRejected) -> int:
    if isinstance(refusal, errors.InvalidInput):
        return 422
    return 410 if isinstance(refusal, errors.InterruptExpired) else 409
