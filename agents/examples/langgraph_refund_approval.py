"""
A graph that pauses for the approval of a refund, with a value that has fields and no schema.

    make run EXTRAS=langgraph \\
        SIGNOFF_AGENTS=langgraph+agents.examples.langgraph_refund_approval:refund_approval

The value is that of the interrupt guides for LangGraph over AG-UI: `kind`, and the fields of the
refund. The answer is `{"approved": true}`; a field that a reviewer has changed stands beside it.
"""

from typing import Any, TypedDict

from langchain_core.messages import AIMessage, AnyMessage
from langgraph.graph import START, StateGraph
from langgraph.types import interrupt


class State(TypedDict, total=False):
    messages: list[AnyMessage]
    amount: float
    customer_id: str
    reason: str
    decision_approved: bool


def draft_refund(state: State) -> dict[str, Any]:
    return {"amount": 47.50, "customer_id": "cus_a8x2k", "reason": "Duplicate charge"}


def request_approval(state: State) -> dict[str, Any]:
    decision = interrupt(
        {
            "kind": "refund_approval",
            "amount": state["amount"],
            "customer_id": state["customer_id"],
            "reason": state["reason"],
        }
    )
    approved = isinstance(decision, dict) and bool(decision.get("approved"))
    amount = decision.get("amount", state["amount"]) if approved else state["amount"]
    return {"decision_approved": approved, "amount": amount}


def issue_refund(state: State) -> dict[str, Any]:
    customer = state["customer_id"]
    if state["decision_approved"]:
        text = f"Refunded ${state['amount']:.2f} to {customer}."
    else:
        text = f"Nothing was refunded to {customer}."
    return {"messages": [AIMessage(text)]}


refund_approval = StateGraph(State)
refund_approval.add_sequence([draft_refund, request_approval, issue_refund])
refund_approval.add_edge(START, "draft_refund")
