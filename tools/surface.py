"""
Write docs/contributors/surface.md: all that people and programs can depend on, and its size.

`make references` runs it. A change that adds a route, a setting or an event shows it in its diff.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).parents[1]
#: Lines are rounded, so that not every change touches the page.
ROUNDED_TO: Final = 500
#: The ring of a package, and of the folders and modules in it that are of another: the innermost
#: one counts. A folder that is new in `inbox` is what every product needs until it stands here.
PACKAGES: Final = {
    "inbox": "what every product needs",
    "agents": "mission",
    "clients/python/src": "periphery",
}
MISSION: Final = {
    *("engine", "feed", "forms", "agui_server", "realtime", "decisions", "runs", "policies"),
    *("presentations", "schema", "audit", "locks.py", "moves.py", "statements.py"),
}
PERIPHERY: Final = {
    *("migrations", "webhooks", "notifications", "requests", "files", "directories", "limits"),
    *("monitoring", "admin", "scim_server", "mcp_server", "transparency_log", "sending"),
    *("adapters", "examples", "demo_agent"),
}

#: Addresses of installations with a provider of identities (`SIGNOFF_OIDC`).
WITH_PROVIDER: Final = ("/login/<slug:provider_id>/", "/login/<slug:provider_id>/back/")


def surface_page() -> str:
    """Return the page as Markdown."""
    from inbox.api.people.teams import TeamChange  # noqa: PLC0415 - after the settings
    from inbox.rules.notifications.events import AnnouncementKind, ChannelKind  # noqa: PLC0415
    from inbox.rules.policies.language.policy import Op  # noqa: PLC0415
    from inbox.rules.webhooks.delivery_rules import EventType  # noqa: PLC0415

    lists: Mapping[str, Iterable[str]] = {
        "Routes": routes(),
        "Settings of the installation": installation_settings(),
        "Settings of a team": TeamChange.model_fields,
        "Webhook events": EventType,
        "Notifications": AnnouncementKind,
        "Channels": ChannelKind,
        "Operators of policies": Op,
    }
    parts = [
        "# Surface\n",
        (
            "All that people and programs can depend on, and how large the code is. A change that "
            "makes a list longer says why. Error codes are in "
            "[errors.md](../reference/errors.md), commands in "
            "[commands.md](../reference/commands.md).\n"
        ),
        f"| Lines, to the nearest {ROUNDED_TO} | |\n|---|---|\n" + "\n".join(_sizes()) + "\n",
    ]
    for title, names in lists.items():
        rows = sorted({str(name) for name in names})
        parts.append(f"## {title} ({len(rows)})\n\n" + "\n".join(f"- `{row}`" for row in rows))
        parts[-1] += "\n"
    return "\n".join(parts)


def routes() -> Iterator[str]:
    """Yield the patterns of all addresses, those of Django's admin site as one."""
    from django.conf import settings  # noqa: PLC0415 - after the settings
    from django.urls import get_resolver  # noqa: PLC0415

    from inbox.api.monitoring.monitoring_urls import monitoring_urlpatterns  # noqa: PLC0415
    from inbox.api.runs.streaming_urls import streaming_urlpatterns  # noqa: PLC0415
    from inbox.mcp_server.urls import mcp_urlpatterns  # noqa: PLC0415

    yield from WITH_PROVIDER
    pages = get_resolver(settings.ROOT_URLCONF).url_patterns
    for path in _walk([*pages, *monitoring_urlpatterns, *streaming_urlpatterns, *mcp_urlpatterns]):
        yield "/admin/..." if path.startswith("admin/") else f"/{path}"


def _walk(patterns: Iterable[Any], prefix: str = "") -> Iterator[str]:
    for each in patterns:
        path = prefix + str(each.pattern)
        if hasattr(each, "url_patterns"):
            yield from _walk(each.url_patterns, path)
        else:
            yield path


def installation_settings() -> set[str]:
    """Return the environment variables that the product reads."""
    return {
        name
        for folder in ("inbox", "agents")
        for path in _sources(folder, "py")
        for name in re.findall(r"\"((?:SIGNOFF|DATABASE|REDIS)_[A-Z0-9_]+)\"", path.read_text())
    }


def lines_by_ring() -> Counter[str]:
    """Return the lines of product code by ring."""
    lines: Counter[str] = Counter()
    for package in PACKAGES:
        for path in _sources(package, "py"):
            lines[_ring(package, path)] += _lines(path)
    return lines


def _ring(package: str, path: Path) -> str:
    for name in reversed(path.relative_to(ROOT / package).parts):
        if name in MISSION:
            return "mission"
        if name in PERIPHERY:
            return "periphery"
    return PACKAGES[package]


def _sizes() -> Iterator[str]:
    for ring, number in lines_by_ring().items():
        yield f"| Python: {ring} | {_rounded(number)} |"
    for title, folder, kind in (
        ("templates", "templates", "html"),
        ("styles", "static", "css"),
        ("scripts", "static", "js"),
        ("tests", "tests", "py"),
    ):
        yield f"| {title} | {_rounded(sum(map(_lines, _sources(folder, kind))))} |"


def _sources(folder: str, kind: str) -> list[Path]:
    return [each for each in sorted((ROOT / folder).rglob(f"*.{kind}")) if each.is_file()]


def _lines(path: Path) -> int:
    return path.read_bytes().count(b"\n")


def _rounded(lines: int) -> str:
    return f"{round(lines / ROUNDED_TO) * ROUNDED_TO:,}"
