"""The guide through the first decision, above the list of somebody who has decided nothing yet."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.translation import gettext

from inbox.actions.people.first_steps import hide_first_steps
from inbox.platform import clock
from inbox.queries.people.access import may_decide_anywhere
from inbox.queries.people.first_steps import decidable_by, example_for, last_decided_by
from inbox.rules.people.access import Actor
from inbox.rules.runs.states import InterruptStatus
from inbox.web.base.pages import post_page, see_other

if TYPE_CHECKING:
    from inbox.models import Interrupt

#: In the session: what the person has looked at, or False if they need no guide.
_SESSION_KEY = "first_steps"
_REQUEST, _TRAIL = "request", "trail"


@dataclass(frozen=True)
class Step:
    name: str
    help: str
    is_done: bool
    url: str = ""  #: "" while there is nothing to open
    link: str = ""


@dataclass(frozen=True)
class Guide:
    steps: tuple[Step, ...]

    @property
    def done_count(self) -> int:
        return sum(step.is_done for step in self.steps)

    @property
    def current(self) -> Step | None:
        """The first step that is not done."""
        return next((step for step in self.steps if not step.is_done), None)


def guide_for(request: HttpRequest, actor: Actor) -> Guide | None:
    """
    Return the guide for somebody who may decide and had decided nothing when they signed in.

    None if they have closed it.
    """
    seen = _seen(request)
    if seen is False or (seen is None and not may_decide_anywhere(actor)):
        return None
    decided = last_decided_by(actor)
    if seen is None:
        seen = request.session[_SESSION_KEY] = [] if decided is None else False
        if decided is not None:
            return None
    now = clock.now()
    request_id, is_any_open = decidable_by(actor, now) if decided is None else (None, False)
    has_looked = _REQUEST in seen
    example = None if has_looked else example_for(actor, now)
    return Guide(
        (
            _look(example, request_id, is_done=has_looked),
            _decide(request_id, is_any_open=is_any_open, is_done=decided is not None),
            _see_trail(decided, is_done=_TRAIL in seen),
        )
    )


def _seen(request: HttpRequest) -> Any:
    """Return what the person has looked at, False without a guide, None if that is open."""
    if getattr(request.user, "hides_first_steps", True):
        return False
    return request.session.get(_SESSION_KEY)


def _look(example: Any, request_id: Any, *, is_done: bool) -> Step:
    name = gettext("Look at a request")
    if example:
        text = gettext("This one is decided: what was asked, who decided, and what the tool did.")
        url = reverse("decided_interrupt", args=[example])
        return Step(name, text, is_done, url, gettext("Open a decided one"))
    text = gettext("It says what the agent wants to do, with which values, and why it asks.")
    if request_id is None:
        return Step(name, text, is_done)
    return Step(name, text, is_done, reverse("interrupt", args=[request_id]), gettext("Open it"))


def _decide(request_id: Any, *, is_any_open: bool, is_done: bool) -> Step:
    name = gettext("Decide")
    if request_id:
        text = gettext("Approve, change a value first, or reject. You can undo it for a moment.")
        url = reverse("interrupt", args=[request_id])
        return Step(name, text, is_done, url, gettext("Open one that you may decide"))
    if is_any_open:
        text = gettext(
            "What waits now needs somebody else: nobody approves what they asked for themselves, "
            "and a rule may name who decides."
        )
    else:
        text = gettext("Nothing waits now. The next request appears here by itself.")
    return Step(name, text, is_done)


def _see_trail(decided: Interrupt | None, *, is_done: bool) -> Step:
    name = gettext("See the trail")
    if decided is None:
        text = gettext("What was proposed, who decided, and what ran: it stays, and can be proven.")
        return Step(name, text, is_done)
    text = gettext("Your decision is in it: what was proposed, who decided, and what ran.")
    if decided.tool_call_id:
        url = reverse("audit_call", args=[decided.tool_call_id])
    else:
        url = reverse("audit_history", args=[decided.thread_id])
    return Step(name, text, is_done, url, gettext("Open the trail"))


def note_request(request: HttpRequest, actor: Actor, interrupt: Interrupt) -> None:
    """Note that the person looks at a request; an open one counts if there is no decided one."""
    seen = _seen(request)
    # A page that reads itself again, or reads the next request ahead, is nobody who looks.
    if not isinstance(seen, list) or _REQUEST in seen or "X-Signoff-Refresh" in request.headers:
        return
    if interrupt.status != InterruptStatus.OPEN or example_for(actor, clock.now()) is None:
        request.session[_SESSION_KEY] = [*seen, _REQUEST]


def note_trail(request: HttpRequest) -> None:
    """Note that the person looks at an audit trail."""
    seen = _seen(request)
    if isinstance(seen, list) and _TRAIL not in seen:
        request.session[_SESSION_KEY] = [*seen, _TRAIL]


@post_page
def hide(request: HttpRequest, actor: Actor) -> HttpResponse:
    hide_first_steps(actor=actor)
    return see_other("pending")
