"""Agents driven by a model: what it says and wants, and what people have to do with it."""

import json
import re
from dataclasses import replace
from typing import Any

import ag_ui.core as agui
import httpx
import pytest
from pydantic import BaseModel

from agents.sdk.llm import LlmAgent, TooManyTurns
from agents.sdk.models import (
    AnswerPart,
    ChatCompletions,
    ModelFailed,
    ScriptedModel,
    ToolCallRequest,
)
from agents.sdk.tools import define_interrupt, tool
from tests.support.agents.doubles import Stage, cancelled, fixed_clock

APPROVE = {"approved": True}


@tool(effect="read")
def look_up(order: str) -> dict[str, Any]:
    """Look an order up."""
    return {"order": order, "paid": 58}


@tool(effect="once", approval="Refund {amount} for {order}?")
def refund(order: str, amount: float) -> str:
    """Refund a customer."""
    return f"refunded {amount:g}"


class Question(BaseModel):
    text: str


ask_person = define_interrupt(
    "ask_person",
    "Ask a person.",
    input_model=Question,
    message="{text}",
    answer_schema=lambda _: {"type": "string"},
)


class Listening:
    """A scripted model that remembers what it was told."""

    def __init__(self, *lines):
        self._model = ScriptedModel(lines)
        self.prompts: list[list[Any]] = []

    async def answer(self, *, instructions, messages, tools):
        self.prompts.append([instructions, *messages])
        async for part in self._model.answer(
            instructions=instructions, messages=messages, tools=tools
        ):
            yield part


def desk(*lines, **more):
    model = Listening(*lines)
    agent = LlmAgent(
        name="desk",
        description="Refunds.",
        model=model,
        tools=(look_up, refund, ask_person),
        instructions="Be kind.",
        clock=fixed_clock(),
        **more,
    )
    return Stage(agent), model


async def test_a_model_is_asked_until_it_wants_nothing_more():
    stage, model = desk([("look_up", {"order": "7"})], "It was 58.")

    await stage.say("How much was order 7?")

    assert stage.results == [{"order": "7", "paid": 58}]
    assert stage.text == "It was 58."
    assert stage.outcome == "success"
    assert [message.role for message in model.prompts[1][1:]] == ["user", "assistant", "tool"]
    assert model.prompts[0][0] == "Be kind."


async def test_guarded_call_pauses_the_run_and_the_model_gets_the_result():
    stage, model = desk([("refund", {"order": "7", "amount": 58})], "Done.")
    await stage.say("Refund it.")
    (interrupt,) = stage.interrupts

    await stage.answer({"approved": True, "editedArgs": {"order": "7", "amount": 50}})

    assert interrupt.message == "Refund 58 for 7?"
    assert stage.results == ["refunded 50"]
    assert stage.text == "Done."
    assert model.prompts[1][-1].content == '"refunded 50"'


async def test_require_approval_asks_before_every_call_of_a_tool():
    wants = [("look_up", {"order": "7"}), ("refund", {"order": "7", "amount": 58})]
    stage, _ = desk(wants, "Done.", require_approval=True)
    await stage.say("Refund it.")

    assert [interrupt.message for interrupt in stage.interrupts] == [
        "Call look_up?",
        "Refund 58 for 7?",
    ]
    assert {interrupt.reason for interrupt in stage.interrupts} == {"tool_call"}
    assert stage.results == []

    await stage.answer(APPROVE, APPROVE)

    assert stage.results == [{"order": "7", "paid": 58}, "refunded 58"]
    assert stage.outcome == "success"


async def test_require_approval_changes_no_tool_of_other_agents():
    desk(require_approval=True)

    stage, _ = desk([("look_up", {"order": "7"})], "It was 58.")
    await stage.say("How much was order 7?")

    assert stage.interrupts == []


@pytest.mark.parametrize("approval", [lambda order: False, {"required": ["else"]}])
async def test_require_approval_asks_where_a_tool_would_not(approval):
    @tool(effect="read", approval=approval)
    def find(order: str) -> str:
        """Find an order."""
        return order

    model = ScriptedModel([[("find", {"order": "7"})], "Found."])
    agent = LlmAgent("finder", "Finds.", model, tools=[find], require_approval=True)
    stage = Stage(agent)

    await stage.say("Find it.")
    (interrupt,) = stage.interrupts
    await stage.answer(APPROVE)

    assert interrupt.message == "Call find?"
    assert stage.outcome == "success"


