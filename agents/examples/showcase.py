"""An assistant whose requests show each presentation: a mail, a payment, code, a command, DNS."""

from typing import Any

from agents.sdk.present import Fact, Present, Value
from agents.sdk.tools import tool
from agents.sdk.workflow import WorkflowContext, workflow

BODY = """Hi Ana,

the invoice **KG-2211** is paid. The amounts are:

| Item | Amount |
| --- | ---: |
| Maintenance | 9,850.00 EUR |
| Travel | 2,550.00 EUR |

Best regards
Finance
"""
BEFORE = """def total(lines):
    result = 0
    for line in lines:
        result += line.amount
    return result
"""
AFTER = """def total(lines):
    return sum(line.amount for line in lines if not line.is_void)
"""
PATCH = """--- a/billing/tax.py
+++ b/billing/tax.py
@@ -10,6 +10,7 @@ RATES = {
     "DE": Decimal("0.19"),
-    "AT": Decimal("0.2"),
+    "AT": Decimal("0.20"),
+    "CH": Decimal("0.081"),
 }
 EU = ("DE", "AT")
 def tax(amount, country):
"""


@tool(
    effect="once",
    approval="Send an e-mail to {to}",
    present=Present(values={"body": Value(type="markdown")}),
)
def send_email(to: str, cc: list[str], subject: str, body: str) -> str:
    """Send an e-mail (demo: nothing is sent)."""
    return f"sent to {to} and {len(cc)} more: {subject}, {len(body)} characters"


@tool(
    effect="once",
    approval="Transfer {amount:,.2f} {currency} to {recipient}",
    present=Present(
        kind="money",
        severity="high",
        reversible=False,
        values={"amount": Value(type="money")},
    ),
)
def transfer(recipient: str, iban: str, amount: float, currency: str, reference: str) -> str:
    """Transfer money (demo: no money moves)."""
    return f"{amount:,.2f} {currency} for {recipient} ({iban}): {reference}"


@tool(effect="idempotent", approval="Change the code in {file_path}")
def edit_file(file_path: str, old_string: str, new_string: str) -> str:
    """Replace a part of a file (demo: no file is changed)."""
    return f"replaced {len(old_string)} characters of {file_path} by {len(new_string)}"


@tool(
    effect="idempotent",
    approval="Apply a patch to {repository}",
    present=Present(reversible=True, facts=[Fact("Checks", "412 tests passed")]),
)
def apply_patch(repository: str, patch: str) -> str:
    """Apply a patch (demo: no repository is changed)."""
    return f"{len(patch)} characters applied to {repository}"


@tool(
    effect="once",
    approval="Run a command on {host}",
    present=Present(kind="command", severity="medium"),
)
def run_command(host: str, command: str, cwd: str, timeout_seconds: int) -> str:
    """Run a shell command (demo: nothing runs)."""
    return f"{host}:{cwd}: {command} ended after less than {timeout_seconds} s"


@tool(
    effect="idempotent",
    approval="Point {record} to {value}",
    present=Present(kind="dns", severity="high", reversible=True),
)
def update_dns(record: str, type: str, old_value: str, value: str, ttl: int) -> str:  # noqa: A002
    """Change a DNS record (demo: no record is changed)."""
    return f"{record} {ttl} {type} {value}, before {old_value}"


CALLS: list[tuple[Any, dict[str, Any]]] = [
    (
        send_email,
        {
            "to": "ana@kestrel.example",
            "cc": ["finance@example.com"],
            "subject": "Invoice KG-2211 is paid",
            "body": BODY,
        },
    ),
    (
        transfer,
        {
            "recipient": "Kestrel GmbH",
            "iban": "DE02 1203 0000 0000 2020 51",
            "amount": 12_400,
            "currency": "EUR",
            "reference": "KG-2211",
        },
    ),
    (
        edit_file,
        {"file_path": "billing/totals.py", "old_string": BEFORE, "new_string": AFTER},
    ),
    (apply_patch, {"repository": "billing", "patch": PATCH}),
    (
        run_command,
        {
            "host": "build-7",
            "command": "find /var/cache/builds -mtime +30 -delete",
            "cwd": "/var/cache",
            "timeout_seconds": 60,
        },
    ),
    (
        update_dns,
        {
            "record": "shop.example.com",
            "type": "CNAME",
            "old_value": "lb-1.example.net",
            "value": "lb-2.example.net",
            "ttl": 300,
        },
    ),
]


@workflow(tools=tuple(function for function, _ in CALLS))
async def showcase(ctx: WorkflowContext) -> None:
    """Asks for a mail, a payment, two code changes, a command and a DNS record at once."""
    await ctx.emit_text("Six things are ready. Each of them waits for your approval.")
    outcomes = await ctx.call_all(*CALLS)
    done = sum(outcome.is_done for outcome in outcomes)
    await ctx.emit_text(f"{done} of {len(outcomes)} are done.")
