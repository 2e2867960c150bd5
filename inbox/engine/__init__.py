"""The engine drives runs; it is the only layer that calls agents."""

from inbox.engine.agents import (
    agent_problems_in_new_process,
    capabilities_of,
    check_installed_agents,
    description_of,
    input_schema_of,
    installed_agents,
    is_restartable,
)
from inbox.engine.error_report import is_own as is_own_code
from inbox.engine.start_run import retry_run, start_run
from inbox.engine.worker import execute_run, send_traces_to_agents, stopping

__all__ = [
    "agent_problems_in_new_process",
    "capabilities_of",
    "check_installed_agents",
    "description_of",
    "execute_run",
    "input_schema_of",
    "installed_agents",
    "is_own_code",
    "is_restartable",
    "retry_run",
    "send_traces_to_agents",
    "start_run",
    "stopping",
]
