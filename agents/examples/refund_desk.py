"""A refund desk: small refunds are paid at once, larger ones after approval."""

from pydantic import BaseModel, Field

from agents.sdk.present import Present, Value
from agents.sdk.tools import tool
from agents.sdk.workflow import WorkflowContext, workflow

PAYMENTS = {
    "88121": 142.5,
    "87990": 85.0,
    "86931": 75.0,
    "87204": 64.0,
    "88007": 12.0,
    "84455": 61.8,
    "84820": 129.0,
    "84977": 73.25,
    "85104": 96.4,
    "85512": 88.0,
    "85733": 99.0,
    "86044": 66.0,
    "86218": 91.9,
    "86390": 78.5,
    "86777": 97.0,
    "86845": 64.2,
}


class Complaint(BaseModel):
    order: str = Field(default="88121", title="Order number")
    why: str = Field(default="The parcel never arrived.", title="What the customer wrote")


@tool(effect="read")
def find_payment(order: str) -> float:
    """Find what a customer paid for an order, in USD."""
    return PAYMENTS.get(order, 58.0)


@tool(
    effect="once",
    approval=lambda order, amount, note: (
        f"Refund ${amount:,.2f} for order #{order}" if amount > 20 else None
    ),
    present=Present(
        kind="money",
        reversible=False,
        values={"amount": Value(unit="USD", type="money"), "note": Value(role="purpose")},
    ),
)
def issue_refund(order: str, amount: float, note: str) -> str:
    """Pay money back to a customer (demo: no money moves)."""
    return f"refund of ${amount:,.2f} issued for order #{order}"


@workflow(tools=(find_payment, issue_refund), input_model=Complaint)
async def refund_desk(ctx: WorkflowContext) -> None:
    """Refunds customers; above $20 a person decides, and may change the amount and the note."""
    complaint = Complaint.model_validate(ctx.input or {})
    await ctx.emit_text(f"The customer of order #{complaint.order} wrote: “{complaint.why}”")
    paid = await ctx.call(find_payment, order=complaint.order)
    refund = await ctx.call(
        issue_refund,
        order=complaint.order,
        amount=paid.value,
        note="Hi,\n\nwe are sorry. Your refund reaches you within 5 business days.\n\nSupport",
    )
    if refund.is_done:
        await ctx.emit_text(f"Done: {refund.value}.")
    else:
        await ctx.emit_text(f"No refund. {refund.reason or 'Nobody approved it.'}")
