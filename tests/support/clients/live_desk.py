"""A running Signoff for tests of clients: a program's key, and a person who decides."""

import os
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from itertools import cycle
from pathlib import Path
from typing import Any

import httpx

from tests.support.processes import REPOSITORY, manage
from tests.support.product import Product, embedded_product

CLIENT_SOURCE = REPOSITORY / "clients" / "python" / "src"
APPROVE = {"approved": True}
_SECONDS = 60


#: Makes external agents of the demo's team, and prints a key for each of them.
_MAKE_AGENTS = """
from inbox.actions.agents.external_agents import set_external_agent
from inbox.actions.people.api_keys import make_key
from inbox.queries.people.teams import team_by_slug
from inbox.rules.people.access import SEED, Permission

team = team_by_slug("demo").pk
for slug in {slugs}:
    set_external_agent(team_id=team, slug=slug, actor=SEED)
    print(make_key(team_id=team, name=slug, scopes={{Permission.RUN}}, agent=slug, actor=SEED)[1])
"""
_AGENTS = 12


class Desk:
    """External agents with their keys, and a reviewer."""

    def __init__(self, product: Product) -> None:
        self.product = product
        self.url = product.url
        slugs = [f"ci-{number}" for number in range(_AGENTS)]
        script = _MAKE_AGENTS.format(slugs=slugs)
        keys = manage(product.environment, "shell", "-v0", "-c", script).split()
        self._agents = cycle(zip(slugs, keys, strict=True))
        self._admin = _api(product.url, product.create_api_key("read", "admin"))
        self._reviewer = _api(product.url, product.create_api_key("read", "decide"))
        self._seen: set[str] = set()
        self.take_next_agent()

    def take_next_agent(self) -> None:
        """Go on as another agent: each may ask a number of times a minute."""
        self.agent, self.key = next(self._agents)
        self._program = _api(self.url, self.key)
        self._since = datetime.now(UTC)

    def environment(self, directory: Path, **more: str) -> dict[str, str]:
        """Return the environment of a program whose files are in a directory of its own."""
        inherited = {name: value for name, value in os.environ.items() if "SIGNOFF" not in name}
        return inherited | {
            "HOME": str(directory),
            "XDG_CONFIG_HOME": str(directory / "config"),
            "XDG_STATE_HOME": str(directory / "state"),
            "PYTHONPATH": str(CLIENT_SOURCE),
            "SIGNOFF_URL": self.url,
            "SIGNOFF_API_KEY": self.key,
            **more,
        }

    def next_request(self) -> dict[str, Any]:
        """Wait for an open request of this test that this did not return before."""
        return self.next_requests(1)[0]

    def next_requests(self, number: int) -> list[dict[str, Any]]:
        """Wait for so many of them."""
        deadline = time.monotonic() + _SECONDS
        requests: list[dict[str, Any]] = []
        while len(requests) < number:
            assert time.monotonic() < deadline, f"{len(requests)} of {number} requests came"
            rows = self._get("/api/requests", status="open", limit="200")["results"]
            requests = [row for row in rows if self._is_new(row)]
            time.sleep(0.02)
        self._seen |= {request["id"] for request in requests}
        return requests

    def _is_new(self, request: Mapping[str, Any]) -> bool:
        created = datetime.fromisoformat(request["created_at"])
        return created >= self._since and request["id"] not in self._seen

    def read(self, request_id: str) -> dict[str, Any]:
        return self._get(f"/api/requests/{request_id}")

    def decide(self, request: Mapping[str, Any], payload: Any = None, item: str = "") -> None:
        """Answer one item, the first by default; without a payload approve it."""
        items = request["items"]
        (interrupt_id,) = [
            row["interrupt"] for row in items if row["id"] == (item or items[0]["id"])
        ]
        interrupt = self._reviewer.get(f"/api/interrupts/{interrupt_id}").json()
        answer = self._reviewer.post(
            f"/api/interrupts/{interrupt_id}/decide",
            json={
                "status": "resolved",
                "payload": APPROVE if payload is None else payload,
                "view_digest": interrupt["view_digest"],
            },
        )
        assert answer.status_code == 200, answer.text

    def edit(self, request: Mapping[str, Any], args: Mapping[str, Any]) -> None:
        """Approve a call with other arguments."""
        self.decide(request, {"approved": True, "editedArgs": args})

    def deny(self, request: Mapping[str, Any], reason: str = "not during the sale") -> None:
        self.decide(request, {"approved": False, "reason": reason})

    def state(self, request_id: str) -> tuple[str, str | None]:
        """Return the status of a request, and the state of its first call."""
        request = self.read(request_id)
        return request["status"], request["items"][0]["state"]

    def is_deviating(self, request_id: str) -> bool:
        """Return whether other arguments were executed than approved, by the audit trail."""
        thread = self.read(request_id)["thread"]
        answer = self._admin.get("/api/audit", params={"thread": thread, "action": "tool.deviated"})
        answer.raise_for_status()
        return bool(answer.json()["results"])

    def schema(self) -> dict[str, Any]:
        """Return the OpenAPI description that the server publishes."""
        document: dict[str, Any] = httpx.get(
            f"{self.url}/api/schema/", headers={"Accept": "application/json"}, trust_env=False
        ).json()
        return document

    def _get(self, path: str, **query: str) -> dict[str, Any]:
        answer = self._program.get(path, params=query)
        answer.raise_for_status()
        body: dict[str, Any] = answer.json()
        return body


@contextmanager
def live_desk(directory: Path, **settings: str) -> Iterator[Desk]:
    """Run the product, and make the agent and its keys."""
    with embedded_product(directory, **settings) as product:
        yield Desk(product)


def _api(url: str, key: str) -> httpx.Client:
    headers = {"Authorization": f"Bearer {key}"}
    return httpx.Client(base_url=url, headers=headers, timeout=60, trust_env=False)
