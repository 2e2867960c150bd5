"""Subjects of measurement: the product in its two shapes, and the bare server."""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from bench import bare
from bench.meter import Meter
from bench.workloads import Target
from tests.support.processes import REPOSITORY
from tests.support.product import Product, embedded_product, scaled_product

SHAPES = ("embedded", "scaled")


#: Rate limits are counted, but never reached.
_UNBOUNDED = {"SIGNOFF_RATE_LIMIT": "1000000/second"}


@dataclass(frozen=True)
class Subject:
    """A running product of one shape."""

    target: Target
    product: Product | None  #: None for the bare server, which has no inbox

    def fill(self, number: int) -> None:
        """Add interrupts until `number` are pending and a fifth of that number decided."""
        if self.product is None:
            raise RuntimeError("the bare server has no inbox")
        subprocess.run(
            [sys.executable, "-m", "bench.fill", str(number), str(number // 5)],
            env=self.product.environment,
            cwd=REPOSITORY,
            check=True,
        )

    def login(self) -> tuple[str, str]:
        """Return the name and password of a reviewer of the demo."""
        if self.product is None:
            raise RuntimeError("the bare server has no people")
        data = Path(self.product.environment["SIGNOFF_DATA_DIR"])
        accounts = json.loads((data / "demo-credentials.json").read_text())["accounts"]
        reviewer = next(account for account in accounts if account["role"] == "reviewer")
        return reviewer["username"], reviewer["password"]


@contextmanager
def start(shape: str) -> Iterator[Subject]:
    """Start a product of this shape, or the bare server, with an empty database on real disks."""
    with tempfile.TemporaryDirectory(prefix="signoff-bench-", dir=os.environ.get("TMPDIR")) as name:
        directory = Path(name)
        if shape == "bare":
            with bare.start(directory) as (url, pid):
                yield Subject(Target(url, "none", Meter([pid])), None)
            return
        running = (
            embedded_product(directory, **_UNBOUNDED)
            if shape == "embedded"
            else scaled_product(directory, durable=True, **_UNBOUNDED)
        )
        with running as product:
            key = product.create_api_key("read", "run", "decide")
            pids = [process.pid for process in (product.web, *product.workers)]
            yield Subject(Target(product.url, key, Meter(pids)), product)
