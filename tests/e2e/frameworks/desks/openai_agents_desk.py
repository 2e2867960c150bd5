"""The refund desk as an agent of the OpenAI Agents SDK, for docs/examples/agui_host.py."""

import json

import desk
from openai.types.responses import (
    Response,
    ResponseCompletedEvent,
    ResponseFunctionToolCall,
    ResponseOutputMessage,
    ResponseOutputText,
    ResponseTextDeltaEvent,
)

from agents import Agent, Model, ModelResponse, Usage, function_tool, set_tracing_disabled

set_tracing_disabled(disabled=True)


class Scripted(Model):
    """Asks for the calls of the script, then says what came of them."""

    async def get_response(self, system_instructions, items, *args, **kwargs):
        return ModelResponse(output=_answer(items), usage=Usage(), response_id=None)

    async def stream_response(self, system_instructions, items, *args, **kwargs):
        output = _answer(items)
        is_quiet = any(str(item.get("content")).startswith("quietly") for item in items)
        if isinstance(output[0], ResponseOutputMessage) and not is_quiet:
            for number, word in enumerate(output[0].content[0].text.split(" ")):
                yield ResponseTextDeltaEvent(
                    type="response.output_text.delta",
                    item_id="m",
                    output_index=0,
                    content_index=0,
                    delta=f"{word} ",
                    logprobs=[],
                    sequence_number=number,
                )
        response = Response(
            id="r",
            created_at=0,
            model="scripted",
            object="response",
            output=output,
            parallel_tool_calls=True,
            tool_choice="auto",
            tools=[],
        )
        yield ResponseCompletedEvent(
            type="response.completed", response=response, sequence_number=1_000
        )


def _answer(items):
    start = max(at for at, item in enumerate(items) if item.get("role") == "user")
    results = [
        item["output"] for item in items[start:] if item.get("type") == "function_call_output"
    ]
    if results:
        text = ResponseOutputText(
            text=desk.closing_words(results), type="output_text", annotations=[]
        )
        return [
            ResponseOutputMessage(
                id="m", content=[text], role="assistant", status="completed", type="message"
            )
        ]
    return [
        ResponseFunctionToolCall(
            id=key, call_id=key, name=name, arguments=json.dumps(args), type="function_call"
        )
        for key, name, args in desk.tool_calls_for(items[start]["content"])
    ]


agent = Agent(
    name="desk",
    model=Scripted(),
    tools=[
        function_tool(desk.issue_refund, needs_approval=True),
        function_tool(desk.send_email, needs_approval=True),
    ],
)
