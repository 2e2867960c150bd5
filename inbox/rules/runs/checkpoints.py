"""The checkpoint of an interrupted run: the agent's, and the ids of the calls of its turn."""

from collections.abc import Mapping
from typing import Any, NamedTuple

_CALLS = "signoff:calls"
_SAVED = "saved"


class Checkpoint(NamedTuple):
    """`saved` is JSON of the agent, `calls` that of `TurnIds`."""

    saved: Any
    calls: Mapping[str, Any] | None  #: None in checkpoints of earlier versions

    def to_json(self) -> dict[str, Any]:
        return {_CALLS: self.calls, _SAVED: self.saved}


def read_checkpoint(value: Any) -> Checkpoint:
    """Return the parts of a stored checkpoint; earlier versions stored the agent's alone."""
    if isinstance(value, dict) and value.keys() == {_CALLS, _SAVED}:
        return Checkpoint(value[_SAVED], value[_CALLS])
    return Checkpoint(value, None)
