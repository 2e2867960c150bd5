"""Testing the connection to a remote agent."""

import threading
from typing import Any

from agents.adapters.remote.http_client import run_in_new_loop
from agents.adapters.remote.probe import probe
from agents.adapters.remote.probe_report import ProbeReport, ProbeResult
from inbox.actions.agents.remote_agents import record_test
from inbox.engine.agents import remote_agent
from inbox.platform.encryption import DecryptionFailed
from inbox.queries.agents.agents import RemoteEndpoint, agent_for, endpoint_of
from inbox.queries.people.access import require
from inbox.rules.errors import NotRemote, TooManyTests
from inbox.rules.people.access import Actor, Permission
from inbox.rules.text.messages import TranslatableMessage

#: A test takes seconds and occupies one of about a dozen threads that also serve pages.
_MAX_TESTS = 2
_free_slots = threading.BoundedSemaphore(_MAX_TESTS)


def run_connection_test(slug: str, actor: Actor) -> dict[str, Any]:
    """
    Probe a remote agent, store the report, and return it as JSON.

    Takes at most ten seconds in this thread; no transaction is open meanwhile.

    Raises:
        NotFound, Forbidden.
        NotRemote: the agent is part of this installation.
        TooManyTests: this process already runs `_MAX_TESTS` tests.
    """
    agent = agent_for(actor, slug)
    require(actor, agent.team_id, Permission.ADMIN, agent.pk)
    endpoint = endpoint_of(agent.pk)
    if endpoint is None:
        raise NotRemote(
            TranslatableMessage("This agent is built in, so there is no connection to test.")
        )
    if not _free_slots.acquire(blocking=False):
        raise TooManyTests(
            TranslatableMessage("Other connections are being tested. Try again in a moment.")
        )
    try:
        report = _probe(endpoint).to_json()
    finally:
        _free_slots.release()
    record_test(agent_id=agent.pk, changed_at=endpoint.changed_at, report=report, actor=actor)
    return report


def _probe(endpoint: RemoteEndpoint) -> ProbeReport:
    try:
        return run_in_new_loop(probe(remote_agent(endpoint)))
    except DecryptionFailed:
        return ProbeReport(ProbeResult.HEADERS_UNREADABLE)
