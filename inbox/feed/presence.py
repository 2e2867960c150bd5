"""Presence: which people have which request open, exchanged between processes and never stored."""

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from inbox.feed.subscriptions import Subscription
from inbox.rules.people.avatars import avatar_colour, initials

ANNOUNCE_SECONDS = 10.0
#: A page that was not announced for this long is dropped: its process may have crashed.
EXPIRY_SECONDS = 25.0
_MAX_AVATARS = 20
_PAGES_PER_MESSAGE = 200


@dataclass(frozen=True)
class _PresentPage:
    """An open page of any process, as last announced."""

    user_id: int
    name: str
    reads: frozenset[str]
    decides: frozenset[str]
    interrupt: str | None
    announced_at: float


class Presence:
    """The open pages of all processes; a lost message costs some seconds of accuracy."""

    def __init__(self) -> None:
        self._pages: dict[str, _PresentPage] = {}

    def add(self, people: Iterable[dict[str, Any]]) -> None:
        """Add or refresh the pages of one announcement."""
        now = time.monotonic()
        for person in people:
            self._pages[person["page"]] = _PresentPage(
                user_id=person["user"],
                name=person["name"],
                reads=frozenset(person["reads"]),
                decides=frozenset(person["decides"]),
                interrupt=person["interrupt"],
                announced_at=now,
            )

    def remove(self, page_key: str) -> None:
        self._pages.pop(page_key, None)

    def expire(self) -> None:
        """Remove pages that were not announced for too long."""
        oldest = time.monotonic() - EXPIRY_SECONDS
        for page_key, page in list(self._pages.items()):
            if page.announced_at < oldest:
                self.remove(page_key)

    def update(self, subscriptions: Iterable[Subscription]) -> None:
        """Send each subscription its presence; a person counts once, with any number of tabs."""
        by_interrupt: dict[str | None, list[_PresentPage]] = {}
        for page in self._pages.values():
            by_interrupt.setdefault(page.interrupt, []).append(page)
        online: dict[frozenset[str], int] = {}
        for subscription in subscriptions:
            user_id = subscription.actor.user_id
            if user_id is None:
                continue
            reads = subscription.access.reads
            if reads not in online:
                online[reads] = self._count_reviewers(reads)
            interrupt = subscription.viewed_interrupt
            viewers = by_interrupt.get(interrupt, []) if interrupt else []
            subscription.update_presence(
                {
                    "type": "presence",
                    "here": _avatars(viewers, user_id, reads),
                    "online": online[reads],
                }
            )

    def _count_reviewers(self, teams: frozenset[str]) -> int:
        return len({page.user_id for page in self._pages.values() if page.decides & teams})


def announcements(subscriptions: Iterable[Subscription]) -> list[dict[str, Any]]:
    """Return the messages that announce these pages; API keys are not announced."""
    people = [
        _announcement(subscription)
        for subscription in subscriptions
        if subscription.actor.user_id is not None
    ]
    return [
        {"type": "presence.here", "people": people[start : start + _PAGES_PER_MESSAGE]}
        for start in range(0, len(people), _PAGES_PER_MESSAGE)
    ]


def _announcement(subscription: Subscription) -> dict[str, Any]:
    return {
        "page": subscription.key,
        "user": subscription.actor.user_id,
        "name": subscription.actor.label,
        "reads": sorted(subscription.access.reads),
        "decides": sorted(subscription.access.decides),
        "interrupt": subscription.viewed_interrupt,
    }


def _avatars(
    viewers: Sequence[_PresentPage], user_id: int, teams: frozenset[str]
) -> list[dict[str, Any]]:
    """Return the other viewers from the reader's own teams, sorted by name."""
    names = {
        viewer.user_id: viewer.name
        for viewer in viewers
        if viewer.user_id != user_id and viewer.reads & teams
    }
    by_name = sorted(names.items(), key=lambda item: (item[1], item[0]))
    return [
        {"name": name, "initials": initials(name), "hue": avatar_colour(viewer_id)}
        for viewer_id, name in by_name[:_MAX_AVATARS]
    ]
