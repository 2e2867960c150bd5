"""An agent as authors write them: tools of every effect, alone and at once, approved and not."""

import asyncio

from agents.sdk.context import ToolContext
from agents.sdk.tools import Tool, tool
from agents.sdk.workflow import WorkflowContext, workflow
from tests.campaigns.faults.fixture_data import happened


def _work(call: ToolContext, name: str, order: int, part: int) -> str:
    """Do what a tool is for: a line in the world, under its idempotency key."""
    happened(
        "effect",
        tool=name,
        operation=f"{name} {order}.{part}",
        thread=call.thread_id,
        call=call.tool_call_id,
        key=call.idempotency_key,
    )
    return f"{name} {order}.{part}"


@tool(effect="read")
def look_up(order: int) -> str:
    """Look an order up."""
    return f"order {order}"


@tool(effect="idempotent")
def reserve(call: ToolContext, order: int, part: int = 1) -> str:
    """Reserve goods."""
    return _work(call, "reserve", order, part)


@tool(effect="once")
def charge(call: ToolContext, order: int, part: int = 1) -> str:
    """Charge a card."""
    return _work(call, "charge", order, part)


@tool(effect="idempotent", approval="Ship {order}.{part}")
def ship(call: ToolContext, order: int, part: int = 1) -> str:
    """Send goods, once somebody has agreed."""
    return _work(call, "ship", order, part)


@tool(effect="once", approval="Pay {order}.{part} out")
async def pay_out(call: ToolContext, order: int, part: int = 1) -> str:
    """Pay money out, once somebody has agreed."""
    return await asyncio.to_thread(_work, call, "pay_out", order, part)


#: ExportScope second call would be seen in the world.
ONCE = (charge.name, pay_out.name)


@workflow(tools=(look_up, reserve, charge, ship, pay_out))
async def desk(ctx: WorkflowContext) -> None:
    """Handles the order whose number it is told; one in five takes each way."""
    order = int(ctx.message)
    await ctx.emit_text(f"Order {order}: ")
    await _WAYS[order % len(_WAYS)](ctx, order)
    await ctx.emit_text("done.")


async def _in_one_go(ctx: WorkflowContext, order: int) -> None:
    await ctx.call(look_up, order=order)
    await ctx.call(charge, order=order)
    await ctx.progress("charged", done=1, total=2)
    await ctx.call(reserve, order=order)


async def _asking_once(ctx: WorkflowContext, order: int) -> None:
    await ctx.call(reserve, order=order)
    await ctx.emit_text("reserved, ")
    await ctx.call(pay_out, order=order)


async def _all_at_once(ctx: WorkflowContext, order: int) -> None:
    await _call_all(ctx, order, (charge, 1), (reserve, 1), (charge, 2), (pay_out, 1))
    await ctx.call(look_up, order=order)


async def _approved_together(ctx: WorkflowContext, order: int) -> None:
    await _call_all(ctx, order, (pay_out, 1), (ship, 1), (pay_out, 2))
    await ctx.emit_text("approved, ")
    await ctx.call(charge, order=order)


async def _asking_twice(ctx: WorkflowContext, order: int) -> None:
    await ctx.call(charge, order=order)
    await ctx.call(ship, order=order)
    await ctx.emit_text("shipped, ")
    await _call_all(ctx, order, (reserve, 1), (charge, 2))
    await ctx.call(pay_out, order=order)


async def _call_all(ctx: WorkflowContext, order: int, *calls: tuple[Tool, int]) -> None:
    await ctx.call_all(*((tool, {"order": order, "part": part}) for tool, part in calls))


_WAYS = (_in_one_go, _asking_once, _all_at_once, _approved_together, _asking_twice)
