"""A stage: one agent that plays whatever script the test puts on, and workers that get lost."""

from datetime import timedelta
from uuid import uuid4

import pytest

from inbox import engine, sweeper
from inbox.actions.runs import run_lease
from inbox.actions.runs.start_run import start_run
from inbox.platform.clock import database_now
from tests.support import steps
from tests.support.properties.agent_scripts import perform

COMMITS = ("append_events", "start_tool_calls", "settle_tool_calls", "finish_run")


class WorkerKilled(BaseException):
    """What a SIGKILL looks like from inside: nothing after it is executed."""


class Stage:
    """Runs of one agent whose script is the test's."""

    def __init__(self, world, alice, monkeypatch):
        self._world, self._alice, self._monkeypatch = world, alice, monkeypatch
        self._scripts = {}
        self._ahead = timedelta()
        self.agent = None

    async def play(self, run_input, ctx):
        async for event in perform(self._scripts.get(run_input.run_id, ["end"]), run_input, ctx):
            yield event

    def accept(self, script):
        """Accept a run of this script on a thread of its own."""
        request = steps.request(run_id=str(uuid4()))
        self._scripts[request.run_id] = script
        return start_run(agent=self.agent, request=request, actor=self._alice).run

    def drive(self, run):
        engine.execute_run(run.pk)
        return steps.reread(run)

    def count_commits(self, script):
        """Drive the script undisturbed; return the run and how often it committed."""
        run = self.accept(script)
        counted = []
        with self._monkeypatch.context() as patched:
            self._wrap_commits(patched, lambda: counted.append(1))
            run = self.drive(run)
        return run, len(counted)

    def lose_worker(self, run, *, commit, before):
        """Drive a run until its nth commit, and lose the worker before or after that."""
        left = [commit]

        def die_at_the_last():
            left[0] -= 1
            if left[0] == 0:
                raise WorkerKilled

        with self._monkeypatch.context() as dying:
            self._wrap_commits(dying, die_at_the_last, before=before)
            with pytest.raises(WorkerKilled):
                engine.execute_run(run.pk)

    def find_lost_workers(self):
        """Let the leases run out, and the sweeper look for them."""
        self._ahead += timedelta(seconds=60)
        ahead = self._ahead
        for module in ("inbox.models.locks", "inbox.queries.runs.overdue"):
            self._monkeypatch.setattr(f"{module}.database_now", lambda: database_now() + ahead)
        sweeper.sweep()

    def go_on(self, run, actor):
        """Answer what the run asked, or start another one; return the run that came of it."""
        if run.status != "interrupted":
            request = steps.request(thread_id=run.thread.external_id)
            accepted = start_run(agent=self.agent, request=request, actor=self._alice)
            return self.drive(accepted.run)
        for interrupt in steps.open_interrupts(run):
            steps.call_off(interrupt, actor)
        return steps.resumed_run(run)

    def _wrap_commits(self, patched, happen, *, before=True):
        def wrap(commit):
            def wrapped(**kwargs):
                if before:
                    happen()
                result = commit(**kwargs)
                if not before:
                    happen()
                return result

            return wrapped

        for name in COMMITS:
            patched.setattr(run_lease, name, wrap(getattr(run_lease, name)))


@pytest.fixture
def stage(world, alice, as_agent, monkeypatch):
    # Two runs of one script say the same, which a default expiry would tell apart by its time.
    type(world.team).objects.update(request_expiry_hours=0)
    stage = Stage(world, alice, monkeypatch)
    stage.agent = as_agent(stage.play)
    return stage
