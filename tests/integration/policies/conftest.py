"""Runs that propose payments."""

import pytest

from tests.support.policies.refunds import SCHEMA, proposals
from tests.support.steps import start


@pytest.fixture
def run_paying(world, as_agent):
    """Start a run whose agent proposes payments of these arguments, and drive it."""
    calls, response_schema = [], {}
    agent = as_agent(proposals(calls, schema=response_schema))

    def start_run(*args, schema=SCHEMA, **more):
        calls[:] = args
        response_schema.clear()
        response_schema.update(schema)
        return start(world, "go", agent=agent, **more)

    return start_run
