"""The TypeScript client as it is published: no dependencies, typed, and on a running server."""

import json
import re
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.support.processes import REPOSITORY

pytestmark = pytest.mark.javascript

GUIDE = (REPOSITORY / "docs" / "clients.md").read_text()
PUBLISH = "const publish = (version: string, tag: string) => `${version} as ${tag}`;\n"


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
        environment=environment,
    )

    assert done.returncode == 0, done.stdout + done.stderr
    assert "# skipped 0" in done.stdout
    assert "# todo 0" in done.stdout


@pytest.fixture
def run_guide(project, environment):
    """Start a program of docs/clients.md in a thread; the result is what it prints."""
    blocks = re.findall(r"^```ts\n(.*?)^```", GUIDE, re.DOTALL | re.MULTILINE)
    assert len(blocks) == 2

    def start(number):
        program = project.directory / f"guide{number}.ts"
        program.write_text(PUBLISH + blocks[number])
        project.compile([program])

        def finish():
            done = project.run(f"guide{number}.js", environment=environment)
            assert (done.returncode, done.stderr) == (0, "")
            return done.stdout.splitlines()

        return ThreadPoolExecutor(1).submit(finish)

    return start


def test_the_program_of_the_guide_publishes_what_was_approved(desk, run_guide):
    program = run_guide(0)
    request = desk.next_request()

    desk.edit(request, {"version": "4.2.0", "tag": "next"})

    assert program.result() == [
        f"Waiting for people: {desk.url}{request['url']}",
        "Published: 4.2.0 as next",
    ]
    assert desk.state(request["id"]) == ("done", "succeeded")


def test_the_program_of_the_guide_prints_the_reason_of_a_denial(desk, run_guide):
    program = run_guide(0)

    desk.deny(desk.next_request(), "not on a Friday")

    assert program.result()[1:] == ["Not published: not on a Friday"]


def test_the_question_of_the_guide_prints_its_answer(desk, run_guide):
    program = run_guide(1)

    desk.decide(desk.next_request(), "eu")

    assert program.result() == ["eu"]
