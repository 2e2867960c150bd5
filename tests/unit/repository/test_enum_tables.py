"""
A new member of an enum gets all its parts: its words, its parser, its test, its page of the docs.

mypy does not look into dictionaries. So each table of a module whose keys are members of an enum
has all of them, or is named in tests/unit/repository/enum_tables.py with those that it leaves out.
"""

import json
import re
import sys
from enum import Enum
from pathlib import Path
from shutil import copy, copytree, ignore_patterns
from subprocess import run

import pytest

from inbox.rules.limits.team_limits import Limit
from inbox.rules.notifications.events import ChannelKind
from inbox.rules.people.access import Permission, Role
from inbox.rules.policies.language.policy import Effect, Mode, Op, Via
from inbox.rules.policies.operators import OPERATORS
from inbox.rules.presentations.registry import PresentationName
from inbox.rules.webhooks.delivery_rules import EventType
from tests.unit.repository.enum_tables import FEW, LEFT_OUT, tables, wrong_tables

ROOT = Path(__file__).parents[3]
DOCS = ROOT / "docs"
#: The enums that people write or read, and the page that has all members.
DOCUMENTED: dict[type[Enum], str] = {
    ChannelKind: "notifications.md",
    Effect: "policies.md",
    EventType: "webhooks.md",
    Limit: "limits.md",
    Mode: "policies.md",
    Op: "policies.md",
    Permission: "teams.md",
    PresentationName: "presentations.md",
    Role: "teams.md",
    Via: "policies.md",
}


def test_each_table_has_all_members_or_names_those_it_leaves_out():
    assert wrong_tables() == {}


def test_no_table_that_leaves_members_out_is_gone():
    names = {name for name, _, _ in tables()}
    assert LEFT_OUT.keys() | FEW <= names


@pytest.mark.parametrize("enum", DOCUMENTED, ids=lambda enum: enum.__name__)
def test_each_member_is_in_the_docs(enum):
    page = (DOCS / DOCUMENTED[enum]).read_text()
    words = set(re.findall(r"[a-z_.]+[a-z]", page.lower().replace("e-mail", "email")))
    assert {member.value for member in enum} <= words


@pytest.mark.parametrize("op", Op)
def test_each_operator_is_read_tested_and_said(op):
    operator = OPERATORS[op]
    assert operator.types
    assert all("{fact}" in words.pattern for words in operator.words)


#: By module: the last member of an enum, and the tables that lack a member after it.
ENUMS = {
    "rules/policies/language/policy.py": (
        'IN_HOURS = "in_hours"',
        {"inbox.rules.policies.operators.OPERATORS"},
    ),
    "rules/webhooks/delivery_rules.py": (
        'CHANNEL_DISABLED = "channel.disabled"',
        {"inbox.web.webhooks.webhooks.EVENTS"},
    ),
    "rules/notifications/events.py": (
        'PUSH = "push"',
        {
            "inbox.sending.chats._PAYLOADS",
            "inbox.sending.notification_sender._SENDERS",
            "inbox.web.notifications.chats._KINDS",
            "inbox.web.notifications.chats._NAMES",
        },
    ),
}


def test_a_new_member_names_the_tables_that_lack_it(tmp_path):
    for name in ("inbox", "agents", "tools"):
        copytree(ROOT / name, tmp_path / name, ignore=ignore_patterns("__pycache__", "migrations"))
    copy(Path(__file__).with_name("enum_tables.py"), tmp_path)
    for module, (last, _) in ENUMS.items():
        path = tmp_path / "inbox" / module
        path.write_text(path.read_text().replace(last, f'{last}\n    ADDED = "added"', 1))

    ended = run([sys.executable, "enum_tables.py"], cwd=tmp_path, capture_output=True, check=True)

    lacking = {table for _, tables in ENUMS.values() for table in tables}
    assert json.loads(ended.stdout).keys() == lacking
