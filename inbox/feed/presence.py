"""Who is there: what processes tell each other of their open pages, kept for some seconds."""

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from inbox.feed.pages import Page
from inbox.rules.people.avatars import hue, initials

ANNOUNCE_SECONDS = 10.0
#: What was not heard of for so long is gone, whatever became of its process.
EXPIRY_SECONDS = 25.0
_FACES = 20
_AT_ONCE = 200


@dataclass(frozen=True)
class _Heard:
    """A page somewhere, as its process announced it."""

    user_id: int
    name: str
    reads: frozenset[str]
    decides: frozenset[str]
    interrupt: str | None
    heard_at: float


class Presence:
    """Soft state: nothing of it is stored, and a lost message costs some seconds."""

    def __init__(self) -> None:
        self._heard: dict[str, _Heard] = {}

    def hear(self, people: Iterable[dict[str, Any]]) -> None:
        """Take in an announcement of pages."""
        now = time.monotonic()
        for one in people:
            self._heard[one["page"]] = _Heard(
                user_id=one["user"],
                name=one["name"],
                reads=frozenset(one["reads"]),
                decides=frozenset(one["decides"]),
                interrupt=one["interrupt"],
                heard_at=now,
            )

    def forget(self, page: str) -> None:
        self._heard.pop(page, None)

    def expire(self) -> None:
        """Forget those who were not heard of for too long."""
        oldest = time.monotonic() - EXPIRY_SECONDS
        for page, heard in list(self._heard.items()):
            if heard.heard_at < oldest:
                self.forget(page)

    def show(self, pages: Iterable[Page]) -> None:
        """Show each page who is there; each person counts once, with however many tabs."""
        by_interrupt: dict[str | None, list[_Heard]] = {}
        for heard in self._heard.values():
            by_interrupt.setdefault(heard.interrupt, []).append(heard)
        online: dict[frozenset[str], int] = {}
        for page in pages:
            if page.reader.actor.user_id is None:
                continue
            reads = page.standing.reads
            if reads not in online:
                online[reads] = self._count_reviewers(reads)
            at = page.looking_at.interrupt if page.looking_at else None
            others = by_interrupt.get(at, []) if at else []
            page.show(
                {
                    "type": "presence",
                    "here": _faces(others, page.reader.actor.user_id, reads),
                    "online": online[reads],
                }
            )

    def _count_reviewers(self, teams: frozenset[str]) -> int:
        return len({heard.user_id for heard in self._heard.values() if heard.decides & teams})


def announcements(pages: Iterable[Page]) -> list[dict[str, Any]]:
    """The messages that tell of these pages; machines are not there, they only listen."""
    people = [_announced(page) for page in pages if page.reader.actor.user_id is not None]
    return [
        {"type": "presence.here", "people": people[start : start + _AT_ONCE]}
        for start in range(0, len(people), _AT_ONCE)
    ]


def _announced(page: Page) -> dict[str, Any]:
    at = page.looking_at
    return {
        "page": page.key,
        "user": page.reader.actor.user_id,
        "name": page.reader.actor.label,
        "reads": sorted(page.standing.reads),
        "decides": sorted(page.standing.decides),
        "interrupt": at.interrupt if at else None,
    }


def _faces(others: Sequence[_Heard], me: int, teams: frozenset[str]) -> list[dict[str, Any]]:
    """Whoever else looks at it, of my own teams only, by name."""
    names = {one.user_id: one.name for one in others if one.user_id != me and one.reads & teams}
    by_name = sorted(names.items(), key=lambda item: (item[1], item[0]))
    return [
        {"name": name, "initials": initials(name), "hue": hue(user_id)}
        for user_id, name in by_name[:_FACES]
    ]
