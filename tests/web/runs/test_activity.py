"""The sentences of actions, and their list in the documents."""

import re
from pathlib import Path

from inbox.web.runs import activity

ROOT = Path(__file__).parents[3]
#: The prefixes of actions that belong to a thread or to policies.
PREFIXES = (
    "run",
    "interrupt",
    "link",
    "decision",
    "endorsement",
    "resume",
    "tool",
    "grant",
    "policy",
    "group",
)
#: Actions of a team, which no thread's page lists.
OF_TEAMS = {"policy.drafted", "policy.discarded", "policy.published", "group.changed"}


def documented_actions():
    text = (ROOT / "docs/audit.md").read_text().partition("## Recorded actions")[2]
    rows = re.findall(r"^\| `(\w+)\.` \| (.*) \|$", text, re.MULTILINE)
    return {
        f"{prefix}.{name}"
        for prefix, names in rows
        if prefix in PREFIXES
        for name in re.findall(r"`(\w+)`", names)
    }


def actions_in_code():
    pattern = rf'"((?:{"|".join(PREFIXES)})\.[a-z_]+)"'
    files = (ROOT / "inbox/actions").rglob("*.py")
    return {name for file in files for name in re.findall(pattern, file.read_text())}


def test_each_action_is_documented():
    assert actions_in_code() - documented_actions() == set()


def test_each_action_of_a_thread_has_a_sentence():
    missing = documented_actions() - OF_TEAMS - set(activity._SENTENCES)

    assert missing == set()
