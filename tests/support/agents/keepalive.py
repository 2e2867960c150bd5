"""A framework with a client that keeps its connections, as the clients of models do."""

import httpx

from agents.adapters.framework_run import FrameworkRun

client = httpx.AsyncClient(trust_env=False)


async def run(url, run_input, ctx):
    bridge = FrameworkRun(run_input, ctx)

    async def ask():
        bridge.append_text((await client.get(url)).text)

    async for event in bridge.run(ask()):
        yield event
