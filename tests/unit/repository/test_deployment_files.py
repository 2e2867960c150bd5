import shlex
import subprocess
from pathlib import Path

import pytest
import yaml

from tests.support import processes

REPOSITORY = processes.REPOSITORY
#: Written apart, or this file would be the first to break the rule.
REGISTRY_HOSTS = [
    ".".join(parts)
    for parts in (
        ("pypi", "org"),
        ("pythonhosted", "org"),
        ("registry", "npmjs", "org"),
        ("registry", "yarnpkg", "com"),
        ("deb", "debian", "org"),
    )
]


@pytest.fixture(scope="module")
def compose():
    return yaml.safe_load((REPOSITORY / "docker-compose.yml").read_text())


@pytest.mark.parametrize(
    ("service", "started_by_tests"),
    [("web", processes.WEB_COMMAND), ("worker", processes.WORKER_COMMAND)],
)
def test_docker_compose_starts_what_the_tests_start(compose, service, started_by_tests):
    command = shlex.split(compose["services"][service]["command"])

    assert command == ["python", *started_by_tests]


def test_docker_compose_sets_the_servers_that_tests_use(compose):
    ours = processes.scaled_environment(
        Path("data"), database_url="postgresql://tests", redis_url="redis://tests"
    )

    for service in ("web", "worker", "migrate"):
        theirs = compose["services"][service]["environment"]
        for name in ("DATABASE_URL", "REDIS_URL", "SIGNOFF_SECRET_KEY"):
            assert name in ours
            assert name in theirs


def test_docker_compose_keeps_no_secret(compose):
    for service in compose["services"].values():
        for name, value in service.get("environment", {}).items():
            if name.endswith(("PASSWORD", "SECRET_KEY")):
                assert value.startswith("${")
                assert ":?" in value


def test_no_tracked_file_names_a_package_registry():
    tracked = subprocess.run(
        ["git", "ls-files", "-z"], cwd=REPOSITORY, capture_output=True, text=True, check=True
    ).stdout.split("\0")

    named = {
        f"{name}: {host}"
        for name in tracked
        for host in REGISTRY_HOSTS
        if name and host.encode() in _content(name)
    }

    assert "requirements/base.txt" in tracked
    assert "tests/e2e/clients/javascript/package-lock.json" in tracked
    assert named == set()


def _content(name):
    path = REPOSITORY / name
    # Listed and gone: a deletion that is not committed yet.
    return path.read_bytes() if path.is_file() else b""
