"""The toast about the decision just made, with a button to undo it."""

from dataclasses import dataclass
from datetime import datetime
from urllib.parse import urlencode
from uuid import UUID

from django.http import HttpRequest
from django.urls import reverse

from inbox.queries.decisions.interrupts import detail_for
from inbox.rules.errors import RequestRejected
from inbox.rules.people.access import Actor
from inbox.rules.text.safe_text import escape_invisible
from inbox.web.decisions.decision_labels import decision_label_of

#: The query parameter with the id of the interrupt just decided.
DECIDED_PARAMETER = "done"


@dataclass(frozen=True)
class Toast:
    word: str  #: "Approved"
    title: str
    icon: str
    tone: str
    url: str
    undo_url: str  #: "" if the decision can no longer be withdrawn
    until: datetime | None  #: the end of the time to undo, None without a limit


def url_with_toast(address: str, interrupt_id: UUID) -> str:
    """Add the decided interrupt to the URL of the next page."""
    path, _, query = address.partition("?")
    return f"{path}?{query + '&' if query else ''}{urlencode({DECIDED_PARAMETER: interrupt_id})}"


def toast_of(request: HttpRequest, actor: Actor) -> Toast | None:
    """Return the toast for the request, or None if the actor did not decide that interrupt."""
    try:
        detail = detail_for(actor, UUID(request.GET.get(DECIDED_PARAMETER, "")))
    except (ValueError, RequestRejected):
        return None
    decision_label = decision_label_of(detail.interrupt, detail.decision, actor.user_id)
    if decision_label is None or not decision_label.by_me:
        return None
    may_undo = detail.may_withdraw
    return Toast(
        word=decision_label.word,
        title=escape_invisible(detail.interrupt.title),
        icon=decision_label.icon,
        tone=decision_label.tone,
        url=reverse("decided_interrupt", args=[detail.interrupt.pk]),
        undo_url=reverse("withdraw", args=[detail.interrupt.pk]) if may_undo else "",
        until=detail.withdraw_until if may_undo else None,
    )
