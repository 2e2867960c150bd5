"""Starting and retrying runs, where the actions need facts that only the agent knows."""

from typing import Any
from uuid import UUID

from inbox.actions.runs import retries
from inbox.actions.runs import start_run as actions
from inbox.actions.runs.start_run import RunRequest, StartedRun
from inbox.engine import handover
from inbox.engine.agents import input_schema_of, is_restartable
from inbox.models import Agent
from inbox.platform.monitoring.traces import traces
from inbox.queries.runs.run_assignment import implementation_of
from inbox.rules.decisions.gate import Entrance
from inbox.rules.errors import InvalidValue
from inbox.rules.people.access import Actor
from inbox.rules.schema.schemas import schema_problems


def start_run(
    *,
    agent: Agent,
    request: RunRequest,
    actor: Actor,
    entrance: Entrance = Entrance.AGUI_HTTP,
    idempotency_key: str = "",
) -> StartedRun:
    """
    Start a run, or resume an interrupted one, after checking the input against the agent's schema.

    Raises:
        InvalidValue: the input does not fit the agent's schema.
        The errors of `inbox.actions.runs.start_run.start_run`.
    """
    if not request.entries:
        _check_input(agent.implementation, request.input["forwardedProps"])
    with (
        traces.span("accept run"),
        handover.pool.reserved(agent, is_resume=bool(request.entries)) as slot,
    ):
        started = actions.start_run(
            agent=agent,
            request=request,
            actor=actor,
            entrance=entrance,
            idempotency_key=idempotency_key,
            claim=slot is not None,
        )
        if slot and started.lease:
            slot.claimed = started.run, started.lease
    return started


def retry_run(run_id: UUID, actor: Actor) -> StartedRun:
    """
    Retry a failed run.

    Raises:
        NotFound, Forbidden, RetryRejected.
    """
    restartable = is_restartable(implementation_of(run_id))
    return retries.retry_run(run_id=run_id, actor=actor, restartable=restartable)


def _check_input(implementation: str, forwarded_props: Any) -> None:
    schema = input_schema_of(implementation)
    if schema is None or not isinstance(forwarded_props, dict) or "input" not in forwarded_props:
        return
    problems = schema_problems(schema, forwarded_props["input"])
    if problems:
        pointer, problem = problems[0]
        raise InvalidValue(f"forwardedProps.input{pointer.replace('/', '.')}: {problem}")
