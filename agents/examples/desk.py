"""What the refund desks have in common that are written with other frameworks."""

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

#: Above this many dollars a person decides.
LIMIT = 20
#: Every payment of this process, as (order, amount): the demo moves no money.
paid: list[tuple[str, float]] = []


class Call(NamedTuple):
    """A tool call that a model wants."""

    name: str
    args: dict[str, Any]
    id: str


def pay(order: str, amount: float) -> str:
    """Pay money back to a customer (demo: no money moves)."""
    paid.append((order, amount))
    return f"refunded ${amount:,.2f} for {order}"


def wanted(text: str, turn: int) -> list[Call]:
    """
    Stand in for what a model makes of "Refund A1 for 30, and A2 for 5. Ask why."

    It does as it reads, be it from a person or in a result.

    `turn` keeps the ids of its calls apart.
    """
    calls = [
        Call("refund", {"order": order, "amount": float(amount)}, f"refund-{turn}-{number}")
        for number, (order, amount) in enumerate(re.findall(r"\b(\w{1,20}) for (\d+)", text))
    ]
    if "why" in text:
        calls.append(Call("ask_reason", {"question": "Why is it refunded?"}, f"ask-{turn}"))
    return calls


def report(results: Sequence[str]) -> str:
    """Stand in for what a model says when it has heard what came of its calls."""
    return "Done: " + "; ".join(results) + "."
