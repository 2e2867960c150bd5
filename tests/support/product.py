"""The whole product, running: in its embedded shape, or scaled on servers of its own."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx

from tests.support.postgres import PostgresServer
from tests.support.processes import (
    ProductProcess,
    embedded_environment,
    manage,
    scaled_environment,
    start_embedded,
    start_web,
    start_worker,
)
from tests.support.valkey import ValkeyServer


@dataclass(frozen=True)
class Product:
    """A running product with the demo's team and people in it."""

    environment: dict[str, str]  #: for more of its processes, and for `manage`
    web: ProductProcess
    workers: Sequence[ProductProcess]  #: empty in the embedded shape
    database: PostgresServer | None
    rings: ValkeyServer | None

    @property
    def url(self) -> str:
        return self.web.url

    def create_api_key(self, *scopes: str, team: str = "demo") -> str:
        """Make a key of a team."""
        options = [part for scope in scopes for part in ("--scope", scope)]
        options += ["--team", team]
        return manage(self.environment, "create_api_key", "--name", "tests", *options)

    def log_tails(self) -> str:
        """Return the last lines of every process, for a failure message."""
        return "\n\n".join(
            f"{process.log}:\n{process.log_tail()}" for process in (self.web, *self.workers)
        )


def forbid_self_approval(product: Product) -> None:
    """Let nobody in the demo's team approve the tool calls of their own runs."""
    headers = {"Authorization": f"Bearer {product.create_api_key('read', 'admin')}"}
    address = f"{product.url}/api/teams/demo"
    httpx.patch(address, json={"self_approval": False}, headers=headers).raise_for_status()


def two_keys(product: Product) -> dict[str, str]:
    """Make keys for the examples: one that starts runs, and one that decides."""
    return {
        "SIGNOFF_API_KEY": product.create_api_key("run", "read"),
        "SIGNOFF_REVIEWER_KEY": product.create_api_key("run", "read", "decide"),
    }


@contextmanager
def embedded_product(directory: Path, *, demo: bool = True, **settings: str) -> Iterator[Product]:
    """Run the product in one process; its data and log are below `directory`."""
    environment = embedded_environment(directory, **settings)
    with start_embedded(environment, log=directory / "log", demo=demo) as web:
        yield Product(environment, web, workers=(), database=None, rings=None)


@contextmanager
def scaled_product(
    directory: Path,
    *,
    workers: int = 1,
    durable: bool = False,
    demo: bool = True,
    **settings: str,
) -> Iterator[Product]:
    """Run one web process and `workers` workers on a PostgreSQL and a Valkey of their own."""
    with ExitStack() as stack:
        database = stack.enter_context(PostgresServer(durable=durable))
        rings = stack.enter_context(ValkeyServer())
        environment = scaled_environment(
            directory,
            database_url=database.create_database("signoff"),
            redis_url=rings.url,
            **settings,
        )
        manage(environment, "migrate", "--no-input")
        web = stack.enter_context(start_web(environment, log=directory / "web.log", demo=demo))
        running = [
            stack.enter_context(start_worker(environment, log=directory / f"worker{number}.log"))
            for number in range(workers)
        ]
        yield Product(environment, web, running, database, rings)
