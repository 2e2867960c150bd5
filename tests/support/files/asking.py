"""Requests that ask for files or have files attached."""

from collections.abc import Callable
from typing import Any

from ag_ui.core import Interrupt

from tests.support.agents.agent_events import asking
from tests.support.files.sending import sent
from tests.support.steps import open_interrupts, start


def request_with(world: Any, as_agent: Callable[..., Any], **interrupt: Any) -> Any:
    """Start a run that ends with this interrupt."""
    interrupt_row = Interrupt(**{"id": "i", "reason": "upload_required", **interrupt})

    async def play(run_input: Any, context: Any) -> Any:
        yield asking(run_input, interrupt_row)

    (row,) = open_interrupts(start(world, "go", agent=as_agent(play)))
    return row


def request_with_file(world: Any, as_agent: Callable[..., Any], content: bytes) -> Any:
    """Start a run that ends with a question to which the agent attaches a file."""
    ids: list[str] = []
    interrupt = {"id": "i", "reason": "input_required"}

    async def play(run_input: Any, context: Any) -> Any:
        metadata = {"signoff": {"files": ids}}
        yield asking(run_input, Interrupt(**interrupt, metadata=metadata))

    agent = as_agent(play)
    ids.append(sent(world.key, content, "photo.png", agent=agent.slug)["id"])
    (row,) = open_interrupts(start(world, "go", agent=agent))
    return row


def run_that_names(world: Any, as_agent: Callable[..., Any], file_id: str) -> Any:
    """Start a run whose request names a file, and return it as it ended."""
    metadata = {"signoff": {"files": [file_id]}}
    interrupt_row = Interrupt(id="i", reason="input_required", metadata=metadata)

    async def play(run_input: Any, context: Any) -> Any:
        yield asking(run_input, interrupt_row)

    return start(world, "go", agent=as_agent(play))
