"""What a client that knows nothing is told of a thread."""

from inbox.actions.runs.start_run import start_run
from inbox.models import Thread
from inbox.queries.runs.threads import hydration_of
from tests.support import steps


def test_a_run_that_ends_meanwhile_is_told_with_its_messages(world, monkeypatch):
    accepted = start_run(
        agent=world.agent, request=steps.request("hello"), actor=world.actor(world.alice)
    )
    read = Thread.refresh_from_db

    def read_and_end_the_run(thread, **what):
        read(thread, **what)
        steps.drive(accepted)

    monkeypatch.setattr(Thread, "refresh_from_db", read_and_end_the_run)

    hydration = hydration_of(Thread.objects.get())

    assert hydration.active is None
    assert hydration.last == accepted.run
    assert "RUN_FINISHED" in hydration.last_terminal
    assert [message["role"] for message in hydration.messages] == ["user", "assistant"]
