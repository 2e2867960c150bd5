"""A framework with a client that keeps its connections, as the clients of models do."""

import httpx

from agents.adapters.framework_run import Bridge

client = httpx.AsyncClient(trust_env=False)


async def run(url, run_input, ctx):
    bridge = Bridge(run_input, ctx)

    async def ask():
        bridge.say((await client.get(url)).text)

    async for event in bridge.run(ask()):
        yield event
