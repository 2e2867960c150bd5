"""The tools of the demo agent: they only count their executions."""

from typing import Any

from pydantic import BaseModel

from agents.demo_agent import execution_counter
from agents.port import Effect
from agents.sdk.context import Args, ToolContext
from agents.sdk.tools import define_interrupt, tool

#: Larger transfers need approval.
RISKY_AMOUNT = 1000

# Parameters have defaults and extra ones are accepted, so that people can try editing arguments.


@tool(effect=Effect.IDEMPOTENT, approval="Send an e-mail to {to}: {subject}")
def send_email(call: ToolContext, to: str = "", subject: str = "", **_more: Any) -> dict[str, Any]:
    """Send an e-mail (rehearsal: nothing is sent)."""
    return _executed(call, key=to)


@tool(effect=Effect.IDEMPOTENT, approval="Deploy to {environment}")
def deploy(call: ToolContext, environment: str = "", **_more: Any) -> dict[str, Any]:
    """Deploy the current version (rehearsal: nothing is deployed)."""
    return _executed(call, key=environment)


@tool(effect=Effect.ONCE, approval="Charge {key} once")
def charge(call: ToolContext, key: str = "", **_more: Any) -> dict[str, Any]:
    """Charge an account, which must never happen twice (rehearsal: no money moves)."""
    return _executed(call, key=key)


def _check_transfer(call: ToolContext, amount: float = 0, **_more: Any) -> None:
    if amount > RISKY_AMOUNT and not call.is_resumed:
        call.interrupt(f"Transfer {amount:,.2f} EUR: more than {RISKY_AMOUNT:,} needs approval")


@tool(effect=Effect.IDEMPOTENT, approval=_check_transfer)
def transfer(call: ToolContext, amount: float = 0, **_more: Any) -> dict[str, Any]:
    """Transfer an amount in EUR; large ones need approval (rehearsal: no money moves)."""
    return _executed(call, key=str(amount))


class Choice(BaseModel):
    """A question with a few answers to choose from."""

    question: str
    options: list[str]


def _choice_schema(args: Args) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {"answer": {"type": "string", "enum": list(args["options"])}},
        "required": ["answer"],
    }


ask_user = define_interrupt(
    "ask_user",
    "Ask a person to choose one of several options.",
    input_model=Choice,
    message="{question}",
    answer_schema=_choice_schema,
)

TOOLS = (send_email, deploy, charge, transfer, ask_user)


def _executed(call: ToolContext, *, key: str) -> dict[str, Any]:
    number = execution_counter.record(call.thread_id, call.tool_call_id, key)
    return {"ok": True, "args": dict(call.args), "executionCount": number}
