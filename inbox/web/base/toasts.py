"""The toast about the decision just made, with a button to undo it."""

from dataclasses import dataclass
from urllib.parse import urlencode
from uuid import UUID

from django.http import HttpRequest

from inbox.platform import clock
from inbox.queries.decisions.collaboration import seconds_until
from inbox.queries.decisions.interrupts import InterruptDetail, detail_for
from inbox.rules.errors import RequestRejected
from inbox.rules.people.access import Actor
from inbox.web.decisions.decision_labels import DecisionLabel, decision_label_of

#: The query parameter with the id of the interrupt just decided.
DECIDED_PARAMETER = "done"


@dataclass(frozen=True)
class Toast:
    detail: InterruptDetail
    label: DecisionLabel

    @property
    def seconds_left(self) -> int | None:
        """The whole seconds in which the decision can be undone; None without a limit."""
        until = self.detail.withdraw_until
        return None if until is None else seconds_until(until, clock.now())


def url_with_toast(address: str, interrupt_id: UUID) -> str:
    """Add the decided interrupt to the URL of the next page."""
    path, _, query = address.partition("?")
    return f"{path}?{query + '&' if query else ''}{urlencode({DECIDED_PARAMETER: interrupt_id})}"


def toast_in(request: HttpRequest, actor: Actor) -> Toast | None:
    """Return the toast about the interrupt that the URL names, None without one."""
    try:
        return toast_of(UUID(request.GET.get(DECIDED_PARAMETER, "")), actor)
    except ValueError:
        return None


def toast_of(interrupt_id: UUID, actor: Actor) -> Toast | None:
    """Return the toast about a decision, or None if the actor did not make it."""
    try:
        detail = detail_for(actor, interrupt_id)
    except RequestRejected:
        return None
    decision_label = decision_label_of(detail.interrupt, detail.decision, actor.user_id)
    if decision_label is None or not decision_label.by_me:
        return None
    return Toast(detail, decision_label)
