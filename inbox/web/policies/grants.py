"""The page of a team's grants: calls that people allowed in advance."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final
from urllib.parse import urlencode
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.translation import gettext, gettext_noop

from inbox.actions.policies.grants import revoke_grant
from inbox.queries.people.members import team_access
from inbox.queries.policies.grants import grant_for, grants_of_team, masked_limits
from inbox.rules.people.access import ROLE_PERMISSIONS, Actor, Permission
from inbox.rules.policies.grants import Bound, GrantEnd, Limit
from inbox.rules.text.ids import read_id
from inbox.rules.text.safe_text import escape_invisible
from inbox.web.base.pages import page, post_page, see_other, show
from inbox.web.people.teams import team_frame
from inbox.web.policies.grant_form import short_json

if TYPE_CHECKING:
    from inbox.models import Grant

_PAGE_SIZE: Final = 50
_ENDS: Final = {
    GrantEnd.EXPIRED: gettext_noop("expired"),
    GrantEnd.USED_UP: gettext_noop("used up"),
    GrantEnd.BUDGET: gettext_noop("sum reached"),
    GrantEnd.REVOKED: gettext_noop("revoked"),
    GrantEnd.REJECTED: gettext_noop("ended by a rejected call"),
    GrantEnd.WITHDRAWN: gettext_noop("the approval was withdrawn"),
    GrantEnd.MAKER: gettext_noop("its maker may not decide any more"),
    GrantEnd.POLICY: gettext_noop("forbidden by the policy"),
}


@dataclass(frozen=True)
class GrantView:
    row: "Grant"
    limits: list[tuple[str, str]]  #: the name of each argument, and its limit in words
    budget: str
    end: str  #: why it has ended, "" while it is active


@page
def grant_list(request: HttpRequest, actor: Actor, team: str) -> HttpResponse:
    access = team_access(actor, team)
    is_active = request.GET.get("state") != "ended"
    rows = grants_of_team(
        actor,
        access.team.pk,
        limit=_PAGE_SIZE + 1,
        before=read_id(request.GET.get("before", "")),
        is_active=is_active,
    )
    next_url = ""
    if len(rows) > _PAGE_SIZE:
        query = {} if is_active else {"state": "ended"}
        query["before"] = str(rows[_PAGE_SIZE - 1].pk)
        next_url = f"{reverse('grants', args=[team])}?{urlencode(query)}"
    context = {
        "grants": [_view(row) for row in rows[:_PAGE_SIZE]],
        "is_active": is_active,
        "next_url": next_url,
        "may_revoke": bool(access.role and Permission.DECIDE in ROLE_PERMISSIONS[access.role]),
        **team_frame(actor, access, "grants"),
    }
    return show(request, actor, "policies/grants.html", context, section="teams")


@post_page
def revoke(request: HttpRequest, actor: Actor, grant_id: UUID) -> HttpResponse:
    team = grant_for(actor, grant_id).team.slug
    revoke_grant(grant_id=grant_id, actor=actor)
    return see_other("grants", team)


def _view(row: "Grant") -> GrantView:
    terms = row.state.terms
    budget = ""
    if terms.budget is not None:
        budget = gettext("{name}: {spent} of {amount} in total").format(
            name=escape_invisible(terms.budget.argument),
            spent=f"{row.spent.normalize():f}",
            amount=f"{terms.budget.amount:f}",
        )
    return GrantView(
        row=row,
        limits=_limit_texts(masked_limits(row)),
        budget=budget,
        end=gettext(_ENDS[GrantEnd(row.end_reason)]) if row.end_reason else "",
    )


def _limit_texts(limits: Mapping[str, Limit]) -> list[tuple[str, str]]:
    return [(escape_invisible(name), _limit_text(limit)) for name, limit in limits.items()]


def _limit_text(limit: Limit) -> str:
    if limit.bound is Bound.ANY:
        return gettext("any value")
    value = short_json(limit.value)
    return gettext("up to {value}").format(value=value) if limit.bound is Bound.UP_TO else value
