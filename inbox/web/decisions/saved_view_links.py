"""Saved views: their links in the rail."""

from dataclasses import dataclass
from typing import Any

from inbox.queries.decisions.saved_views import views_for
from inbox.rules.decisions.list_filters import InterruptFilter
from inbox.rules.people.access import Actor
from inbox.web.base.list_filters import Asked, list_url


@dataclass(frozen=True)
class ViewLink:
    """A view as the rail and the list show it."""

    key: str
    name: str
    url: str
    icon: str
    team: str  #: the slug of the team that has it too, "" for nobody
    team_name: str
    owner: str
    is_mine: bool
    may_change: bool
    is_current: bool


def links_of(actor: Actor, asked: Asked | None) -> list[ViewLink]:
    """The actor's views; the first that means the list which is shown is the current one."""
    shown = asked.filter if asked else None
    links: list[ViewLink] = []
    for row in views_for(actor):
        wanted = InterruptFilter.from_text(row.query)
        is_current = wanted == shown and not any(link.is_current for link in links)
        links.append(_link(row, actor, wanted, is_current=is_current))
    return links


def _link(row: Any, actor: Actor, wanted: InterruptFilter, *, is_current: bool) -> ViewLink:
    return ViewLink(
        key=str(row.pk),
        name=row.name,
        url=list_url(wanted),
        icon="users" if row.team else "bookmark",
        team=row.team.slug if row.team else "",
        team_name=row.team.name if row.team else "",
        owner=row.user.display_name,
        is_mine=row.user_id == actor.user_id,
        may_change=row.may_change,
        is_current=is_current,
    )
