"""The ways in which agents ask their answer whether they may go on."""

from collections.abc import Callable
from typing import Any

GATES: dict[str, Callable[[Any], Any]] = {
    "if answer": bool,
    "if answer is not None": lambda answer: answer is not None,
    "answer['approved']": lambda answer: answer["approved"],
    "answer.get('approved')": lambda answer: answer.get("approved"),
    "answer == 'yes'": lambda answer: answer == "yes",
    "answer is True": lambda answer: answer is True,
    "answer['type'] == 'approve'": lambda answer: answer["type"] == "approve",
    "answer['type'] == 'accept'": lambda answer: answer["type"] == "accept",
    "answer['behavior'] == 'allow'": lambda answer: answer["behavior"] == "allow",
    "answer.get('accepted')": lambda answer: answer.get("accepted"),
    "'approve' in str(answer).split()": lambda answer: "approve" in str(answer).split(),
}
#: Those of agents whose schema has `approved`, so that they read it.
OF_SCHEMA = {"answer['approved']", "answer.get('approved')", "answer is True"}
OF_SCHEMA |= {"answer.get('accepted')", "answer['behavior'] == 'allow'"}
#: Those that read what a rejection says; the others would take any answer for a yes.
READS = sorted(GATES.keys() - {"if answer", "if answer is not None"})


def releases(gate: str, answer: Any) -> bool:
    """Return True if an agent goes on that asks in this way; an exception is no release."""
    try:
        return bool(GATES[gate](answer))
    except (TypeError, KeyError, AttributeError):
        return False
