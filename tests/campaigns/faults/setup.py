"""The product under test, with a client, its rows and its ledger."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.campaigns.facts import Facts, Ledger
from tests.support.product import Product, scaled_product
from tests.support.product_client import Client


@dataclass(frozen=True)
class Stage:
    product: Product
    client: Client
    facts: Facts
    ledger: Ledger
    key: str


@contextmanager
def stage(directory: Path, *, workers: int = 1) -> Iterator[Stage]:
    """The scaled product with nothing left open of the demo's own runs."""
    directory.mkdir(parents=True, exist_ok=True)
    with scaled_product(directory, workers=workers) as product:
        key = product.create_api_key("read", "run", "decide")
        environment = product.environment
        with Client(product.url, key) as client:
            stage_ = Stage(
                product=product,
                client=client,
                facts=Facts(environment["DATABASE_URL"]),
                ledger=Ledger(Path(environment["SIGNOFF_LEDGER"])),
                key=key,
            )
            call_everything_off(stage_)
            yield stage_


def call_everything_off(stage: Stage) -> None:
    """Cancel what the demo's runs ask, so that the campaign's questions are the only ones."""
    from tests.support.product_client import wait_for

    def all_asked() -> bool:
        active = "SELECT count(*) FROM inbox_run WHERE status IN ('queued', 'running')"
        return stage.facts.value(active) == 0

    if not wait_for(all_asked, seconds=30, every=0.05):
        raise TimeoutError("the demo's runs did not come to their questions")
    for interrupt in stage.client.pending():
        stage.client.decide(interrupt, None, status="cancelled").raise_for_status()
