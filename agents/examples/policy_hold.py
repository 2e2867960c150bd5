"""A payment run that a policy holds: an interrupt that is not about a tool call."""

from agents.sdk.tools import tool
from agents.sdk.workflow import WorkflowContext, workflow

BATCH = "PB-2026-0042"
LIMIT = 1_000.0
LINES = {"Kestrel GmbH": 860.5, "Northwind Ltd": 500.0}

RELEASE = {
    "type": "object",
    "title": "Release of the batch",
    "properties": {
        "approved": {"type": "boolean"},
        "costCentre": {"type": "string", "title": "Cost centre", "pattern": "^[0-9]{4}$"},
        "reason": {"type": "string"},
    },
    "required": ["approved"],
}


@tool(effect="once")
def execute_payments(batch: str, cost_centre: str) -> str:
    """Send a batch to the bank (demo: there is none)."""
    return f"{batch} is with the bank, booked on {cost_centre}"


@workflow(tools=(execute_payments,))
async def treasury(ctx: WorkflowContext) -> None:
    """Pays a batch; above $1,000 a policy holds it until a person releases it."""
    total = sum(LINES.values())
    await ctx.emit_text(f"{len(LINES)} invoices are due today, ${total:,.2f} together.")
    reply = await ctx.interrupt(
        f"Release payment batch {BATCH}",
        reason="acme:policy_hold",
        response_schema=RELEASE,
        metadata={"policy": f"A batch above ${LIMIT:,.0f} needs a person.", "lines": LINES},
    )
    if reply.is_cancelled or not reply.payload["approved"]:
        await ctx.emit_text("The batch is cancelled, and nobody is paid.")
        return
    payment = await ctx.call(
        execute_payments, batch=BATCH, cost_centre=reply.payload.get("costCentre", "0000")
    )
    await ctx.emit_text(str(payment.value))
