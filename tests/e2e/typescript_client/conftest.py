"""The TypeScript client, installed in an empty project, and a running Signoff."""

import shutil

import pytest

from tests.support.clients.live_desk import live_desk
from tests.support.clients.typescript_package import SOURCE, install_package


@pytest.fixture(scope="package")
def project(tmp_path_factory):
    return install_package(tmp_path_factory.mktemp("typescript"))


@pytest.fixture(scope="package")
def compiled_tests(project):
    """The project with the package's own tests beside it, compiled."""
    tests = project.directory / "tests"
    shutil.copytree(SOURCE / "tests", tests)
    project.compile(sorted(tests.glob("*.ts")))
    return project


@pytest.fixture(scope="package")
def running_desk(tmp_path_factory):
    with live_desk(tmp_path_factory.mktemp("desk")) as desk:
        yield desk


@pytest.fixture
def desk(running_desk):
    running_desk.take_next_agent()
    return running_desk


@pytest.fixture
def environment(desk, tmp_path):
    """The environment of programs in Node; those that decide have the key of a reviewer, too."""
    reviewer = desk.product.create_api_key("read", "decide")
    return desk.environment(tmp_path, SIGNOFF_REVIEWER_KEY=reviewer)
