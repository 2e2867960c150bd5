"""The interrupts that may be answered together with others, without a page of their own."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from inbox.rules import errors
from inbox.rules.decisions.similarity import flatten_arguments
from inbox.rules.runs.states import Reason
from inbox.rules.schema.mask_agui import secrets_of_arguments
from inbox.rules.schema.schemas import APPROVAL
from inbox.rules.schema.secrets import NAMES
from inbox.rules.text.messages import TranslatableMessage
from inbox.rules.text.safe_text import escape_invisible, json_text
from inbox.rules.text.unicode_spoofing import cached_findings

#: A longer value is read on the page of its request: a table of requests cannot show it whole.
MAX_VALUE_CHARACTERS = 1_000
MAX_VALUES = 40
#: The place of the metadata among the values of an interrupt; no argument has it.
METADATA = ""


@dataclass(frozen=True)
class BulkCandidate:
    """An interrupt as far as these rules look at it; all texts are JSON as stored."""

    reason: str
    tool: str  #: "" if it is about no tool call
    args: str | None  #: as proposed when the interrupt was opened
    approved_args: str | None  #: as they stand now
    body: str  #: the AG-UI Interrupt
    key: str  #: the same for the same texts only

    @cached_property
    def asked(self) -> dict[str, Any]:
        asked: dict[str, Any] = json.loads(self.body)
        return asked

    @cached_property
    def arguments(self) -> Any:
        return json.loads(self.args) if self.args else {}

    @cached_property
    def values(self) -> dict[str, Any]:
        """Return everything that differs from request to request, by its place."""
        return bulk_values(self.arguments, self.asked.get("metadata"))


def check_bulk(candidate: BulkCandidate, *, may_see_secrets: bool) -> None:
    """
    Raise unless the interrupt may be answered together with others.

    Raises:
        NotInBulk.
    """
    obstacle = bulk_obstacle(candidate, may_see_secrets=may_see_secrets)
    if obstacle is not None:
        raise errors.NotInBulk(obstacle)


def bulk_obstacle(
    candidate: BulkCandidate, *, may_see_secrets: bool = False
) -> TranslatableMessage | None:
    """
    Return why the interrupt has to be looked at by itself, or None.

    `may_see_secrets` says that nothing is masked for whoever answers.
    """
    for applies, obstacle in _OBSTACLES:
        if applies(candidate) and not (may_see_secrets and applies is _is_masked):
            return obstacle
    return None


def bulk_values(args: Any, metadata: Any) -> dict[str, Any]:
    """Return the leaves of the arguments by their places, and the metadata if there is some."""
    leaves = flatten_arguments(args)
    return {**leaves, METADATA: metadata} if metadata else leaves


def value_text(value: Any) -> str:
    """Return a text as it reads, anything else as JSON; a text that looks like JSON is quoted."""
    if isinstance(value, str) and not _reads_as_json(value):
        return escape_invisible(value)
    return json_text(value)


def _reads_as_json(text: str) -> bool:
    if not text.strip():
        return True
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return text.startswith('"')
    return True


def _asks_for_more(candidate: BulkCandidate) -> bool:
    if candidate.reason != Reason.TOOL_CALL or not candidate.tool:
        return True
    schema = candidate.asked.get("responseSchema") or APPROVAL
    required = schema.get("required", ()) if isinstance(schema, dict) else ()
    return not set(required) <= {"approved"}


def _deceives(candidate: BulkCandidate) -> bool:
    shown = [candidate.tool, candidate.arguments, candidate.asked]
    return bool(cached_findings(f"bulk {candidate.key}", lambda: shown))


def _is_masked(candidate: BulkCandidate) -> bool:
    secrets = secrets_of_arguments(candidate.body)
    beside = candidate.asked.get("metadata")
    return bool(secrets.places(candidate.arguments) or NAMES.places(beside))


def _is_long(candidate: BulkCandidate) -> bool:
    values = candidate.values
    message = candidate.asked.get("message") or ""
    texts = [message, *map(value_text, values.values()), *values]
    return len(values) > MAX_VALUES or any(len(text) > MAX_VALUE_CHARACTERS for text in texts)


def _is_changed(candidate: BulkCandidate) -> bool:
    return candidate.approved_args != candidate.args


#: In the order in which they are reported.
_OBSTACLES: tuple[tuple[Callable[[BulkCandidate], bool], TranslatableMessage], ...] = (
    (
        _asks_for_more,
        TranslatableMessage("This request needs more than approval. Review it on its own page."),
    ),
    (
        _deceives,
        TranslatableMessage("The request has suspicious characters. Review it on its own page."),
    ),
    (
        _is_masked,
        TranslatableMessage("Some values are masked. Review this request on its own page."),
    ),
    (_is_long, TranslatableMessage("Shortened here. Open the request to read all of it.")),
    (
        _is_changed,
        TranslatableMessage(
            "Another answer changed these arguments. Review this request on its own page."
        ),
    ),
)
