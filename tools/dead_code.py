"""
Find functions and classes that nothing uses: `python tools/dead_code.py`.

Vulture reads names only. Names in dotted paths ("inbox.apps.InboxConfig") count as uses.
"""

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from vulture import Vulture

SOURCES: Final = ("agents", "bench", "clients", "inbox", "tests", "tools")
#: Templates use attributes, and frameworks call methods: only these kinds are certain.
KINDS: Final = {"class", "function"}
DECORATORS: Final = [
    "@admin.register*",
    "@afterwards",
    "@mutation",
    "@pytest.fixture*",
    "@receiver*",
    "@register*",
    "@screen",
]
#: Python, Django, pytest and drf-spectacular look for these.
PRESCRIBED: Final = ["Meta", "pytest_*", "AnyJson", "InboxConfig", "Models", "Shapes"]
#: Agents that docs/agents.md tells its readers to start by name.
EXAMPLES: Final = ["database_steward", "importer", "onboarding", "refund_desk", "release_train"]
_DOTTED: Final = re.compile(r"""["'][\w.]+[.:](\w+)["']""")


def _names_in_strings() -> Iterator[str]:
    """Yield the last name of every dotted path in a string."""
    for source in SOURCES:
        for path in Path(source).rglob("*.py"):
            yield from _DOTTED.findall(path.read_text())


def main() -> int:
    ignored = [*PRESCRIBED, *EXAMPLES, *set(_names_in_strings())]
    finder = Vulture(ignore_names=ignored, ignore_decorators=DECORATORS)
    finder.scavenge(SOURCES, exclude=["*/migrations/*"])
    unused = [item for item in finder.get_unused_code(min_confidence=60) if item.typ in KINDS]
    for item in unused:
        print(f"{item.filename}:{item.first_lineno}: unused {item.typ} {item.name}")
    return 1 if unused else 0


if __name__ == "__main__":
    sys.exit(main())
