"""The navigation of the settings of a team, and the switch to the same page of another team."""

from collections.abc import Sequence
from typing import NamedTuple

from django.urls import reverse
from django.utils.translation import gettext, gettext_noop


class NavLink(NamedTuple):
    part: str  #: the name of the pages that it leads to
    label: str
    icon: str
    url: str


class NavGroup(NamedTuple):
    label: str
    links: list[NavLink]


#: By group: part, name, icon, URL name, and whether only administrators see it.
_GROUPS = (
    (
        gettext_noop("Team"),
        (
            ("members", gettext_noop("People"), "users", "team", False),
            ("groups", gettext_noop("Groups"), "users-round", "groups", False),
            ("invitations", gettext_noop("Invitations"), "mail", "invitations", True),
            ("sessions", gettext_noop("Sessions"), "monitor", "team_sessions", True),
            ("permissions", gettext_noop("Permissions"), "shield", "team_who", False),
        ),
    ),
    (
        gettext_noop("Control"),
        (
            ("grants", gettext_noop("Grants"), "repeat", "grants", False),
            ("limits", gettext_noop("Limits"), "gauge", "team_limits", False),
            (
                "presentations",
                gettext_noop("Presentations"),
                "layout-list",
                "tool_presentations",
                True,
            ),
        ),
    ),
    (
        gettext_noop("Connections"),
        (
            ("keys", gettext_noop("Keys"), "key-round", "team_keys", True),
            ("chats", gettext_noop("Chats"), "message-square", "team_chats", True),
            ("webhooks", gettext_noop("Webhooks"), "webhook", "webhooks", True),
        ),
    ),
    (
        gettext_noop("You"),
        (
            ("account", gettext_noop("Your account"), "circle-user", "account", False),
            ("notifications", gettext_noop("Notifications"), "bell", "notifications", False),
        ),
    ),
)
#: By part: name, URL name, and whether only administrators see it.
_PARTS = {
    part: (name, url_name, is_for_admins)
    for _, links in _GROUPS
    for part, name, _, url_name, is_for_admins in links
} | {"policy": (gettext_noop("Policy"), "team_policy", False)}  # a link of the rail
#: Pages that belong to no team.
_WITHOUT_TEAM = {"webhooks", "account", "notifications"}


def settings_nav(team: str, *, administers: bool) -> list[NavGroup]:
    """Return the links to the settings of a team that somebody may open."""
    groups = [
        NavGroup(
            gettext(label),
            [
                NavLink(part, gettext(name), icon, _url(part, url_name, team))
                for part, name, icon, url_name, is_for_admins in links
                if administers or not is_for_admins
            ],
        )
        for label, links in _GROUPS
    ]
    return [group for group in groups if group.links]


def part_name(part: str) -> str:
    """Return the name of the pages of this part."""
    return gettext(_PARTS[part][0])


def switches_to(part: str, teams: Sequence[tuple[str, str, bool]]) -> list[tuple[str, str, str]]:
    """
    Return slug, name and URL of this part for each of these teams.

    Each is a slug, a name, and whether the person administers the team: where they may not open
    this part, the URL is that of the people.
    """
    _, url_name, is_for_admins = _PARTS[part]
    return [
        (
            slug,
            name,
            reverse("team" if is_for_admins and not administers else url_name, args=[slug]),
        )
        for slug, name, administers in teams
    ]


def _url(part: str, url_name: str, team: str) -> str:
    return reverse(url_name, args=[] if part in _WITHOUT_TEAM else [team])
