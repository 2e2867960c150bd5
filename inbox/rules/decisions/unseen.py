"""Approving what is masked: it has to be revealed first, or approved explicitly without that."""

from collections.abc import Collection
from typing import Any

from inbox.rules.errors import MaskedNotSeen
from inbox.rules.runs.contract import ResumeEntry
from inbox.rules.runs.states import EntryStatus
from inbox.rules.text.messages import TranslatableMessage

#: What a decision consents to, by the keys of `masked_values_of_interrupt`.
CONSENTED = ("request", "arguments")


def is_consent(entry: ResumeEntry) -> bool:
    """Whether an answer consents to what was asked: a denial or a cancellation does not."""
    return entry.status is EntryStatus.RESOLVED and not _is_denial(entry.payload)


def check_masked_values_seen(unseen_sets: Collection[str], *, unseen: bool) -> None:
    """
    Raise unless all that is masked was revealed, or is approved explicitly without that.

    Raises:
        MaskedNotSeen: `detail` has the sets that were not revealed.
    """
    if unseen_sets and not unseen:
        raise MaskedNotSeen(
            TranslatableMessage(
                "Some values are masked. Reveal them, or approve explicitly without seeing them."
            ),
            masked=sorted(unseen_sets),
        )


def _is_denial(payload: Any) -> bool:
    return payload is False or (isinstance(payload, dict) and payload.get("approved") is False)
