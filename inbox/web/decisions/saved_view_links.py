"""The navigation links of saved views."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from inbox.queries.decisions.saved_views import views_for
from inbox.rules.decisions.list_filters import InterruptFilter
from inbox.rules.people.access import Actor
from inbox.web.base.list_filters import ListRequest, list_url

if TYPE_CHECKING:
    from inbox.models import SavedView


@dataclass(frozen=True)
class ViewLink:
    """A saved view in the navigation."""

    key: str
    name: str
    url: str
    icon: str
    team: str  #: the slug of the team it is shared with, or ""
    team_name: str
    owner: str
    is_mine: bool
    may_change: bool
    is_current: bool


def links_of(actor: Actor, list_request: ListRequest | None) -> list[ViewLink]:
    """Return the actor's views; the first that matches the displayed list is current."""
    displayed_filter = list_request.filter if list_request else None
    links: list[ViewLink] = []
    for row in views_for(actor):
        filters = InterruptFilter.from_text(row.query)
        is_current = filters == displayed_filter and not any(link.is_current for link in links)
        links.append(_link(row, actor, filters, is_current=is_current))
    return links


def _link(row: SavedView, actor: Actor, filters: InterruptFilter, *, is_current: bool) -> ViewLink:
    return ViewLink(
        key=str(row.pk),
        name=row.name,
        url=list_url(filters),
        icon="users" if row.team else "bookmark",
        team=row.team.slug if row.team else "",
        team_name=row.team.name if row.team else "",
        owner=row.user.display_name,
        is_mine=row.user_id == actor.user_id,
        may_change=row.may_change,
        is_current=is_current,
    )
