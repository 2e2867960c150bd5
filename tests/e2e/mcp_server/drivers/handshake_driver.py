"""Drive the client of the package mcp 1.x; SIGNOFF_VERSION is the version that it offers."""

import os
from contextlib import asynccontextmanager

import mcp.types
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
from mcp import ClientSession
from mcp.client.streamable_http import streamablehttp_client

VERSION = mcp.types.LATEST_PROTOCOL_VERSION = os.environ["SIGNOFF_VERSION"]


@asynccontextmanager
async def connected():
    headers = {"Authorization": f"Bearer {KEY}"}
    async with (
        streamablehttp_client(f"{URL}/mcp", headers=headers) as (reads, writes, _),
        ClientSession(reads, writes) as session,
    ):
        initialized = await session.initialize()
        assert initialized.protocolVersion == VERSION
        yield session


async def lists_tools():
    async with connected() as session:
        tools = (await session.list_tools()).tools
        assert len(tools) == 6
        await session.send_ping()


async def approval():
    async with connected() as session:
        answerer = Answerer(APPROVED)
        result = await session.call_tool("request_approval", REFUND, progress_callback=answerer)
        assert answerer.messages[0].startswith("Waiting for a person: ")
        content = result.structuredContent
        assert content["args"] == REFUND["args"]
        report = {
            "request_id": content["request_id"],
            "attempt": content["attempt"],
            "outcome": "succeeded",
        }
        reported = await session.call_tool("report_result", report)
        assert reported.structuredContent["state"] == "succeeded"


async def denial():
    async with connected() as session:
        answerer = Answerer(DENIED)
        result = await session.call_tool("request_approval", REFUND, progress_callback=answerer)
        assert result.structuredContent["status"] == "denied"
        assert not result.isError


async def open_request():
    async with connected() as session:
        arguments = {**REFUND, "wait_seconds": 0}
        result = await session.call_tool("request_approval", arguments)
        request_id = result.structuredContent["request_id"]
        assert result.structuredContent["status"] == "open"
        await session.call_tool("withdraw", {"request_id": request_id})


async def closed_stream():
    leaver = Leaver()
    with leaver.scope:
        async with connected() as session:
            await session.call_tool("request_approval", REFUND, progress_callback=leaver)
    async with connected() as session:
        request_id = decide_open(APPROVED)
        result = await session.call_tool("wait_for_decision", {"request_id": request_id})
        assert result.structuredContent["status"] == "approved"


async def wrong_arguments():
    async with connected() as session:
        result = await session.call_tool("request_approval", {"tool": "refund"})
        assert result.isError
        assert "args" in result.content[0].text


drive([lists_tools, approval, denial, open_request, closed_stream, wrong_arguments])
