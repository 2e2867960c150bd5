"""Test agents without a server: docs/testing-agents.md."""

from agents.testing.agent_test import (
    AgentRun,
    Answer,
    Request,
    answer,
    approve,
    deny,
    did_not_happen,
    expire,
    happened,
    run_agent,
)

__all__ = [
    "AgentRun",
    "Answer",
    "Request",
    "answer",
    "approve",
    "deny",
    "did_not_happen",
    "expire",
    "happened",
    "run_agent",
]
