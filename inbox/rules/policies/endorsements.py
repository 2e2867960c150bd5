"""Answers that several people give together."""

import json
from collections import Counter
from collections.abc import Sequence
from typing import Any

from inbox.rules import errors
from inbox.rules.decisions.consent import canonical_json
from inbox.rules.policies.language.policy import Slot
from inbox.rules.policies.requirement import REVIEWER
from inbox.rules.text.messages import TranslatableMessage

Slots = list[frozenset[Slot]]
#: One reviewer, as without a policy.
DEFAULT_SLOTS: Slots = [frozenset({REVIEWER})]
#: The reviewer's note, which each person writes for themselves.
_NOTE = "reason"


def merge_slots(before: Slots, after: Slots) -> Slots:
    """Return the slots for edited arguments: the most of each; one reviewer adds nobody."""
    if DEFAULT_SLOTS in (before, after):
        return after if before == DEFAULT_SLOTS else before
    return list((Counter(before) | Counter(after)).elements())


def proposal_text(payload: Any) -> str | None:
    """
    Return the JSON text of what an approval changes or answers; None for a plain approval.

    Raises:
        InvalidPayload: the payload cannot be stored as JSON.
    """
    if isinstance(payload, dict):
        payload = {name: value for name, value in payload.items() if name != _NOTE}
    if payload is True or payload == {"approved": True}:
        return None
    try:
        canonical_json(payload)
    except ValueError as error:
        raise errors.InvalidPayload(
            TranslatableMessage("The answer cannot be stored as JSON: {error}.", error=error)
        ) from error
    return json.dumps(payload, ensure_ascii=False, separators=(",", ":"))


def is_same_proposal(first: str | None, second: str | None) -> bool:
    """Return whether two texts of `proposal_text` propose the same."""
    if first is None or second is None:
        return first is second
    return canonical_json(json.loads(first)) == canonical_json(json.loads(second))


def joined_payload(payload: Any, endorsed: str | None) -> Any:
    """Return an approval with what others have endorsed before, which it may change."""
    before = None if endorsed is None else json.loads(endorsed)
    if not isinstance(before, dict):
        return before if endorsed is not None and payload is True else payload
    return {**before, **payload} if isinstance(payload, dict) else payload


def slot_names(slots: Sequence[frozenset[Slot]]) -> str:
    """Return the names of groups and roles in these slots, for messages."""
    return ", ".join(" / ".join(sorted(slot.name for slot in options)) for options in slots)
