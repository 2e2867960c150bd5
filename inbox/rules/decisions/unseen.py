"""Approval of masked values: reveal them first, or approve explicitly without seeing them."""

from collections.abc import Collection

from inbox.rules.errors import MaskedNotSeen
from inbox.rules.runs.contract import ResumeEntry
from inbox.rules.runs.states import EntryStatus
from inbox.rules.text.messages import TranslatableMessage

#: What a decision consents to, by the keys of `masked_values_of_interrupt`.
CONSENTED = ("request", "arguments")


def is_consent(entry: ResumeEntry) -> bool:
    """Return whether a decision consents to the request: neither a denial nor a cancellation."""
    payload = entry.payload
    is_denial = payload is False or (isinstance(payload, dict) and payload.get("approved") is False)
    return entry.status is EntryStatus.RESOLVED and not is_denial


def check_masked_values_seen(unseen_sets: Collection[str], *, unseen: bool) -> None:
    """
    Raise unless all masked values were revealed, or `unseen` approves them explicitly.

    Raises:
        MaskedNotSeen: `detail` has the sets of values that were not revealed.
    """
    if unseen_sets and not unseen:
        raise MaskedNotSeen(
            TranslatableMessage(
                "Some values are masked. Reveal them, or approve explicitly without seeing them."
            ),
            masked=sorted(unseen_sets),
        )
