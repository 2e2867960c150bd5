"""The first steps of a new team, above the list of an administrator."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.translation import gettext

from inbox.actions.people.first_steps import hide_first_steps
from inbox.queries.people.first_steps import first_steps_of
from inbox.rules.people.access import Actor
from inbox.web.base.demo import DEMO_AGENT
from inbox.web.base.pages import post_page, see_other

if TYPE_CHECKING:
    from inbox.models import Team


#: Set in the session when all steps are done, so that pages do not look again.
_DONE = "first_steps_done"


@dataclass(frozen=True)
class Step:
    name: str
    is_done: bool
    url: str = ""


@dataclass(frozen=True)
class Steps:
    steps: tuple[Step, ...]

    @property
    def done_count(self) -> int:
        return sum(step.is_done for step in self.steps)


def first_steps_for(request: HttpRequest, teams: Sequence[Team]) -> Steps | None:
    """
    Return the steps for an administrator of these teams.

    None if the steps are done or hidden, or if there is no such team.
    """
    user = request.user
    if not teams or not user.is_authenticated:
        return None
    if user.hides_first_steps or _DONE in request.session:
        return None
    state = first_steps_of(user, teams, demo_agent=DEMO_AGENT)
    team = teams[0].slug
    steps = Steps(
        (
            Step(gettext("Connect an agent"), state.has_agent, reverse("new_agent")),
            Step(gettext("Decide a request"), state.has_decided),
            Step(
                gettext("Invite a colleague"),
                state.has_invited,
                reverse("invitations", args=[team]),
            ),
            Step(
                gettext("Set a policy"),
                state.has_policy,
                reverse("team_policy", args=[team]),
            ),
        )
    )
    if steps.done_count == len(steps.steps):
        request.session[_DONE] = True
        return None
    return steps


@post_page
def hide(request: HttpRequest, actor: Actor) -> HttpResponse:
    hide_first_steps(actor=actor)
    return see_other("pending")
