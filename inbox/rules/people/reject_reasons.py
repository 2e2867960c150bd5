"""The reasons that a team offers to people who reject a request."""

from collections.abc import Sequence

from inbox.rules.errors import InvalidValue
from inbox.rules.text.messages import TranslatableMessage

MAX_REJECT_REASONS, MAX_REJECT_REASON_CHARACTERS = 8, 60


def default_reject_reasons() -> list[str]:
    """Return the reasons of a new team."""
    return ["Wrong amount", "Wrong recipient", "Not now", "Needs more detail"]


def check_reject_reasons(reasons: Sequence[str]) -> None:
    """Raise InvalidValue unless a team may offer these reasons."""
    if len(reasons) > MAX_REJECT_REASONS:
        raise InvalidValue(
            TranslatableMessage("A team has at most {most} reasons.", most=MAX_REJECT_REASONS)
        )
    for reason in reasons:
        is_short = 1 <= len(reason) <= MAX_REJECT_REASON_CHARACTERS
        if not (is_short and reason.isprintable() and reason == reason.strip()):
            raise InvalidValue(
                TranslatableMessage(
                    "A reason must have 1 to {most} characters, all of them visible.",
                    most=MAX_REJECT_REASON_CHARACTERS,
                )
            )
    if len(set(reasons)) < len(reasons):
        raise InvalidValue(TranslatableMessage("The same reason is there twice."))
