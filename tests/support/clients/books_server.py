"""An MCP server on standard input whose tool `lend` makes the file `lent` in a folder."""

import json
import sys
from pathlib import Path
from typing import Any

TOOL = {
    "name": "lend",
    "description": "Lend a book.",
    "inputSchema": {
        "type": "object",
        "properties": {"book": {"type": "string"}},
        "required": ["book"],
    },
}


def answer(message: dict[str, Any], folder: Path) -> dict[str, Any]:
    match message["method"]:
        case "initialize":
            result: Any = {
                "protocolVersion": message["params"]["protocolVersion"],
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "books", "version": "1"},
            }
        case "tools/list":
            result = {"tools": [TOOL]}
        case "tools/call":
            (folder / "lent").touch()
            result = {"content": [{"type": "text", "text": "lent"}]}
        case _:
            return {"error": {"code": -32601, "message": "unknown method"}}
    return {"result": result}


if __name__ == "__main__":
    for line in sys.stdin:
        request = json.loads(line)
        if "id" in request:
            response = answer(request, Path(sys.argv[1]))
            print(json.dumps({"jsonrpc": "2.0", "id": request["id"], **response}), flush=True)
