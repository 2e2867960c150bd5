"""Prompts of Genkit with models that do what tests need."""

from typing import Any

from genkit import (
    ActionRunContext,
    Genkit,
    Interrupt,
    Message,
    ModelRequest,
    ModelResponse,
    Part,
    ToolRunContext,
)

ai = Genkit()
seen: list[Any] = []


async def silent(request: ModelRequest[Any], ctx: ActionRunContext) -> ModelResponse:
    """Answer without streaming: a text and two calls, then what came of them."""
    last = request.messages[-1]
    results = [str(part.tool_response.output) for part in last.content if part.tool_response]
    if results:
        parts = [Part(text=f"Heard {', '.join(results)}.")]
    else:
        calls = [
            Part.from_tool_request(name="run_shell", input=command, ref=f"c-{command}")
            for command in ("ls", "rm")
        ]
        parts = [Part(text="Let me see."), *calls]
    return ModelResponse(message=Message(role="model", content=parts))


ai.define_model("silent", silent)


@ai.tool()
async def run_shell(command: str, ctx: ToolRunContext) -> str:
    """Run a shell command after a safety check."""
    seen.append(ctx.resumed_metadata)
    if command == "rm" and not (ctx.resumed_metadata or {}).get("toolApproved"):
        raise Interrupt({"command": command, "reason": "The command can modify files."})
    return f"ran {command}"


shell = ai.define_prompt("shell", model="silent", tools=[run_shell])
