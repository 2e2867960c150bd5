"""Driving runs: the one place that calls agents."""

import threading
from typing import Any
from uuid import UUID

import structlog
from django.db import InterfaceError, OperationalError

from agents import port, registry
from inbox.actions.runs.retries import retry_run
from inbox.actions.runs.run_lease import Hold, claim_run, fail_unstarted_run
from inbox.actions.runs.start_run import Accepted, RunRequest, accept_run
from inbox.engine.agents import find, locate
from inbox.engine.driver import Driver
from inbox.models import Agent, Run
from inbox.queries.runs.run_assignment import implementation_of, load_assignment
from inbox.rules.decisions.gate import Entrance
from inbox.rules.errors import (
    InvalidValue,
    LeaseLost,
    NotFound,
    RunFailure,
)
from inbox.rules.people.access import Actor
from inbox.rules.schema.schemas import problems_of

log = structlog.get_logger(__name__)

#: Set when this process is about to stop: drivers give their runs back to the queue.
stopping = threading.Event()


def execute(run_id: UUID) -> None:
    """
    Drive a queued run to its end, in this thread.

    Does nothing if another worker has it: the same run may be rung for any number of times.
    """
    if stopping.is_set():
        return  # the row stays queued, and the sweeper rings for it again
    claimed = claim_run(run_id=run_id)
    if claimed is None:
        return
    run, hold = claimed
    bound = log.bind(run=str(run_id), attempt=run.attempt)
    bound.info("run started", agent=run.thread.agent.implementation)
    try:
        status = _drive(run, hold, bound)
    except LeaseLost:
        bound.info("run taken away")
    except (OperationalError, InterfaceError) as error:
        bound.warning("database away", error=str(error)[:200])
    else:
        bound.info("run ended", status=status)


def _drive(run: Run, hold: Hold, bound: Any) -> str:
    try:
        agent, endpoint = locate(run.thread.agent.implementation)
        restartable = agent is not None and agent.restartable
        assignment = load_assignment(run, restartable=restartable, endpoint_digest=endpoint)
        driver = Driver(assignment, agent, hold, stopping, bound)
    except (OperationalError, InterfaceError):
        raise
    except RunFailure as failure:
        bound.error("run refused", code=failure.code, why=str(failure))
        return fail_unstarted_run(hold=hold, failure=failure)
    except Exception:
        # What cannot be read now cannot be read by the next worker either.
        bound.exception("run cannot be loaded")
        return fail_unstarted_run(hold=hold)
    return driver.drive()


def is_restartable(implementation: str) -> bool:
    """Whether an agent may be driven again after a lost worker; one that is gone may not."""
    agent, _ = locate(implementation)
    return agent is not None and agent.restartable


def accept(
    *,
    agent: Agent,
    request: RunRequest,
    actor: Actor,
    entrance: Entrance = Entrance.AGUI_HTTP,
    idempotency_key: str = "",
) -> Accepted:
    """
    Start a run, or resume an interrupted one; see `accept_run`.

    What a run is started with is checked here against its agent's schema, which only the engine
    knows.

    Raises:
        InvalidValue: the input does not fit the agent's schema.
        What `accept_run` raises.
    """
    if not request.entries:
        check_input(agent.implementation, request.input["forwardedProps"])
    return accept_run(
        agent=agent,
        request=request,
        actor=actor,
        entrance=entrance,
        idempotency_key=idempotency_key,
    )


def retry(run_id: UUID, actor: Actor) -> Accepted:
    """
    Try a failed run again; see `retry_run`, which has to know what its agent can do.

    Raises:
        NotFound, Forbidden, RetryRejected.
    """
    restartable = is_restartable(implementation_of(run_id))
    return retry_run(run_id=run_id, actor=actor, restartable=restartable)


def own_agents() -> list[str]:
    """The names of the agents that whoever runs this brought along."""
    return list(registry.own())


def description_of(implementation: str) -> str:
    """What an agent says of itself, in one sentence."""
    return _installed(implementation).description


def input_schema_of(implementation: str) -> dict[str, Any] | None:
    """The JSON Schema of what the agent is started with; None if a message is all that it takes."""
    try:
        schema = find(implementation).input_schema
    except registry.UnknownAgent:
        return None
    return None if schema is None else dict(schema)


def check_input(implementation: str, forwarded_props: Any) -> None:
    """
    Check what a run is to be started with, if it is to be started with anything.

    Raises:
        InvalidValue: it does not fit the agent's schema.
    """
    schema = input_schema_of(implementation)
    if schema is None or not isinstance(forwarded_props, dict) or "input" not in forwarded_props:
        return
    problems = problems_of(schema, forwarded_props["input"])
    if problems:
        pointer, what = problems[0]
        raise InvalidValue(f"forwardedProps.input{pointer.replace('/', '.')}: {what}")


def _installed(implementation: str) -> port.Agent:
    try:
        return find(implementation)
    except registry.UnknownAgent as error:
        raise NotFound("This agent is not installed here.") from error


def capabilities_of(implementation: str) -> dict[str, Any]:
    """
    The agent's AgentCapabilities as JSON.

    Raises:
        NotFound: the agent is not installed in this process.
    """
    capabilities = _installed(implementation).capabilities()
    return capabilities.model_dump(mode="json", by_alias=True, exclude_none=True)
