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

#: Longer answers are cut where the people who gave them are listed.
MAX_ANSWER_CHARACTERS = 120
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
    """
    Return an approval with what others have endorsed before, which it may change.

    Any other answer is complete, and stays as it is.
    """
    before = None if endorsed is None else json.loads(endorsed)
    is_approval = isinstance(payload, dict) and payload.get("approved") is True
    return {**before, **payload} if is_approval and isinstance(before, dict) else payload


def endorsed_answer(payload: str) -> Any:
    """Return the answer of an endorsement; earlier versions stored none for a plain approval."""
    return json.loads(payload) if payload else {"approved": True}


def is_plain_approval(answer: Any) -> bool:
    """Return whether an answer approves, with or without changes, and chooses nothing else."""
    return isinstance(answer, dict) and answer.get("approved") is True


def answer_text(answer: Any) -> str:
    """Return an answer as a short text: the chosen option, or JSON; "" for an approval."""
    if is_plain_approval(answer):
        return ""
    if isinstance(answer, dict) and len(answer) == 1:
        answer = next(iter(answer.values()))
    text = answer if isinstance(answer, str) else json.dumps(answer, ensure_ascii=False)
    return text if len(text) <= MAX_ANSWER_CHARACTERS else f"{text[:MAX_ANSWER_CHARACTERS]}\u2026"


def slot_names(slots: Sequence[frozenset[Slot]]) -> str:
    """Return the names of groups and roles in these slots, for messages."""
    return ", ".join(" / ".join(sorted(slot.name for slot in options)) for options in slots)
