"""Testing the connection to the servers of frameworks, which must do nothing because of it."""

from agents.adapters.probe import probe
from agents.adapters.remote import RemoteAgent
from agents.adapters.reports import Found


async def test_every_server_is_found_and_does_nothing(framework, desk):
    agent = RemoteAgent(name="desk", description="", url=f"{desk.url}/agui", may_be_private=True)

    report = await probe(agent)

    assert report.found is Found.AGENT
    assert desk.ran == []
