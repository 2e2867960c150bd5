"""Pauses of agents."""

from enum import StrEnum


class PauseReason(StrEnum):
    """The reason why an agent was paused."""

    FLOOD = "flood"  #: it asked again and again beyond its limits
    BY_HAND = "by_hand"
