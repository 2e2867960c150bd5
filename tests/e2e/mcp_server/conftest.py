"""A running product with an external agent, whose programs speak MCP."""

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.support.mcp.mcp_programs import Program, print_programs, read_programs
from tests.support.mcp.raw_client import McpClient, Person
from tests.support.processes import manage
from tests.support.product import Product, embedded_product


@pytest.fixture(scope="session")
def product(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Product]:
    directory: Path = tmp_path_factory.mktemp("product")
    with embedded_product(directory) as running:
        headers = {"Authorization": f"Bearer {running.create_api_key('read', 'admin')}"}
        with httpx.Client(base_url=running.url, headers=headers) as admin:
            # Decisions count at once.
            admin.patch("/api/teams/demo", json={"grace_seconds": 0}).raise_for_status()
        yield running


@pytest.fixture(scope="session")
def http(product: Product) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=product.url, timeout=90, trust_env=False) as client:
        yield client


@pytest.fixture(scope="session")
def programs(product: Product) -> Iterator[Program]:
    command = f"from tests.support.mcp.mcp_programs import *; {print_programs.__name__}()"
    return iter(read_programs(manage(product.environment, "shell", "-c", command)))


@pytest.fixture
def program(programs: Iterator[Program]) -> Program:
    """An external agent of this test only, because each may ask so often a minute."""
    return next(programs)


@pytest.fixture
def agent(program: Program) -> str:
    return program.agent


@pytest.fixture
def client(http: httpx.Client, program: Program) -> McpClient:
    return McpClient(http, program.key)


@pytest.fixture(scope="session")
def bob(product: Product, http: httpx.Client) -> Person:
    return Person(http, product.create_api_key("run", "read", "decide"))
