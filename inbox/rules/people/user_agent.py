"""Names of browser and operating system from a User-Agent header."""

from typing import Final

#: Substrings of user agents, the specific ones first: most user agents name several browsers.
_BROWSERS: Final = (
    ("Edg", "Edge"),
    ("OPR/", "Opera"),
    ("SamsungBrowser", "Samsung Internet"),
    ("Firefox", "Firefox"),
    ("FxiOS", "Firefox"),
    ("CriOS", "Chrome"),
    ("Chrome", "Chrome"),
    ("Safari", "Safari"),
)
_SYSTEMS: Final = (
    ("iPhone", "iPhone"),
    ("iPad", "iPad"),
    ("Android", "Android"),
    ("CrOS", "ChromeOS"),
    ("Windows", "Windows"),
    ("Mac OS", "macOS"),
    ("Linux", "Linux"),
)


def browser_and_system(user_agent: str) -> tuple[str, str]:
    """Return the names of browser and operating system, "" if unknown."""
    return _first(_BROWSERS, user_agent), _first(_SYSTEMS, user_agent)


def _first(names: tuple[tuple[str, str], ...], text: str) -> str:
    return next((name for substring, name in names if substring in text), "")
