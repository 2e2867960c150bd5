"""Drive the client of the package mcp 2.x; SIGNOFF_VERSION is the version that it agrees on."""

import os
from contextlib import asynccontextmanager
from typing import Any, Literal

import anyio
from deciding import (
    APPROVED,
    DENIED,
    KEY,
    REFUND,
    URL,
    Answerer,
    Leaver,
    decide_open,
    drive,
)
from mcp import Client
from mcp.client.extension import ClientExtension, ResultClaim
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client
from mcp_types import CallToolResult, Request, RequestParams, Result
from pydantic import ConfigDict, TypeAdapter
from pydantic.alias_generators import to_camel

VERSION = os.environ["SIGNOFF_VERSION"]
MODE = "auto" if VERSION.startswith("2026") else "legacy"


class CreatedTask(Result):
    model_config = ConfigDict(alias_generator=to_camel, extra="allow")

    result_type: Literal["task"]
    task_id: str
    status: str


class TaskParams(RequestParams):
    task_id: str


class GetTask(Request[TaskParams, Literal["tasks/get"]]):
    method: Literal["tasks/get"] = "tasks/get"
    params: TaskParams
    name_param = "taskId"


class TasksExtension(ClientExtension):
    """The tasks extension as hosts implement it: poll, until the result is there."""

    identifier = "io.modelcontextprotocol/tasks"

    def __init__(self) -> None:
        self.polls: list[str] = []

    def claims(self):
        return [ResultClaim(result_type="task", model=CreatedTask, resolve=self._resolve)]

    async def _resolve(self, created, context):
        read = GetTask(params=TaskParams(task_id=created.task_id))
        while True:
            task = await context.session.send_request(read, TypeAdapter(dict[str, Any]))
            self.polls.append(task["status"])
            if task["status"] == "completed":
                return CallToolResult.model_validate(task["result"])
            await anyio.to_thread.run_sync(decide_open, APPROVED)


@asynccontextmanager
async def connected(*extensions):
    http = create_mcp_http_client(headers={"Authorization": f"Bearer {KEY}"})
    async with http:
        transport = streamable_http_client(f"{URL}/mcp", http_client=http)
        async with Client(transport, mode=MODE, cache=None, extensions=extensions) as client:
            assert client.protocol_version == VERSION
            yield client


async def lists_tools():
    async with connected() as client:
        tools = (await client.list_tools()).tools
        assert len(tools) == 6


async def approval():
    async with connected() as client:
        answerer = Answerer(APPROVED)
        result = await client.call_tool("request_approval", REFUND, progress_callback=answerer)
        assert answerer.messages[0].startswith("Waiting for a person: ")
        content = result.structured_content
        assert content["args"] == REFUND["args"]
        report = {
            "request_id": content["request_id"],
            "attempt": content["attempt"],
            "outcome": "succeeded",
        }
        reported = await client.call_tool("report_result", report)
        assert reported.structured_content["state"] == "succeeded"


async def denial():
    async with connected() as client:
        answerer = Answerer(DENIED)
        result = await client.call_tool("request_approval", REFUND, progress_callback=answerer)
        assert result.structured_content["status"] == "denied"
        assert not result.is_error


async def open_request():
    async with connected() as client:
        result = await client.call_tool("request_approval", {**REFUND, "wait_seconds": 0})
        request_id = result.structured_content["request_id"]
        assert result.structured_content["status"] == "open"
        await client.call_tool("withdraw", {"request_id": request_id})


async def closed_stream():
    async with connected() as client:
        leaver = Leaver()
        with leaver.scope:
            await client.call_tool("request_approval", REFUND, progress_callback=leaver)
        request_id = await anyio.to_thread.run_sync(decide_open, APPROVED)
        result = await client.call_tool("wait_for_decision", {"request_id": request_id})
        # Before 2026-07-28 a cancelled call says so, and its stream stays open until it is read.
        assert result.is_error is False or VERSION != "2026-07-28"


async def wrong_arguments():
    async with connected() as client:
        result = await client.call_tool("request_approval", {"tool": "refund"})
        assert result.is_error
        assert "args" in result.content[0].text


async def task():
    extension = TasksExtension()
    async with connected(extension) as client:
        result = await client.call_tool("request_approval", REFUND)
        assert result.structured_content["status"] == "approved"
        assert extension.polls == ["working", "completed"]


SCENARIOS = [lists_tools, approval, denial, open_request, closed_stream, wrong_arguments]
drive([*SCENARIOS, task] if MODE == "auto" else SCENARIOS)
