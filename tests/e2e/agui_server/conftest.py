"""A running product for every test of its doors."""

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.support.http.agui_client import Door
from tests.support.product import Product, embedded_product


@pytest.fixture(scope="session")
def product(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Product]:
    directory: Path = tmp_path_factory.mktemp("product")
    with embedded_product(directory) as running:
        yield running


@pytest.fixture(scope="session")
def key(product: Product) -> str:
    return product.create_api_key("run", "read", "decide")


@pytest.fixture
def door(product: Product, key: str) -> Iterator[Door]:
    with httpx.Client(base_url=product.url, timeout=20) as http:
        yield Door(http, key)


@pytest.fixture
def runner(product: Product) -> Iterator[Door]:
    """A caller who may run agents, but not decide."""
    with httpx.Client(base_url=product.url, timeout=20) as http:
        yield Door(http, product.create_api_key("run", "read"))