async def test_a_model_is_told_that_nobody_can_be_asked_so():
    model = Listening([("choose", {"text": "Which?"})], "Then not.")
    choose = define_interrupt(
        "choose",
        "Ask a person to choose.",
        input_model=Question,
        message="{text}",
        answer_schema=lambda args: {"enum": args["options"]},
    )
    stage = Stage(LlmAgent(name="desk", description="", model=model, tools=(choose,)))

    await stage.say("Choose.")

    (result,) = stage.results
    assert result == {
        "ok": False,
        "error": "choose cannot build a request from these arguments: KeyError",
    }
    assert (stage.outcome, stage.text) == ("success", "Then not.")


@pytest.mark.parametrize("answer", [{"approved": False, "reason": "no"}, "cancelled"])
async def test_a_model_is_told_of_a_denial_and_goes_on(answer):
    stage, model = desk([("refund", {"order": "7", "amount": 58})], "I will not.")
    await stage.say("Refund it.")

    await stage.answer(cancelled(stage.interrupts[0]) if answer == "cancelled" else answer)

    assert json.loads(model.prompts[1][-1].content)["ok"] is False
    assert stage.text == "I will not."


async def test_calls_of_one_answer_are_asked_about_together():
    stage, model = desk(
        [
            ("refund", {"order": "7", "amount": 1}),
            ("look_up", {"order": "7"}),
            ("ask_person", {"text": "Why?"}),
        ],
        "Done.",
    )
    await stage.say("go")
    messages = [interrupt.message for interrupt in stage.interrupts]

    await stage.answer(APPROVE, "Because.")

    assert messages == ["Refund 1 for 7?", "Why?"]
    assert {message.role for message in model.prompts[1][-3:]} == {"tool"}


@pytest.mark.parametrize(
    ("name", "arguments", "error"),
    [
        ("unheard_of", "{}", "There is no tool"),
        ("look_up", '{"order": 7', "JSON"),
        ("look_up", "[]", "object of arguments"),
        ("look_up", '{"order": {}}', "cannot take these arguments"),
        ("", "{}", "There is no tool"),
    ],
)
async def test_a_call_that_cannot_be_made_is_told_to_the_model(name, arguments, error):
    class Wrong:
        parts = iter(
            [AnswerPart(tool_calls=[ToolCallRequest(name, arguments)]), AnswerPart(text="Sorry.")]
        )

        async def answer(self, *, instructions, messages, tools):
            yield next(self.parts)

    stage = Stage(LlmAgent(name="desk", description="", model=Wrong(), tools=(look_up,)))

    await stage.say("go")

    assert error in stage.results[0]["error"]
    assert stage.text == "Sorry."


async def test_a_model_that_never_ends_is_stopped():
    lines = [[("look_up", {"order": "7"})]] * 4
    stage, _ = desk(*lines, max_turns=3)

    with pytest.raises(TooManyTurns):
        await stage.say("go")


# -- chat completions ----------------------------------------------------------------------------


def server(*responses):
    """A chat completions server that gives these answers one after the other."""
    waiting = list(responses)
    requests: list[Any] = []

    def answer(request: httpx.Request) -> httpx.Response:
        requests.append((request, json.loads(request.content)))
        response = waiting.pop(0)
        if isinstance(response, Exception):
            raise response
        return response

    model = ChatCompletions(
        "http://localhost:1/v1/",
        "small",
        api_key="secret",
        options={"temperature": 0},
        clock=fixed_clock(),
        transport=httpx.MockTransport(answer),
    )
    return model, requests


def streamed(*deltas):
    lines = [f"data: {json.dumps({'choices': [{'delta': delta}]})}\n\n" for delta in deltas]
    usage = 'data: {"choices": [], "usage": {}}\n\n'
    return httpx.Response(200, text="".join([": hello\n\n", *lines, usage, "data: [DONE]\n\n"]))


async def said_by(model, messages=()):
    parts = model.answer(instructions="Be kind.", messages=messages, tools=[])
    return [part async for part in parts]


