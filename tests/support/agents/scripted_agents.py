"""Agents that misbehave or do one thing, for tests of the engine."""

from collections.abc import AsyncIterator, Callable
from itertools import count
from typing import Any

from ag_ui.core import AgentCapabilities, BaseEvent, RunAgentInput

from agents import registry

Play = Callable[[RunAgentInput, Any], AsyncIterator[BaseEvent]]
_numbers = count(1)


class PlayedAgent:
    """An agent that is one async generator."""

    description = "for tests"
    input_schema = None

    def __init__(self, name: str, play: Play, *, restartable: bool) -> None:
        self.name = name
        self.run = play
        self.restartable = restartable

    def capabilities(self) -> AgentCapabilities:
        return AgentCapabilities()


def register(play: Play, *, restartable: bool = True) -> str:
    """Register the play under a new name and return the name."""
    name = f"played-{next(_numbers)}"
    registry.register(PlayedAgent(name, play, restartable=restartable))
    return name
