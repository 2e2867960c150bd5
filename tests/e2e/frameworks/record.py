"""
Record what the servers of other frameworks say about a call that is approved.

`python -m tests.e2e.frameworks.record [NAME ...]` lets the product start a run on each real server,
approve its one call, and resume it. `tests/support/agents/recordings` then has both bodies that
were sent, both streams that came, and what ran. UUIDs are numbered as they appear.
"""

import asyncio
import json
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import httpx

from agents.adapters.remote.sse import read_events
from tests.e2e.frameworks.running import CREWAI, FRAMEWORKS, OTHERS, Desk, Framework
from tests.support.agents.doubles import Stage
from tests.support.agents.vendor_servers import RECORDINGS, Stream, body_of, remote

#: What a person answers where it is not a JSON object with `approved`.
_ANSWERS: Final = {"ag2": True, "crewai": "yes"}
#: UUIDs, with separators or without, and times (RFC 3339).
_ID: Final = re.compile(r"\b[0-9a-f]{8}(-?)(?:[0-9a-f]{4}\1){3}[0-9a-f]{12}\b")
_TIME: Final = re.compile(r"\b20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|\+00:00)?")
#: Members that are another value each time.
_TIMES: Final = {"timestamp", "created_at", "time_to_first_token", "duration"}
_LATER: Final = "2100-01-01T00:00:00Z"


@dataclass
class Wire:
    """The connection to a real server, which keeps what goes over it."""

    url: str
    runs: list[dict[str, Any]] = field(default_factory=list)

    async def __call__(self, request: httpx.Request) -> httpx.Response:
        headers = {"accept": "text/event-stream", "content-type": "application/json"}
        async with httpx.AsyncClient(timeout=60) as client:
            answer = await client.post(self.url, content=request.content, headers=headers)
        chunks = aiter(Stream(iter([answer.content])))
        events = [json.loads(data) async for data in read_events(chunks)]
        # RAW has the framework's own objects, thousands of lines that nobody reads.
        events = [event for event in events if event["type"] != "RAW"]
        self.runs.append({"sent": body_of(request), "events": events})
        kind = {"content-type": "text/event-stream"}
        stream = Stream(iter([answer.content]))
        return httpx.Response(answer.status_code, headers=kind, stream=stream)


async def record(framework: Framework) -> dict[str, Any]:
    """Return the recording of an approved call, from the real server."""
    with (
        TemporaryDirectory() as directory,
        Desk(framework, Path(directory)) as desk,
    ):
        wire = Wire(f"{desk.url}{framework.agui}")
        stage = Stage(remote(wire), repeats_calls=True)
        await stage.say("refund")
        interrupts = stage.interrupts
        assert not desk.ran, f"{framework.name} ran before it was approved"
        answer = _ANSWERS.get(framework.server, {"approved": True})
        await stage.answer(answer)
        assert stage.outcome == "success"
        return {
            "version": framework.version(),
            "answer": answer,
            "asked": [row.model_dump(by_alias=True, exclude_none=True) for row in interrupts],
            "ran": desk.ran,
            "runs": wire.runs,
        }


def steady(value: Any) -> Any:
    """Return a recording with ids in the order of their appearance, and without times."""
    numbers, names = count(1), {}

    def name(match: re.Match[str]) -> str:
        if match[0] not in names:
            hyphen = match[1]
            names[match[0]] = hyphen.join(("0" * 8, "0000", "4000", "8000", f"{next(numbers):012}"))
        return names[match[0]]

    def walk(node: Any) -> Any:
        if isinstance(node, str):
            return _TIME.sub(_LATER, _ID.sub(name, node))
        if isinstance(node, list):
            return [walk(item) for item in node]
        if isinstance(node, Mapping):
            items = {walk(key): walk(item) for key, item in node.items() if key not in _TIMES}
            return items | ({"proof": "proof"} if "proof" in items else {})
        return node

    return walk(value)


def main() -> None:
    servers = (*FRAMEWORKS, *OTHERS, CREWAI)
    # Mastra sends chunks, which the engine expands and the double does not take.
    frameworks = {row.name: row for row in servers if row.server != "mastra"}
    for chosen in sys.argv[1:] or frameworks:
        recording = steady(asyncio.run(record(frameworks[chosen])))
        text = json.dumps(recording, indent=1, ensure_ascii=False)
        (RECORDINGS / f"{chosen}.json").write_text(f"{text}\n")
        sys.stdout.write(f"{chosen} {recording['version']}\n")


if __name__ == "__main__":
    main()