async def test_text_comes_as_it_is_streamed():
    model, requests = server(streamed({"role": "assistant"}, {"content": "Hel"}, {"content": "lo"}))

    parts = await said_by(model)

    (request, body) = requests[0]
    assert [part.text for part in parts] == ["Hel", "lo"]
    assert str(request.url) == "http://localhost:1/v1/chat/completions"
    assert request.headers["authorization"] == "Bearer secret"
    assert (body["model"], body["temperature"], body["stream"]) == ("small", 0, True)
    assert body["messages"] == [{"role": "system", "content": "Be kind."}]
    assert "tools" not in body


async def test_calls_that_come_in_pieces_are_put_together():
    model, _ = server(
        streamed(
            {"tool_calls": [{"index": 0, "id": "a", "function": {"name": "one", "arguments": ""}}]},
            {"tool_calls": [{"index": 0, "function": {"arguments": '{"x"'}}]},
            {"tool_calls": [{"index": 1, "id": "b", "function": {"name": "two"}}]},
            {"tool_calls": [{"index": 0, "function": {"arguments": ": 1}"}}]},
        )
    )

    (part,) = await said_by(model)

    assert part.tool_calls == [ToolCallRequest("one", '{"x": 1}'), ToolCallRequest("two", "{}")]


def piece(name=None, arguments=None, **more):
    return {"tool_calls": [{**more, "function": {"name": name, "arguments": arguments}}]}


@pytest.mark.parametrize(
    "deltas",
    [
        [piece("one", '{"x": 1}', id="a"), piece("one", '{"x": 2}', id="b")],
        [piece("one", '{"x": 1}', id="a", index=0), piece("one", '{"x": 2}', id="b", index=0)],
        [
            piece("one", '{"x":', id="a", index=0),
            piece(None, " 1}", id="z", index=0),
            piece("one", '{"x": 2}', id="b", index=1),
        ],
        [piece("one", '{"x": 1}', index=0), piece("one", '{"x": 2}', index="1")],
        [piece("one", {"x": 1}, index=None, id="a"), piece("one", {"x": 2}, index=None, id="b")],
    ],
    ids=["uncounted", "all-counted-0", "new-ids-for-pieces", "texts-for-numbers", "objects"],
)
async def test_calls_are_told_apart_however_a_server_counts_them(deltas):
    model, _ = server(streamed(*deltas))

    (part,) = await said_by(model)

    assert [(tool_call.name, json.loads(tool_call.arguments)) for tool_call in part.tool_calls] == [
        ("one", {"x": 1}),
        ("one", {"x": 2}),
    ]


def unfinished(*deltas, finish=None):
    """A stream that ends without saying that it is at its end."""
    last = {"choices": [{"delta": {}, "finish_reason": finish}]}
    lines = [json.dumps({"choices": [{"delta": delta}]}) for delta in deltas]
    return httpx.Response(
        200, text="".join(f"data: {line}\n\n" for line in [*lines, json.dumps(last)])
    )


async def test_half_an_answer_is_no_answer():
    model, requests = server(unfinished(piece("pay", "")), streamed({"content": "ok"}))

    assert [part.text for part in await said_by(model)] == ["ok"]
    assert len(requests) == 2


async def test_half_a_text_cannot_be_asked_for_again():
    model, _ = server(unfinished({"content": "I will"}))

    with pytest.raises(ModelFailed, match="ended its answer early"):
        await said_by(model)


async def test_an_answer_may_end_with_its_reason():
    model, _ = server(unfinished({"content": "ok"}, finish="stop"))

    assert [part.text for part in await said_by(model)] == ["ok"]


async def test_a_call_that_did_not_fit_into_the_answer_is_not_made():
    model, _ = server(unfinished(piece("pay", ""), finish="length"))

    with pytest.raises(ModelFailed, match="token limit"):
        await said_by(model)


async def test_a_character_that_comes_in_halves_is_put_together():
    chunks = [r"hi \ud83d", r"\ude00 you", r"\ud83d", r" and \u0000 end \ud83d"]
    lines = "".join(
        f'data: {{"choices": [{{"delta": {{"content": "{chunk}"}}}}]}}\n\n' for chunk in chunks
    )
    model, _ = server(httpx.Response(200, text=lines + "data: [DONE]\n\n"))

    text = "".join([part.text for part in await said_by(model)])

    assert text == "hi \U0001f600 you\ufffd and \ufffd end \ufffd"


