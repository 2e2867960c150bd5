"""An expense report with a table and a chart to read, and a receipt that a person uploads."""

import struct
import zlib
from collections.abc import Sequence

from agents.sdk.context import AttachedFile
from agents.sdk.workflow import WorkflowContext, workflow

REPORT = "EX-2026-11"
LINES = (("Train to Graz", 89.0), ("Hotel, two nights", 238.0), ("Dinner with a client", 64.5))
RECEIPT = {
    "type": "object",
    "title": "Receipt",
    "properties": {
        "receipt": {
            "type": "string",
            "format": "uri",
            "title": "Receipt of the hotel",
            "contentMediaType": "image/*",
        },
        "note": {"type": "string", "title": "Note"},
    },
    "required": ["receipt"],
}


@workflow(description="Has an expense report confirmed, and asks for a receipt that is missing.")
async def expense_desk(ctx: WorkflowContext) -> None:
    """Ask for a confirmation with two files, then for an upload."""
    total = sum(amount for _, amount in LINES)
    confirmed = await ctx.interrupt(
        f"Are the expenses of {REPORT} right? They are €{total:,.2f} together.",
        reason="confirmation",
        files=[
            AttachedFile(f"{REPORT}.csv", table(LINES).encode()),
            AttachedFile("shares.png", chart([amount for _, amount in LINES])),
        ],
    )
    if confirmed.is_cancelled or not confirmed.payload:
        await ctx.emit_text(f"{REPORT} goes back to its author.")
        return
    upload = await ctx.interrupt(
        f"Upload the receipt of the hotel for {REPORT}",
        reason="upload_required",
        response_schema=RECEIPT,
    )
    if upload.is_cancelled:
        await ctx.emit_text(f"{REPORT} is paid without the hotel.")
        return
    await ctx.emit_text(f"{REPORT} is complete, and is paid on Friday.")


def table(lines: Sequence[tuple[str, float]]) -> str:
    """Return the lines of a report as CSV."""
    rows = ["Expense,Amount in EUR", *(f'"{name}",{amount:.2f}' for name, amount in lines)]
    return "\r\n".join(rows) + "\r\n"


def chart(amounts: Sequence[float], *, width: int = 320, bar: int = 28) -> bytes:
    """Return the amounts as a PNG file with one bar each."""
    longest = max(amounts)
    rows = []
    for amount in amounts:
        filled = round(amount / longest * (width - 20))
        line = b"\x00" + b"\x1f\x6f\xeb" * filled + b"\xff\xff\xff" * (width - filled)
        gap = b"\x00" + b"\xff\xff\xff" * width
        rows += [gap] * 8 + [line] * bar
    header = struct.pack(">IIBBBBB", width, len(rows), 8, 2, 0, 0, 0)
    parts = ((b"IHDR", header), (b"IDAT", zlib.compress(b"".join(rows))), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(kind, data) for kind, data in parts)


def _chunk(kind: bytes, data: bytes) -> bytes:
    checksum = struct.pack(">I", zlib.crc32(kind + data))
    return struct.pack(">I", len(data)) + kind + data + checksum
