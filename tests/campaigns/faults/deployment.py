"""The product with the campaign's own agent, on either database, and people who answer it."""

import json
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal
from uuid import UUID

import httpx

from tests.campaigns.facts import Facts
from tests.campaigns.faults.fixture_data import WORLD, World
from tests.campaigns.faults.process_forker import Nursery
from tests.support.children import free_port
from tests.support.postgres import PostgresServer
from tests.support.processes import embedded_environment, manage, scaled_environment
from tests.support.product_client import Client
from tests.support.valkey import ValkeyServer

Database = Literal["SQLite", "PostgreSQL"]
DATABASES: Final[tuple[Database, ...]] = ("SQLite", "PostgreSQL")

#: One process that does everything, or one of the two roles.
SERVE = ("serve",)
WEB = ("serve", "--web")
WORKER = ("serve", "--worker")

DOUBT = "signoff:outcome_unknown"


@dataclass(frozen=True)
class House:
    """Where the processes of one product live; nobody is in until the nursery bears them."""

    database: Database
    directory: Path
    nursery: Nursery
    facts: Facts
    world: World
    key: str
    ports: tuple[int, ...]
    environment: Mapping[str, str]

    def client(self, number: int = 0) -> Client:
        return Client(f"http://127.0.0.1:{self.ports[number]}", self.key)


@contextmanager
def house(directory: Path, database: Database, *, lease: float) -> Iterator[House]:
    """Build the product with one agent, the desk, and nothing else that is asked or run."""
    directory.mkdir(parents=True)
    world = World(directory / "world.jsonl")
    more = {
        WORLD: str(directory / "world.jsonl"),
        "SIGNOFF_AGENTS": "tests.campaigns.faults.desk:desk",
        "SIGNOFF_STATIC_ROOT": str(directory / "static"),
        "CAMPAIGN_LEASE": str(lease),
        "SIGNOFF_WORKER_CONCURRENCY": "8",
    }
    with ExitStack() as stack:
        if database == "SQLite":
            environment = embedded_environment(directory, **more)
            facts = Facts(directory / "signoff.sqlite3")
        else:
            server = stack.enter_context(PostgresServer())
            url = server.create_database("signoff")
            rings = stack.enter_context(ValkeyServer())
            environment = scaled_environment(
                directory, database_url=url, redis_url=rings.url, **more
            )
            facts = Facts(url)
        manage(environment, "migrate", "--no-input")
        manage(environment, "add_agent", "desk", "--team", "demo")
        scopes = [part for scope in ("read", "run", "decide") for part in ("--scope", scope)]
        key = manage(environment, "create_api_key", "--name", "campaign", *scopes)
        nursery = stack.enter_context(Nursery(environment))
        ports = (free_port(), free_port())
        yield House(database, directory, nursery, facts, world, key, ports, environment)


def again(call: Callable[[], httpx.Response], *, seconds: float = 90) -> httpx.Response:
    """Send a request that may be sent again, until somebody answers it."""
    deadline = time.monotonic() + seconds
    while True:
        try:
            answer = call()
        except httpx.TransportError:
            answer = None
        if answer is not None and answer.status_code != 503:
            return answer
        if time.monotonic() > deadline:
            raise TimeoutError("nobody answered")
        time.sleep(0.05)


@dataclass
class People:
    """Answer whatever is asked, over and over; they know the world, as people do."""

    house: House
    client: Client
    may_know: Callable[[dict[str, Any]], bool] = lambda _: True  #: whether a doubt can be cleared
    answered: int = 0
    denied: int = 0
    stopped: int = 0
    doubts: int = 0
    refused: list[str] = field(default_factory=list)
    rival: str = ""  #: another person, who may be faster

    def answer_until(self, stop: threading.Event) -> None:
        """Look, answer, and look again."""
        while not stop.wait(0.1):
            self.answer_everything()

    def answer_everything(self) -> None:
        try:
            pending = self.client.pending()
        except httpx.HTTPError:
            return  # whoever was interrupt is gone, and will be back
        for interrupt in pending:
            payload = self._answer(interrupt)
            if payload is None:
                continue
            answer = again(
                lambda interrupt=interrupt, payload=payload: self.client.decide(interrupt, payload)
            )
            self.answered += 1
            is_late = answer.status_code == 409 and answer.json().get("by") == self.rival
            if answer.status_code != 200 and not is_late:
                self.refused.append(f"{interrupt['id']}: {answer.status_code} {answer.text[:200]}")

    def _answer(self, interrupt: dict[str, Any]) -> dict[str, Any] | None:
        dice = UUID(interrupt["id"]).int
        if interrupt["reason"] != DOUBT:
            approved = dice % 10 != 0
            self.denied += not approved
            return {"approved": approved}
        if not self.may_know(interrupt):
            return None
        self.doubts += 1
        if dice % 17 == 0:
            self.stopped += 1
            return {"outcome": "stop"}
        if self.house.world.has_effect(
            interrupt["thread_id"], interrupt["interrupt"]["toolCallId"]
        ):
            return {"outcome": "happened", "result": json.dumps("said by hand")}
        return {"outcome": "did_not_happen"}


class Customers:
    """Bring orders, as many at once as are bearable."""

    def __init__(self, house: House, clients: list[Client], *, at_once: int) -> None:
        self._house = house
        self._clients = clients
        self._at_once = at_once
        self.brought = 0

    def bring_until(self, enough: Callable[[int], bool]) -> None:
        """Bring orders until `enough(number)`."""
        while not enough(self.brought):
            room = self._at_once - self._house.facts.active_threads()
            if room <= 0:
                time.sleep(0.1)
            for _ in range(room):
                self._bring()

    def _bring(self) -> None:
        number = self.brought
        attempts = 0

        def call() -> httpx.Response:
            nonlocal attempts
            client = self._clients[(number + attempts) % len(self._clients)]
            attempts += 1
            return client.start(str(number), key=f"order-{number}", agent="desk")

        again(call).raise_for_status()
        self.brought += 1
