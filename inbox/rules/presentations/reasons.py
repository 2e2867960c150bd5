"""Names of the reasons of interrupts, for people."""

from inbox.rules.runs.states import Reason
from inbox.rules.text.labels import separate_words
from inbox.rules.text.messages import TranslatableMessage

#: A file is asked for.
UPLOAD_REQUIRED = "upload_required"
_NAMES: dict[str, TranslatableMessage] = {
    Reason.TOOL_CALL: TranslatableMessage("Approval"),
    Reason.INPUT_REQUIRED: TranslatableMessage("Question"),
    Reason.CONFIRMATION: TranslatableMessage("Confirmation"),
    Reason.OUTCOME_UNKNOWN: TranslatableMessage("Outcome unknown"),
    "interrupt": TranslatableMessage("Question"),
    UPLOAD_REQUIRED: TranslatableMessage("Upload"),
    "policy_hold": TranslatableMessage("Policy hold"),
    "error_recovery": TranslatableMessage("Error recovery"),
}


def reason_name(reason: str) -> str:
    """
    Return the name of a reason: "Question" for `input_required`, "Policy hold" for
    `acme:policy_hold`.

    Known names are TranslatableMessages. Any other reason is the agent's text, as words and without
    its namespace: "Refund Approval" for `billing:refundApproval`.
    """
    return _NAMES.get(reason) or _NAMES.get(_local_name(reason)) or reason_words(reason)


def reason_words(reason: str) -> str:
    """Return a reason as words, without its namespace: "Refund approval"."""
    spaced = separate_words(_local_name(reason)).replace("_", " ").replace("-", " ")
    text = " ".join(spaced.split())
    return text[:1].upper() + text[1:] if text else reason


def _local_name(reason: str) -> str:
    return reason.rpartition(":")[2] or reason
