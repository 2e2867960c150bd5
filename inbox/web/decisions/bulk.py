"""The pages for bulk review, bulk decisions and their withdrawal."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext
from django.views.decorators.http import require_POST, require_safe

from inbox.actions.decisions.bulk import BulkResult, decide_many, withdraw_many
from inbox.platform import clock
from inbox.queries.decisions.bulk_reviews import (
    MAX_BULK_INTERRUPTS,
    bulk_review_for,
    similar_review_for,
)
from inbox.queries.decisions.collaboration import withdrawable_by
from inbox.rules.decisions.gate import Entrance
from inbox.rules.errors import Forbidden, NotFound
from inbox.rules.people.access import MISSING_PERMISSION, Actor, Permission
from inbox.rules.runs.states import EntryStatus, InterruptStatus
from inbox.rules.text.safe_text import escape_invisible
from inbox.web.base.list_filters import list_before, list_url
from inbox.web.base.pages import page, show
from inbox.web.base.translate import say
from inbox.web.decisions.bulk_review import Group, groups_of
from inbox.web.decisions.decision_labels import verdict_of

_NOTE_CHARACTERS = 2_000


@dataclass(frozen=True)
class Outcome:
    """The result for one interrupt of a bulk decision."""

    row: Any
    title: str
    word: str  #: "Bob approved", or the error
    icon: str
    tone: str
    is_done: bool
    can_undo: bool


@require_safe
@page
def similar(request: HttpRequest, actor: Actor, interrupt_id: UUID) -> HttpResponse:
    bulk_review = similar_review_for(actor, interrupt_id)
    # Similar interrupts can be selected at once: one table has all their differences.
    everything = request.GET.get("tick") == "all"
    ticked = [row.pk for row in bulk_review.rows] if everything else []
    context = {"is_similar": True, "everything": everything, "more": bulk_review.more}
    return _show(request, actor, bulk_review.rows, ticked=ticked, **context)


@require_safe
@page
def review(request: HttpRequest, actor: Actor) -> HttpResponse:
    bulk_review = bulk_review_for(actor, _ids(request.GET.getlist("id")))
    return _show(request, actor, bulk_review.rows, more=bulk_review.more)


@require_POST
@page
def decide_ticked(request: HttpRequest, actor: Actor) -> HttpResponse:
    """Decide the selected interrupts; each succeeds or fails on its own."""
    digests = _boxes(request.POST.getlist("item")[:MAX_BULK_INTERRUPTS])
    listed_ids = _ids(request.POST.getlist("shown"))
    rows = _rows_to_decide(actor, [*digests, *listed_ids])
    note = request.POST.get("reason", "").replace("\r\n", "\n").strip()
    answer = {"approve": True, "reject": False}.get(request.POST.get("action", ""))
    ticked = [row for row in rows if row.pk in digests]
    problem = _problem(answer, note, ticked)
    if problem:
        return _show(
            request, actor, rows, ticked=list(digests), status=422, problem=problem, note=note
        )
    results = decide_many(
        items=[(row.pk, digests[row.pk]) for row in ticked],
        status=EntryStatus.RESOLVED,
        payload={"approved": answer, **({"reason": note} if note else {})},
        actor=actor,
        entrance=Entrance.BULK_PAGE,
    )
    refused = _refusals(results)
    left = [row.pk for row in rows if row.pk not in digests or row.pk in refused]
    return _show_outcomes(request, actor, [row.pk for row in ticked], refused, left)


@require_POST
@page
def withdraw_decided(request: HttpRequest, actor: Actor) -> HttpResponse:
    rows = _rows_to_decide(actor, _ids(request.POST.getlist("id")))
    ids = [row.pk for row in rows]
    results = withdraw_many(interrupt_ids=ids, actor=actor)
    return _show_outcomes(request, actor, ids, _refusals(results), ids, is_undo=True)


def _rows_to_decide(actor: Actor, ids: Sequence[UUID]) -> list[Any]:
    """
    Return those of these interrupts that the actor may see.

    Raises:
        NotFound: there are none.
        Forbidden: the actor may decide none of them.
    """
    rows: list[Any] = list(bulk_review_for(actor, ids).rows)
    if not rows:
        raise NotFound()
    if not any(row.may_decide for row in rows):
        raise Forbidden(MISSING_PERMISSION[Permission.DECIDE])
    return rows


def _problem(answer: bool | None, note: str, ticked: Sequence[Any]) -> str:
    if answer is None:
        return gettext("Choose one of the buttons. Nothing was decided.")
    if not ticked:
        return gettext("Nothing is selected, so nothing was decided.")
    if len(note) > _NOTE_CHARACTERS:
        return gettext("A note can have at most {count} characters. Nothing was decided.").format(
            count=_NOTE_CHARACTERS
        )
    return ""


def _refusals(results: Sequence[BulkResult]) -> dict[UUID, str]:
    return {
        result.interrupt_id: say(result.refusal.message)
        for result in results
        if result.refusal is not None
    }


def _show(
    request: HttpRequest,
    actor: Actor,
    rows: Sequence[Any],
    *,
    ticked: Sequence[UUID] = (),
    status: int = 200,
    **context: Any,
) -> HttpResponse:
    groups = groups_of(rows, me=actor.user_id, now=clock.now(), ticked=ticked)
    context = {**context, **_way_back(request), "groups": groups, "can_tick": _can_tick(groups)}
    return show(request, actor, "decisions/review.html", context, section="", status=status)


def _can_tick(groups: Sequence[Group]) -> bool:
    return any(not item.blocked for group in groups for item in group.items)


def _show_outcomes(
    request: HttpRequest,
    actor: Actor,
    ids: Sequence[UUID],
    refused: dict[UUID, str],
    left: Sequence[UUID],
    *,
    is_undo: bool = False,
) -> HttpResponse:
    """Render the current state of each; `left` are the ids to review again."""
    outcomes = [
        _outcome(row, actor, refused.get(row.pk, "")) for row in bulk_review_for(actor, ids).rows
    ]
    context = {
        **_way_back(request),
        "outcomes": outcomes,
        "done": sum(outcome.is_done for outcome in outcomes),
        "undoable": [outcome for outcome in outcomes if outcome.can_undo],
        "is_undo": is_undo,
        "left": [
            row.pk
            for row in bulk_review_for(actor, left).rows
            if row.status == InterruptStatus.OPEN
        ],
    }
    return show(request, actor, "decisions/reviewed.html", context, section="")


def _way_back(request: HttpRequest) -> dict[str, str]:
    before = list_before(request)
    return {"list_url": list_url(before), "list_query": before.to_query()}


def _outcome(row: Any, actor: Actor, refusal: str) -> Outcome:
    decision = next(iter(row.standing), None)
    verdict = verdict_of(row, decision, actor.user_id)
    undoable = withdrawable_by(actor, row, decision)
    is_done = not refusal
    if refusal:
        word, icon, tone = refusal, "triangle-alert", "warn"
    elif verdict:
        word, icon, tone = verdict.short, verdict.icon, verdict.tone
    else:
        word, icon, tone = gettext("Open again"), "circle-dashed", "quiet"
    return Outcome(
        row=row,
        title=escape_invisible(row.title),
        word=escape_invisible(word),
        icon=icon,
        tone=tone,
        is_done=is_done,
        can_undo=is_done and undoable is not None and undoable > clock.now(),
    )


def _ids(texts: Sequence[str]) -> list[UUID]:
    return [interrupt_id for text in texts if (interrupt_id := _id(text)) is not None]


def _id(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None


def _boxes(texts: Sequence[str]) -> dict[UUID, str]:
    """Parse the values of check boxes into view digests by interrupt id."""
    pairs = [text.partition(":") for text in texts]
    return {
        interrupt_id: digest for key, _, digest in pairs if (interrupt_id := _id(key)) is not None
    }
