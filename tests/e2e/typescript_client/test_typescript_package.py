"""The TypeScript client as it is published: no dependencies, typed, and on a running server."""

import json

import pytest

pytestmark = pytest.mark.javascript


def test_the_package_has_types_and_no_dependencies(project):
    package = project.directory / "node_modules" / "signoff-client"
    members = json.loads((package / "package.json").read_text())

    assert not {"dependencies", "peerDependencies", "optionalDependencies"} & set(members)
    assert [path.name for path in (project.directory / "node_modules").glob("[!.]*")] == [
        "signoff-client"
    ]
    folders = {path.relative_to(package).parts[0] for path in package.rglob("*")}
    assert folders == {"README.md", "dist", "package.json"}
    assert (package / "dist" / "index.d.ts").exists()


def test_its_tests_pass_on_a_running_server(compiled_tests, environment):
    files = sorted((compiled_tests.directory / "tests").glob("*.test.js"))

    done = compiled_tests.run(
        "--test",
        *files,
        environment=environment | {"SIGNOFF_AGENT": "ts-client"},
    )

    assert done.returncode == 0, done.stdout + done.stderr
    assert "# skipped 0" in done.stdout
    assert "# todo 0" in done.stdout
