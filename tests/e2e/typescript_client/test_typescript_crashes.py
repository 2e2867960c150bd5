"""A TypeScript program that is killed goes on with the same request, and executes once."""

from concurrent.futures import ThreadPoolExecutor

import pytest

pytestmark = pytest.mark.javascript


@pytest.fixture
def run(compiled_tests, environment):
    """Start the program, which dies after a step; the result is the steps that it reached."""
    pool = ThreadPoolExecutor(1)

    def start(last="", key="refund-17"):
        def finish():
            done = compiled_tests.run("tests/crash.js", key, last, environment=environment)
            assert done.returncode == (-9 if last else 0), done.stderr
            return done.stdout.split()

        return pool.submit(finish)

    return start


def test_a_program_that_died_after_asking_goes_on_with_the_decision(run, desk):
    assert run("asked").result() == ["asked"]

    desk.decide(desk.next_request())

    assert run().result() == ["asked", "decided", "executed", "reported"]


def test_a_program_that_died_before_the_start_executes_once(run, desk):
    first = run("decided")
    desk.decide(desk.next_request())
    assert first.result() == ["asked", "decided"]

    assert run().result() == ["asked", "decided", "executed", "reported"]
    assert run().result() == ["asked", "decided", "AlreadyStarted"]


@pytest.mark.parametrize(
    ("last", "state"), [("executed", "started"), ("reported", "succeeded")], ids=["during", "after"]
)
def test_a_program_that_died_after_the_start_does_not_execute_again(run, desk, last, state):
    first = run(last)
    request = desk.next_request()
    desk.decide(request)
    assert "executed" in first.result()

    assert run().result() == ["asked", "decided", "AlreadyStarted"]
    assert desk.state(request["id"])[1] == state
