"""The presentations of requests, and which of them a request gets."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from inbox.rules.runs.states import Reason
from inbox.rules.text.labels import separate_words


class PresentationName(StrEnum):
    """The presentations that authors and teams can choose; each has a template of its name."""

    GENERIC = "generic"
    MESSAGE = "message"
    MONEY = "money"
    DATABASE = "database"
    CODE_CHANGE = "code_change"
    COMMAND = "command"
    DEPLOYMENT = "deployment"
    DNS = "dns"
    ERROR = "error"


class SpecialPresentation(StrEnum):
    """The presentations that only the kind of question chooses; each has a template of its name."""

    OUTCOME_UNKNOWN = "outcome_unknown"
    WIZARD_STEP = "wizard_step"


@dataclass(frozen=True)
class Subject:
    """The data by which a presentation is chosen."""

    values: Mapping[str, Any]  #: the arguments, or the values that the agent tells
    tool: str = ""
    reason: str = ""
    kind: str = ""  #: that of older dialects, such as LangGraph's `kind`
    declared: str = ""  #: by the author, or by the team for the tool
    is_step: bool = False  #: a question that its author numbers as one of several
    roles: Mapping[str, str] = field(default_factory=dict)  #: declared roles, with their members


@dataclass(frozen=True)
class Presentation:
    """A presentation, with the member that fills each role."""

    name: PresentationName | SpecialPresentation
    roles: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class _Definition:
    """
    A presentation: its roles with the names of members that fill them, best first.

    `is_fit` gets the words of the tool, reason and kind, and the roles.
    """

    roles: Mapping[str, Sequence[str]]
    is_fit: Callable[[frozenset[str], Mapping[str, str]], bool]


def _has(*names: str) -> Callable[[Mapping[str, str]], bool]:
    return lambda roles: all(name in roles for name in names)


_PAYMENT = {
    "pay", "payment", "payout", "refund", "transfer", "charge", "invoice", "purchase", "wire",
    "reimburse", "credit", "debit",
}  # fmt: skip
_MESSAGE = {
    "mail", "email", "message", "sms", "slack", "notify", "reply", "newsletter", "tweet", "post",
    "send",
}  # fmt: skip
_DEPLOY = {"deploy", "deployment", "release", "rollout", "promote", "rollback", "publish", "scale"}
_ERROR = {"error", "failed", "failure", "recovery", "exception"}
_CHANGE = {"write", "edit", "patch", "merge", "commit", "apply", "create", "update", "file", "code"}

#: In the order in which they are tried.
_DEFINITIONS: Mapping[PresentationName, _Definition] = {
    PresentationName.DNS: _Definition(
        {
            "record": ("record", "name", "hostname", "host", "domain"),
            "type": ("type", "record_type"),
            "target": ("value", "target", "content", "data", "address"),
            "before": ("old_value", "current", "previous", "before"),
            "ttl": ("ttl",),
            "zone": ("zone", "zone_id"),
        },
        lambda words, roles: "dns" in words and _has("record", "target")(roles),
    ),
    PresentationName.DATABASE: _Definition(
        {
            "query": ("query", "sql", "statement"),
            "action": ("action", "operation"),
            "table": ("table", "collection", "tables"),
            "database": ("database", "db", "schema", "connection"),
            "rows": ("affected_rows", "rows_affected", "row_count", "rows", "count"),
            "rollback": ("rollback_plan", "rollback", "undo", "recovery"),
        },
        lambda words, roles: (
            "query" in roles or bool(words & {"database", "sql"} and _has("table")(roles))
        ),
    ),
    PresentationName.CODE_CHANGE: _Definition(
        {
            "diff": ("diff", "patch", "unified_diff"),
            "path": ("file_path", "path", "file", "filename", "file_name"),
            "before": ("old_string", "old_text", "old_content", "before", "old"),
            "after": (
                *("new_string", "new_text", "new_content", "after", "new"),
                *("content", "contents", "file_text"),
            ),
            "summary": ("commit_message", "title", "description", "message"),
            "branch": ("branch", "ref", "repository", "repo"),
        },
        lambda words, roles: (
            "diff" in roles
            or (_has("path", "after")(roles) and ("before" in roles or bool(words & _CHANGE)))
        ),
    ),
    PresentationName.COMMAND: _Definition(
        {
            "command": ("command", "cmd", "commands", "script", "shell"),
            "directory": ("cwd", "working_directory", "workdir", "directory"),
            "description": ("description", "purpose", "why"),
            "timeout": ("timeout", "timeout_seconds", "timeout_ms"),
        },
        lambda words, roles: "command" in roles,
    ),
    PresentationName.MONEY: _Definition(
        {
            # Not amount_cents: 12400 cents would read as 12,400.00 EUR.
            "amount": ("amount", "total", "sum", "price"),
            "currency": ("currency", "currency_code"),
            "recipient": (
                *("recipient", "to", "payee", "beneficiary", "customer", "vendor", "supplier"),
                *("account", "iban", "order", "order_id", "invoice", "invoice_id"),
            ),
            "purpose": ("purpose", "reference", "memo", "note", "reason", "description"),
        },
        lambda words, roles: (
            "amount" in roles
            and (bool(words & _PAYMENT) or "currency" in roles or "recipient" in roles)
        ),
    ),
    PresentationName.MESSAGE: _Definition(
        {
            "to": ("to", "recipient", "recipients", "email", "channel", "phone", "to_address"),
            "cc": ("cc",),
            "bcc": ("bcc",),
            "from": ("from", "sender", "from_address"),
            "subject": ("subject", "title"),
            "body": ("body", "text", "message", "content", "html", "markdown"),
        },
        lambda words, roles: (
            "body" in roles
            and ("to" in roles or "subject" in roles)
            and (bool(words & _MESSAGE) or _has("to", "subject")(roles))
        ),
    ),
    PresentationName.DEPLOYMENT: _Definition(
        {
            "service": ("service", "services", "app", "application", "project", "image", "package"),
            "version": ("version", "tag", "release", "commit", "revision", "sha"),
            "environment": ("environment", "env", "stage", "cluster", "namespace", "target"),
            "region": ("region", "regions", "zone"),
            "before": ("from_version", "current_version", "previous_version"),
            "traffic": ("canary_percent", "traffic", "percent", "replicas"),
        },
        lambda words, roles: (
            bool(words & _DEPLOY) and any(role in roles for role in ("service", "version"))
        ),
    ),
    PresentationName.ERROR: _Definition(
        {
            "error": ("error", "error_message", "exception", "failure", "stderr", "problem"),
            "step": ("failed_step", "step", "operation", "task", "stage", "tool"),
            "target": ("file", "file_path", "path", "record", "item", "url", "target"),
            "attempts": ("attempts", "attempt", "retries", "retry_count"),
            "trace": ("traceback", "stack_trace", "stack", "details", "log"),
        },
        lambda words, roles: "error" in roles and bool(words & _ERROR),
    ),
}


def choose(subject: Subject) -> Presentation:
    """
    Return the presentation of a request.

    A declared one goes first, and is generic if none of its roles can be filled. Without one, the
    words of tool, reason and kind and the names of the values decide.
    """
    if not subject.declared and subject.reason == Reason.OUTCOME_UNKNOWN:
        return Presentation(SpecialPresentation.OUTCOME_UNKNOWN)
    if not subject.declared and subject.is_step and not subject.tool:
        return Presentation(SpecialPresentation.WIZARD_STEP)
    if subject.declared:
        if subject.declared not in _DEFINITIONS:
            return Presentation(PresentationName.GENERIC)
        name = PresentationName(subject.declared)
        roles = _roles(_DEFINITIONS[name], subject)
        return Presentation(name, roles) if roles else Presentation(PresentationName.GENERIC)
    words = _words(f"{subject.tool} {subject.reason} {subject.kind}")
    for name, definition in _DEFINITIONS.items():
        roles = _roles(definition, subject)
        if definition.is_fit(words, roles):
            return Presentation(name, roles)
    return Presentation(PresentationName.GENERIC)


def roles_of(name: str) -> Sequence[str]:
    """Return the roles of a presentation, none for the generic one and unknown names."""
    return [*_DEFINITIONS[PresentationName(name)].roles] if name in _DEFINITIONS else []


def _roles(definition: _Definition, subject: Subject) -> dict[str, str]:
    """Return the member for each role; a member fills one role."""
    by_key: dict[str, str] = {}
    for member, value in subject.values.items():
        if value not in (None, "", [], {}):
            by_key.setdefault(_snake_case(member), member)
    roles = {
        role: member
        for role, member in subject.roles.items()
        if role in definition.roles and member in subject.values
    }
    used = set(roles.values())
    for role, names in definition.roles.items():
        free = (by_key[key] for key in names if key in by_key and by_key[key] not in used)
        member = next(free, "")
        if member and role not in roles:
            roles[role] = member
            used.add(member)
    return roles


def _snake_case(name: str) -> str:
    return re.sub(r"[-\s]+", "_", separate_words(name, "_").lower())


def _words(text: str) -> frozenset[str]:
    return frozenset(re.findall(r"[a-z0-9]+", _snake_case(text).replace("_", " ")))
