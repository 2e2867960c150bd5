"""
The refund desk that every server here serves: what its tools do, and what its model says.

Standard library only: this runs in the environments of the frameworks, where nothing of Signoff is
installed.
"""

import json
import os
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

#: What really ran, one line a call.
LEDGER = Path(os.environ["DESK_LEDGER"])
#: Where a server that can do so keeps what it must not forget.
DATA = LEDGER.parent

REFUND = {"order": "A1", "amount": 47.5}
EMAIL = {"to": "a@example.com"}
QUESTION = {"question": "Which quarter?"}
URGENT = {"order": "urgent", "amount": 1}
#: By the last word of the user: the calls that the model asks for, as (id, tool, arguments).
TOOL_CALLS = {
    "refund": [("tc-1", "issue_refund", REFUND)],
    "parallel": [("tc-a", "issue_refund", REFUND), ("tc-b", "send_email", EMAIL)],
    "form": [("tc-f", "ask_quarter", QUESTION)],
    "urgent": [("tc-u", "issue_refund", URGENT)],
    "slow": [("tc-s", "issue_refund", {"order": "slow", "amount": 1})],
    "mixed": [("tc-a", "issue_refund", REFUND), ("tc-f", "ask_quarter", QUESTION)],
    "filing": [("tc-a", "issue_refund", REFUND), ("tc-r", "file_report", {"quarter": "Q2"})],
    "careful": [("tc-c", "refund_carefully", REFUND)],
    "map": [("tc-m", "show_map", {"city": "Bergen"})],  # a tool of the client
}


def issue_refund(order: str, amount: float) -> str:
    """Refund an amount in EUR."""
    result = _ran("issue_refund", f"refunded {amount:g}", order=order, amount=amount)
    if order == "slow":
        time.sleep(600)  # until somebody kills the server
    return result


def send_email(to: str) -> str:
    """Send the customer an e-mail."""
    return _ran("send_email", f"mailed {to}", to=to)


def file_report(quarter: str) -> str:
    """What is done with the answer to a question."""
    return _ran("file_report", f"filed {quarter}", quarter=quarter)


def expiry_of(order: str) -> str | None:
    """When the question about an order expires, for frameworks that can say so."""
    return (datetime.now(UTC) + timedelta(hours=1)).isoformat() if order == "urgent" else None


def tool_calls_for(text: str) -> list[tuple[str, str, dict]]:
    """The calls that the model asks for when a user says this."""
    return TOOL_CALLS[text.rsplit(maxsplit=1)[-1]]


def closing_words(results: list[str]) -> str:
    """What the model says when it has heard the results of its calls."""
    return f"done: {' | '.join(results)}"


def _ran(tool: str, result: str, **args: object) -> str:
    with LEDGER.open("a") as ledger:
        ledger.write(json.dumps({"tool": tool, "args": args}) + "\n")
    return result
