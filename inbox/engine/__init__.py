"""Driving runs: the one place that calls agents."""

import threading
from typing import Any
from uuid import UUID

import structlog

from agents import registry
from inbox.actions.work import claim_run
from inbox.domain.errors import LeaseLost
from inbox.engine.driver import Driver
from inbox.selectors.work import load_assignment

log = structlog.get_logger(__name__)

#: Set when this process is about to stop: drivers give their runs back to the queue.
stopping = threading.Event()


def execute(run_id: UUID) -> None:
    """
    Drive a queued run to its end, in this thread.

    Does nothing if another worker has it: the same run may be rung for any number of times.
    """
    claimed = claim_run(run_id=run_id)
    if claimed is None:
        return
    run, hold = claimed
    bound = log.bind(run=str(run_id), attempt=run.attempt)
    try:
        assignment = load_assignment(run)
        bound = bound.bind(agent=assignment.implementation)
        bound.info("run started")
        status = Driver(assignment, hold, stopping, bound).drive()
        bound.info("run ended", status=status)
    except LeaseLost:
        bound.info("run taken away")


def is_restartable(implementation: str) -> bool:
    """Whether an agent may be driven again after a lost worker; one that is gone may not."""
    try:
        return registry.get(implementation).restartable
    except registry.UnknownAgent:
        return False


def description_of(implementation: str) -> str:
    """What an agent says of itself, in one sentence."""
    return registry.get(implementation).description


def capabilities_of(implementation: str) -> dict[str, Any]:
    """The agent's AgentCapabilities as JSON."""
    capabilities = registry.get(implementation).capabilities()
    return capabilities.model_dump(mode="json", by_alias=True, exclude_none=True)
