"""Tables of the product by the members of an enum; run as a module, it prints what they lack."""

import importlib
import inspect
import json
import pkgutil
import re
from collections.abc import Iterator, Mapping
from enum import Enum

import django

import agents
import inbox

#: Modules that are only there with an optional package.
OPTIONAL = {"inbox.web.people.oidc"}
#: Tables that leave members out, and those members.
LEFT_OUT: dict[str, str] = {
    "inbox.actions.decisions.decide._DRAFT_CHECKS": "ACTOR AUDIT ENTRANCE VIEW_REQUIRED",
    "inbox.actions.notifications.messages._REASONS": "TEMPORARY",
    "inbox.rules.limits.team_limits.DEFAULT_LIMITS": "FILE_BYTES",
    "inbox.mcp_server.outcomes._ENDED": "WAITING STARTED",
    "inbox.queries.decisions.verified_decisions._CLOSED_AS": "OPEN",
    "inbox.rules.agents.connection_test_messages._MESSAGES": (
        "ADDRESS_REFUSED UNKNOWN_HOST WRONG_STATUS WRONG_TYPE"
    ),
    "inbox.rules.limits.team_limits.RETRY_AFTER": (
        "RUNNING_RUNS AGENT_REQUESTS_PER_MINUTE THREADS EVENT_BYTES FILE_BYTES"
    ),
    "inbox.rules.limits.team_limits._MESSAGES": (
        "RUNNING_RUNS AGENT_REQUESTS_PER_MINUTE FILE_BYTES"
    ),
    "inbox.rules.people.required_sign_in._ACCEPTED": "ANY",
    "inbox.rules.policies.backtest._OUTCOMES": "CANCELLED EXPIRED",
    **dict.fromkeys(
        (
            "inbox.rules.policies.evaluation._STRENGTH",
            "inbox.web.policies.backtest_page.EFFECTS",
            "inbox.web.policies.editing.rule_line._EFFECTS",
            "inbox.web.policies.reapply_page.EFFECTS",
            "inbox.web.policies.rule_rows._ICONS",
            "inbox.web.policies.rule_rows._SERIES",
            "inbox.web.policies.rule_strip._WOULD",
            "inbox.web.policies.try_page._EFFECTS",
        ),
        "GRANT",
    ),
    "inbox.rules.policies.language.sentences._MODES": "ENFORCE",
    "inbox.rules.policies.past_calls._ENDS": "ANSWERED CANCELLED BY_RULE OPEN",
    "inbox.rules.presentations.registry._DEFINITIONS": "GENERIC",
    "inbox.rules.requests.execution._CALL_STATES": "SETTLED",
    "inbox.rules.webhooks.delivery_rules._PROBLEMS": "STATUS",
    "inbox.rules.webhooks.outgoing_urls._PROBLEMS": "PRIVATE",
    **dict.fromkeys(
        (
            "inbox.sending.chats._PAYLOADS",
            "inbox.web.notifications.chats._NAMES",
        ),
        "EMAIL PUSH",
    ),
    "inbox.sending.webhook_sender._ADDRESS_PROBLEMS": (
        "NO_URL SCHEME CREDENTIALS CHARACTERS PRIVATE"
    ),
    "agents.agui.sequence._EXPECTED": "ACTIVE",
}
#: Tables about a few members, which are read with a default for all others.
FEW = {
    "inbox.actions.runs.pulled_runs._NOT_RUN_TEXTS",
    "inbox.actions.webhooks.outbox._CLOSED",
    "inbox.rules.people.invitations._ENDED",
    "inbox.rules.policies.eligibility._VIA",
    "inbox.web.audit.audit_rows._BY_RULE",
}


def tables() -> Iterator[tuple[str, Mapping[Enum, object], type[Enum]]]:
    """Yield the tables of all modules: the name, the table and the enum of its keys."""
    for root in (inbox, agents):
        for item in pkgutil.walk_packages(root.__path__, f"{root.__name__}."):
            if ".migrations" in item.name or item.name in OPTIONAL:
                continue
            module = importlib.import_module(item.name)
            for name, value in vars(module).items():
                enum = _enum_of(value) if isinstance(value, dict) else None
                if enum and re.search(rf"^{name}\b", inspect.getsource(module), re.MULTILINE):
                    yield f"{item.name}.{name}", value, enum


def _enum_of(table: Mapping[object, object]) -> type[Enum] | None:
    """Return the enum of the product that has the keys of a table; None may be a key, too."""
    enums = {type(key) for key in table if key is not None}
    enum = enums.pop() if len(enums) == 1 and len(table) > 1 else None
    is_ours = enum and enum.__module__.startswith(("inbox.", "agents."))
    return enum if enum and is_ours and issubclass(enum, Enum) else None


def wrong_tables() -> dict[str, list[str]]:
    """
    Return the members that tables lack, by the name of the table.

    Of one that leaves members out, all that it lacks, if those are not the ones named here.
    """
    wrong = {}
    for name, table, enum in tables():
        missing = [member.name for member in enum if member not in table]
        if name not in FEW and sorted(missing) != sorted(LEFT_OUT.get(name, "").split()):
            wrong[name] = missing
    return wrong


if __name__ == "__main__":
    django.setup()
    print(json.dumps(wrong_tables()))
