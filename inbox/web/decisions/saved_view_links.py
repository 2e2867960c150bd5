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

    row: SavedView  #: with its team, its owner and `may_change`
    url: str
    is_mine: bool
    is_current: bool


def links_of(actor: Actor, list_request: ListRequest | None) -> list[ViewLink]:
    """Return the actor's views; the first that matches the displayed list is current."""
    displayed_filter = list_request.filter if list_request else None
    links: list[ViewLink] = []
    for row in views_for(actor):
        filters = InterruptFilter.from_text(row.query)
        is_current = filters == displayed_filter and not any(link.is_current for link in links)
        is_mine = row.user_id == actor.user_id
        links.append(ViewLink(row, list_url(filters), is_mine, is_current))
    return links
