"""Shared parts of the refund desks that are written with other frameworks."""

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

#: Above this many dollars a person decides.
LIMIT = 20
#: Every payment of this process, as (order, amount): the demo moves no money.
paid: list[tuple[str, float]] = []


class Call(NamedTuple):
    """A tool call of a model."""

    name: str
    args: dict[str, Any]
    id: str


def pay(order: str, amount: float) -> str:
    """Pay money back to a customer (demo: no money moves)."""
    paid.append((order, amount))
    return f"refunded ${amount:,.2f} for {order}"


def requested_calls(text: str, turn: int) -> list[Call]:
    """
    Return the calls that a model would make for "Refund A1 for 30, and A2 for 5. Ask why."

    `turn` makes the ids of the calls unique.
    """
    calls = [
        Call("refund", {"order": order, "amount": float(amount)}, f"refund-{turn}-{number}")
        for number, (order, amount) in enumerate(re.findall(r"\b(\w{1,20}) for (\d+)", text))
    ]
    if "why" in text:
        calls.append(Call("ask_reason", {"question": "Why is it refunded?"}, f"ask-{turn}"))
    return calls


def report(results: Sequence[str]) -> str:
    """Return the text that a model would write about the results."""
    return "Done: " + "; ".join(results) + "."
