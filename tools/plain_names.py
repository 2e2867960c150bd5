"""
Check that names are nouns and docstrings begin with a verb: `python tools/plain_names.py`.

Of docstrings each folder may keep as many exceptions as plain_names_allowed.json says. Lower a
number when you rewrite one; never raise it. `--write` writes today's numbers. Of names there are no
exceptions but those of PUBLIC_NAMES.
"""

import ast
import json
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Final

ALLOWED: Final = Path(__file__).with_name("plain_names_allowed.json")
ROOTS: Final = ("agents", "bench", "inbox", "tests", "tools")

#: Participles and adverbs that say nothing about the value, with the nouns to use instead.
BANNED_NAMES: Final = {
    "asked": "interrupt, interrupts or request",
    "found": "what it is: row, agent, match, matches",
    "given": "value, input or arguments",
    "heard": "messages, events or frames",
    "here": "local, path or position",
    "kept": "stored_..., e.g. stored_headers",
    "known": "known_..., e.g. known_ids",
    "made": "created or the noun: agent, key",
    "one": "the noun: interrupt, row, item",
    "rest": "remaining_..., e.g. remaining_rows",
    "said": "message, text or output",
    "shown": "displayed_... or view",
    "standing": "live_access, rate_limit_status, membership or decision_in_force",
    "taken": "claimed or the noun: names, positions",
    "there": "remote_... or the noun",
    "told": "event, payload or subscribers",
    "wanted": "expected, requested_... or the noun: filters",
    "whole": "full_..., e.g. full_key",
}
#: Keys of stored JSON and fields of the REST API, which clients and old rows have.
PUBLIC_NAMES: Final = {
    "agents/adapters/langgraph/interrupts.py": {"asked"},
    "agents/adapters/remote/probe_report.py": {"found", "told"},
    "inbox/api/agents/agents.py": {"found"},
    "inbox/api/requests/requests.py": {"asked"},
}
_RIDDLE: Final = re.compile(
    r"(What|Whether|Who|Whose|Whoever|Whatever|Where|When|How|However|Nobody|Nothing|That)\b"
)


def check_names(source: str, public: Collection[str] = ()) -> Iterator[tuple[int, str]]:
    """Yield the line and the message of every banned name that is not public."""
    for node in ast.walk(ast.parse(source)):
        for name in _names(node):
            if name in BANNED_NAMES and name not in public:
                yield getattr(node, "lineno", 1), f"`{name}`: use {BANNED_NAMES[name]}"


def check_docstrings(source: str) -> Iterator[tuple[int, str]]:
    """Yield the line and the message of every docstring that begins with a question word."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            first = re.match(_RIDDLE, ast.get_docstring(node) or "")
            if first:
                line = getattr(node, "lineno", 1)
                yield line, f'docstring begins with "{first[0]}": begin with a verb or the subject'


def _names(node: ast.AST) -> Iterator[str]:
    match node:
        case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name):
            yield name
        case ast.ClassDef(name=name) | ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
            yield name.lower()
        case ast.ExceptHandler(name=str(name)):
            yield name


def folder_of(path: Path) -> str:
    """Return the first two parts of a path, or one for a file right below its root."""
    return "/".join(path.parts[: min(2, len(path.parts) - 1)])


def main() -> int:
    command = ["git", "ls-files", *(f"{root}/**.py" for root in ROOTS)]
    listed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    names: list[str] = []
    problems: dict[str, list[str]] = {}
    for path in map(Path, listed.splitlines()):
        if not path.exists() or "migrations" in path.parts:
            continue
        source = path.read_text()
        for line, message in check_names(source, PUBLIC_NAMES.get(str(path), ())):
            names.append(f"{path}:{line}: {message}")
        for line, message in check_docstrings(source):
            problems.setdefault(folder_of(path), []).append(f"{path}:{line}: {message}")
    if names:
        print("\n".join(names))
    counts = Counter({folder: len(lines) for folder, lines in problems.items()})
    if "--write" in sys.argv:
        ALLOWED.write_text(json.dumps(counts, indent=4, sort_keys=True) + "\n")
    allowed = json.loads(ALLOWED.read_text())
    too_many = [folder for folder in sorted(counts) if counts[folder] > allowed.get(folder, 0)]
    for folder in too_many:
        print("\n".join(problems[folder]))
        print(f"{folder}: {counts[folder]} problems, {allowed.get(folder, 0)} allowed\n")
    return 1 if names or too_many else 0


if __name__ == "__main__":
    sys.exit(main())
