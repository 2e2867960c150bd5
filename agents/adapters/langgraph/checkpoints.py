"""The checkpointer for graphs: their latest checkpoints, stored as JSON with the thread."""

from base64 import b64decode, b64encode
from collections.abc import Sequence
from typing import Any

from langgraph.channels import DeltaChannel
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.pregel import Pregel

Json = dict[str, Any]


class ThreadCheckpoints(InMemorySaver):
    """
    The checkpoints of one thread, in memory.

    Only `dump()` is stored, when the run ends: a retry of a failed run starts from the same
    checkpoint.
    """

    def __init__(self, thread_id: str, stored_state: Json | None) -> None:
        super().__init__(serde=JsonPlusSerializer(pickle_fallback=False))
        self._thread_id = thread_id
        stored_state = stored_state or {"checkpoints": [], "writes": [], "blobs": []}
        for namespace, name, checkpoint, metadata, parent in stored_state["checkpoints"]:
            stored = _typed(checkpoint), _typed(metadata), parent
            self.storage[thread_id][namespace][name] = stored
        for namespace, name, task, index, channel, value, path in stored_state["writes"]:
            written = self.writes[thread_id, namespace, name]
            written[task, index] = task, channel, _typed(value), path
        for namespace, channel, version, value in stored_state["blobs"]:
            self.blobs[thread_id, namespace, channel, version] = _typed(value)

    def dump(self, *, paused: bool, history: bool) -> Json:
        """
        Return the latest checkpoint of each namespace as JSON.

        Includes running subgraphs only if the graph is `paused`, and older checkpoints only with
        `history` (see `needs_history`).
        """
        checkpoints, blobs = [], []
        writes: list[list[Any]] = []
        for namespace, stored in self.storage[self._thread_id].items():
            if not stored or not (paused or _outlives_its_task(namespace)):
                continue
            names = sorted(stored) if history else [max(stored)]
            for name in names:
                checkpoint, metadata, parent = stored[name]
                checkpoints.append([namespace, name, _text(checkpoint), _text(metadata), parent])
                for (task, index), (_, channel, value, path) in self.writes.get(
                    (self._thread_id, namespace, name), {}
                ).items():
                    writes.append([namespace, name, task, index, channel, _text(value), path])
            versions = [
                version
                for name in names
                for version in self.serde.loads_typed(stored[name][0])["channel_versions"].items()
            ]
            for channel, version in dict.fromkeys(versions):
                blob = self.blobs.get((self._thread_id, namespace, channel, version))
                if blob is not None:
                    blobs.append([namespace, channel, version, _text(blob)])
        return {"checkpoints": checkpoints, "writes": writes, "blobs": blobs}


def needs_history(graph: Pregel[Any, Any, Any, Any]) -> bool:
    """Return True if a channel stores changes only, which are replayed from older checkpoints."""
    graphs = [graph, *(subgraph for _, subgraph in graph.get_subgraphs(recurse=True))]
    return any(
        isinstance(channel, DeltaChannel)
        for subgraph in graphs
        if isinstance(subgraph, Pregel)
        for channel in subgraph.channels.values()
    )


def _outlives_its_task(namespace: str) -> bool:
    """Return True for the graph and subgraphs with own memory: no task id in their namespace."""
    return ":" not in namespace


def _text(value: tuple[str, bytes]) -> list[str]:
    kind, content = value
    return [kind, b64encode(content).decode("ascii")]


def _typed(text: Sequence[str]) -> tuple[str, bytes]:
    kind, content = text
    return kind, b64decode(content)
