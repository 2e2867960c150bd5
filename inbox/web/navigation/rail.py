"""The links of the rail, in their groups."""

from typing import NamedTuple

from django.urls import reverse
from django.utils.translation import gettext

from inbox.queries.decisions.inbox_lists import COUNT_UP_TO, PENDING_UP_TO, ListCounts


class RailNumber(NamedTuple):
    """A number beside a link; it changes while the page is open."""

    id: str  #: of the element
    text: str  #: "" for none
    words: str  #: for screen readers: "pending"


class RailLink(NamedTuple):
    sections: tuple[str, ...]  #: the names of the pages that it leads to
    label: str
    icon: str
    url: str
    key: str = ""  #: the keys that open it: "g p"
    number: RailNumber | None = None


class RailGroup(NamedTuple):
    label: str
    links: list[RailLink]


def rail_of(counts: ListCounts, *, team: str = "") -> list[RailGroup]:
    """
    Return the groups of links for somebody with these numbers.

    `team` is the slug of the team whose page is shown: settings and policy stay with it.
    """
    url = reverse("pending")
    pending = bounded(counts.pending, PENDING_UP_TO)
    expiring = bounded(counts.expiring, PENDING_UP_TO)
    claimed = bounded(counts.claimed)
    inbox = [
        RailLink(
            ("pending",),
            gettext("Pending"),
            "inbox",
            url,
            key="g p",
            number=RailNumber("pending-count", pending, gettext("pending")),
        ),
        RailLink(
            ("expiring",),
            gettext("Expiring soon"),
            "timer",
            f"{url}?expiring=1",
            number=RailNumber("expiring-count", expiring, gettext("expiring soon")),
        ),
        RailLink(
            ("claimed",),
            gettext("Claimed by me"),
            "circle-user",
            f"{url}?mine=1",
            number=RailNumber("claimed-count", claimed, gettext("claimed by you")),
        ),
        RailLink(("assigned",), gettext("Assigned to me"), "user-check", f"{url}?assigned=1"),
        RailLink(("snoozed",), gettext("Snoozed"), "alarm-clock", f"{url}?snoozed=1"),
        RailLink(("decided",), gettext("Decided"), "circle-check", reverse("decided"), "g d"),
    ]
    activity = [
        RailLink(("runs",), gettext("Runs"), "play", reverse("runs"), "g r"),
        RailLink(("audit",), gettext("Audit"), "scroll-text", reverse("audit")),
        RailLink(("metrics",), gettext("Oversight"), "chart-column", reverse("metrics")),
    ]
    build = [RailLink(("agents",), gettext("Agents"), "bot", reverse("agents"))]
    if team or counts.team:
        policy = reverse("team_policy", args=[team or counts.team])
        build.append(RailLink(("policy",), gettext("Policy"), "scale", policy))
    teams = reverse("team", args=[team]) if team else reverse("teams")
    build.append(RailLink(("teams", "webhooks"), gettext("Settings"), "settings", teams))
    return [
        RailGroup(gettext("Inbox"), inbox),
        RailGroup(gettext("Activity"), activity),
        RailGroup(gettext("Build"), build),
    ]


def bounded(count: int, up_to: int = COUNT_UP_TO) -> str:
    """Return the text of a number that is counted up to a limit: "", "42", "99+"."""
    if not count:
        return ""
    return f"{up_to - 1}+" if count >= up_to else str(count)