def test_a_model_does_not_show_its_key():
    model, _ = server()

    assert "secret" not in repr(model)


async def test_behind_calls_come_their_results_whatever_happened_meanwhile():
    def call(name):
        function = agui.FunctionCall(name="one", arguments="{}")
        return agui.ToolCall(id=name, type="function", function=function)

    messages = [
        agui.AssistantMessage(id="1", tool_calls=[call("t1"), call("t2")]),
        agui.AssistantMessage(id="2", content="Half way."),
        agui.ToolMessage(id="3", content="done", tool_call_id="t1"),
        agui.UserMessage(id="4", content="Hello?"),
    ]
    model, requests = server(streamed({"content": "ok"}))

    await said_by(model, messages)

    sent = requests[0][1]["messages"][1:]
    assert [(message["role"], message.get("tool_call_id")) for message in sent] == [
        ("assistant", None),
        ("tool", "t1"),
        ("tool", "t2"),
        ("assistant", None),
        ("user", None),
    ]
    assert sent[1]["content"] == "done"
    assert "not known" in sent[2]["content"]


async def test_the_conversation_is_told_as_the_server_wants_it():
    call = agui.ToolCall(
        id="t", type="function", function=agui.FunctionCall(name="one", arguments="{}")
    )
    messages = [
        agui.UserMessage(id="1", content=[agui.TextPart(type="text", text="Hi")]),
        agui.AssistantMessage(id="2", tool_calls=[call]),
        agui.ToolMessage(id="3", content="done", tool_call_id="t"),
        agui.ReasoningMessage(id="4", content="hm"),
    ]
    model, requests = server(streamed({"content": "ok"}))

    await said_by(model, messages)

    assert requests[0][1]["messages"][1:] == [
        {"role": "user", "content": "Hi"},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {"id": "t", "type": "function", "function": {"name": "one", "arguments": "{}"}}
            ],
        },
        {"role": "tool", "tool_call_id": "t", "content": "done"},
    ]


@pytest.mark.parametrize("first", [httpx.Response(429), httpx.ConnectError("away")])
async def test_a_busy_server_is_asked_again(first):
    model, requests = server(first, streamed({"content": "ok"}))

    assert [part.text for part in await said_by(model)] == ["ok"]
    assert len(requests) == 2


@pytest.mark.parametrize(
    "response",
    [
        httpx.Response(401, text="secret"),
        httpx.Response(200, text="data: {\n\n"),
        httpx.Response(200, text='data: {"error": {"message": "secret"}}\n\n'),
        httpx.Response(200, text="data: [1]\n\n"),
        httpx.Response(200, text='data: {"choices": ["x"]}\n\n'),
        httpx.Response(200, text='data: {"choices": {"a": 1}}\n\n'),
        httpx.Response(200, text='data: {"choices": [{"delta": "x"}]}\n\n'),
        streamed({"tool_calls": {"a": 1}}),
        streamed({"tool_calls": [{"function": "x"}]}),
        httpx.Response(200, text="x" * 5_000_000),
        httpx.Response(200, text=f'data: {{"x": "{"y" * 5_000_000}"}}\n\n'),
    ],
)
async def test_an_answer_that_is_none_fails_and_keeps_secrets(response):
    model, _ = server(response)

    with pytest.raises(ModelFailed) as failed:
        await said_by(model)

    assert "secret" not in str(failed.value)


async def test_a_server_that_stays_away_fails_after_a_few_tries():
    model, requests = server(*[httpx.ConnectError("away") for _ in range(3)])

    with pytest.raises(ModelFailed, match=f"at {re.escape(model.base_url)}: ConnectError away"):
        await said_by(model)

    assert len(requests) == 3


async def test_the_address_of_a_model_is_told_without_its_secrets():
    model, _ = server(*[httpx.ConnectError("away") for _ in range(3)])
    model = replace(model, base_url="http://me:secret@model.example/v1?key=secret")

    with pytest.raises(ModelFailed, match=r"at http://model\.example/v1: ") as failed:
        await said_by(model)

    assert "secret" not in str(failed.value)
