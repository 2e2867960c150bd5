"""Bulk decisions: which interrupts may be decided together with others."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from inbox.rules import errors
from inbox.rules.decisions.approvals import takes_approval
from inbox.rules.decisions.similarity import flatten_arguments
from inbox.rules.presentations.vocabulary import has_more_facts
from inbox.rules.schema.mask_agui import secrets_of_arguments
from inbox.rules.schema.schemas import APPROVAL
from inbox.rules.schema.secrets import NAMES
from inbox.rules.text.messages import TranslatableMessage
from inbox.rules.text.safe_text import escape_invisible, json_text
from inbox.rules.text.unicode_spoofing import cached_findings

#: A longer value does not fit into the table of requests.
MAX_VALUE_CHARACTERS = 1_000
MAX_VALUES = 40
#: The path of the metadata among the values of an interrupt; no argument has this path.
METADATA = ""


@dataclass(frozen=True)
class BulkCandidate:
    """The part of an interrupt that these rules read, as stored JSON texts."""

    reason: str
    tool: str  #: "" without a tool call
    args: str | None  #: as proposed when the interrupt was created
    approved_args: str | None  #: with edits
    body: str  #: the AG-UI Interrupt
    key: str  #: a cache key, unique for these texts
    people_needed: int = 1
    is_restored: bool = False  #: from a backup, and nobody has checked what happened since

    @cached_property
    def interrupt(self) -> dict[str, Any]:
        interrupt: dict[str, Any] = json.loads(self.body)
        return interrupt

    @property
    def approves_call(self) -> bool:
        """Return whether the answer approves or denies a tool call, by any reason."""
        schema = self.interrupt.get("responseSchema")
        return self.args is not None and takes_approval(reason=self.reason, schema=schema)

    @cached_property
    def arguments(self) -> Any:
        return json.loads(self.args) if self.args else {}

    @cached_property
    def values(self) -> dict[str, Any]:
        """The values that may differ between similar requests, by path."""
        return bulk_values(self.arguments, self.interrupt.get("metadata"))


def check_bulk(candidate: BulkCandidate, *, may_see_secrets: bool) -> None:
    """
    Raise unless the interrupt may be decided together with others.

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
    Return why the interrupt has to be decided individually, or None.

    `may_see_secrets`: nothing is masked for the actor.
    """
    for applies, obstacle in _OBSTACLES:
        if applies(candidate) and not (may_see_secrets and applies is _is_masked):
            return obstacle
    return None


def view_obstacle(candidate: BulkCandidate) -> TranslatableMessage | None:
    """Return why a page cannot show all of the interrupt as people decide it, or None."""
    others = (pair for pair in _OBSTACLES if pair[0] is not _needs_form)
    return next((obstacle for applies, obstacle in others if applies(candidate)), None)


def bulk_values(args: Any, metadata: Any) -> dict[str, Any]:
    """Return the flattened arguments by path, and the metadata if there is any."""
    values = flatten_arguments(args)
    return {**values, METADATA: metadata} if metadata else values


def value_text(value: Any) -> str:
    """Return a string as it is, other values as JSON; a string that looks like JSON is quoted."""
    if isinstance(value, str) and not _looks_like_json(value):
        return escape_invisible(value)
    return json_text(value)


def _looks_like_json(text: str) -> bool:
    if not text.strip():
        return True
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return text.startswith('"')
    return True


def _needs_form(candidate: BulkCandidate) -> bool:
    if not candidate.approves_call:
        return True
    schema = candidate.interrupt.get("responseSchema") or APPROVAL
    required = schema.get("required", ()) if isinstance(schema, dict) else ()
    return not set(required) <= {"approved"}


def _has_spoofing(candidate: BulkCandidate) -> bool:
    values = [candidate.tool, candidate.arguments, candidate.interrupt]
    return bool(cached_findings(f"bulk {candidate.key}", lambda: values))


def _is_masked(candidate: BulkCandidate) -> bool:
    secrets = secrets_of_arguments(candidate.body)
    metadata = candidate.interrupt.get("metadata")
    return bool(secrets.places(candidate.arguments) or NAMES.places(metadata))


def _is_long(candidate: BulkCandidate) -> bool:
    values = candidate.values
    message = candidate.interrupt.get("message") or ""
    texts = [message, *map(value_text, values.values()), *values]
    if len(values) > MAX_VALUES or any(len(text) > MAX_VALUE_CHARACTERS for text in texts):
        return True
    return has_more_facts(candidate.interrupt)


def _is_changed(candidate: BulkCandidate) -> bool:
    return candidate.approved_args != candidate.args


#: In the order in which they are reported.
_OBSTACLES: tuple[tuple[Callable[[BulkCandidate], bool], TranslatableMessage], ...] = (
    (
        _needs_form,
        TranslatableMessage("This request needs more than approval. Review it on its own page."),
    ),
    (
        _has_spoofing,
        TranslatableMessage("The request has suspicious characters. Review it on its own page."),
    ),
    (
        _is_masked,
        TranslatableMessage("Some values are masked. Review this request on its own page."),
    ),
    (_is_long, TranslatableMessage("Shortened here. Review it on its own page to read all of it.")),
    (
        lambda candidate: candidate.people_needed > 1,
        TranslatableMessage("Several people have to approve this. Review it on its own page."),
    ),
    (
        lambda candidate: candidate.is_restored,
        TranslatableMessage("It was restored from a backup. Review this request on its own page."),
    ),
    (
        _is_changed,
        TranslatableMessage(
            "Another answer changed these arguments. Review this request on its own page."
        ),
    ),
)
