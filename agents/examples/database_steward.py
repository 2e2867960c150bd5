"""A database agent: approvals show the risk, and reviewers can choose a dry run."""

from typing import Any

from agents.sdk.context import ToolContext
from agents.sdk.present import Fact, Present
from agents.sdk.tools import tool
from agents.sdk.workflow import WorkflowContext, workflow

ROWS = 12_430


def _request_approval(call: ToolContext, statement: str, batch_size: int, dry_run: bool) -> None:
    """Ask for approval, and say what is at risk."""
    if not call.is_resumed:
        call.interrupt(
            f"Delete {ROWS:,} stale sessions from eu-west",
            present=Present(
                kind="database",
                severity="high",
                reversible=False,
                facts=[
                    Fact("Rows affected", ROWS),
                    Fact("Way back", "Restore from the backup of 04:00, about 40 minutes."),
                ],
            ),
        )


@tool(effect="once", approval=_request_approval)
def run_statement(statement: str, batch_size: int, dry_run: bool) -> dict[str, Any]:
    """Run a statement on the production database (demo: there is none)."""
    batches = -(-ROWS // batch_size)
    return {"rows": 0 if dry_run else ROWS, "wouldDelete": ROWS, "batches": batches}


@workflow(tools=(run_statement,))
async def database_steward(ctx: WorkflowContext) -> None:
    """Cleans up a database; a person sees the risk and may ask for a dry run or smaller batches."""
    await ctx.emit_text("The sessions table holds 12,430 rows that expired over 90 days ago.")
    outcome = await ctx.call(
        run_statement,
        statement="DELETE FROM sessions\nWHERE expires_at < now() - interval '90 days'",
        batch_size=1000,
        dry_run=False,
    )
    if not outcome.is_done:
        await ctx.emit_text("The rows stay where they are.")
    elif outcome.value["rows"]:
        await ctx.emit_text(f"{outcome.value['rows']:,} rows are gone.")
    else:
        await ctx.emit_text(f"A dry run: {outcome.value['wouldDelete']:,} rows would be deleted.")
