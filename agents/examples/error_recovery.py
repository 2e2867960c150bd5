"""An importer that asks a person what to do about an error."""

from pydantic import BaseModel

from agents.sdk.context import ToolContext, ToolError
from agents.sdk.present import Fact, Present
from agents.sdk.tools import tool
from agents.sdk.workflow import WorkflowContext, workflow

FILES = ("orders-2026-10.csv", "orders-2026-11.csv", "orders-2026-12.csv")
BROKEN = FILES[1]

GUIDANCE = {
    "title": "What now?",
    "oneOf": [
        {
            "title": "Read it with another encoding",
            "type": "object",
            "properties": {
                "action": {"const": "retry"},
                "encoding": {"enum": ["latin-1", "utf-16"], "title": "Encoding"},
            },
            "required": ["action", "encoding"],
        },
        {
            "title": "Leave this file out",
            "type": "object",
            "properties": {
                "action": {"const": "skip"},
                "why": {"type": "string", "title": "Why", "maxLength": 500},
            },
            "required": ["action"],
        },
        {
            "title": "Stop the import",
            "type": "object",
            "properties": {"action": {"const": "stop"}},
            "required": ["action"],
        },
    ],
}


class Imported(BaseModel):
    file: str
    rows: int


@tool(effect="idempotent", retries=1)
def import_file(call: ToolContext, file: str, encoding: str) -> Imported:
    """Import a file into the warehouse (demo: there is none); one of them is broken."""
    if file == BROKEN and encoding == "utf-8":
        raise ToolError("it is not encoded as UTF-8")
    return Imported(file=file, rows=1_200)


@workflow(tools=(import_file,))
async def importer(ctx: WorkflowContext) -> None:
    """Imports three files, and asks a person what to do about the one that cannot be read."""
    rows = 0
    for number, file in enumerate(FILES):
        await ctx.progress("Importing", done=number, total=len(FILES))
        outcome = await ctx.call(import_file, file=file, encoding="utf-8")
        while not outcome.is_done:
            reply = await ctx.interrupt(
                f"{file} cannot be read ({outcome.reason})",
                response_schema=GUIDANCE,
                present=Present(
                    kind="error",
                    facts=[
                        Fact("Failed step", "import_file"),
                        Fact("File", file),
                        Fact("Error", outcome.reason),
                        Fact("Imported before", rows, unit="rows"),
                    ],
                ),
            )
            advice = reply.payload if not reply.is_cancelled else {"action": "stop"}
            if advice["action"] == "stop":
                await ctx.emit_text(f"Stopped after {rows:,} rows.")
                return
            if advice["action"] == "skip":
                break
            outcome = await ctx.call(import_file, file=file, encoding=advice["encoding"])
        if outcome.is_done:
            rows += outcome.value["rows"]
    await ctx.progress("Importing", done=len(FILES), total=len(FILES))
    await ctx.emit_text(f"Imported {rows:,} rows.")
