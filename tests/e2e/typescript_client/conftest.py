"""The TypeScript client, installed in an empty project, and a running Signoff with agents."""

import os
import shutil

import httpx
import pytest

from tests.support.clients.typescript_package import SOURCE, install_package
from tests.support.product import embedded_product

AGENTS = ("ts-client", "ts-arguments", "ts-frameworks")


@pytest.fixture(scope="session")
def project(tmp_path_factory):
    return install_package(tmp_path_factory.mktemp("typescript"))


@pytest.fixture(scope="session")
def compiled_tests(project):
    """The project with the package's own tests beside it, compiled."""
    tests = project.directory / "tests"
    shutil.copytree(SOURCE / "tests", tests)
    project.compile(sorted(tests.glob("*.ts")))
    return project


@pytest.fixture(scope="session")
def product(tmp_path_factory):
    with embedded_product(tmp_path_factory.mktemp("product")) as running:
        headers = {"Authorization": f"Bearer {running.create_api_key('read', 'admin')}"}
        for agent in AGENTS:
            answer = httpx.put(
                f"{running.url}/api/agents/{agent}", json={"kind": "external"}, headers=headers
            )
            answer.raise_for_status()
        yield running


@pytest.fixture(scope="session")
def environment(product):
    """The environment of programs; SIGNOFF_AGENT is theirs."""
    return os.environ | {
        "SIGNOFF_URL": product.url,
        "SIGNOFF_API_KEY": product.create_api_key("run", "read"),
        "SIGNOFF_REVIEWER_KEY": product.create_api_key("read", "decide"),
    }
