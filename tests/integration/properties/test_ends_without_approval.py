"""An end that nobody approved releases nothing, however an agent asks and reads its answer."""

from itertools import count

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents import registry
from inbox import sweeper
from inbox.actions.decisions.bulk import decide_many
from inbox.actions.decisions.claims_and_comments import claim_interrupt
from inbox.actions.people.provisioning import ensure_agent
from inbox.actions.runs.cancel_run import cancel_run
from inbox.models import Interrupt, Run, ToolCall
from inbox.rules.decisions.gate import Entrance
from inbox.rules.errors import InvalidPayload
from inbox.rules.people.access import SEED
from inbox.rules.runs.states import EntryStatus
from tests.support import steps
from tests.support.agents.gates import GATES, OF_SCHEMA, READS, releases
from tests.support.agents.lost_workers import kill_while_driving
from tests.support.agents.vendor_servers import Server, body_of, finished, remote, started
from tests.support.properties.json_values import generated
from tests.support.steps import open_interrupts, resumed_run, start
from tests.unit.agents.agui.legacy.test_undecided_ends import ASKS, answer_in

_numbers = count()
UNDECIDED = ("cancel", "cancel the run", "expire")
REJECTED = ("reject", "reject in bulk", "reject after a takeover")
CASES = [
    (question, gate, end)
    for question, (_, reads_approved) in ASKS.items()
    for gate in GATES
    for end in (*UNDECIDED, *REJECTED)
    if (gate in READS if end in REJECTED else gate in OF_SCHEMA or not reads_approved)
]
#: Turns of one thread, in which the ids of calls and interrupts come again.
turns = st.lists(st.tuples(st.sampled_from(CASES), st.booleans()), min_size=1, max_size=3)


class Asker(Server):
    """Asks in one way in each turn, and goes on if its gate takes the answer for a yes."""

    def ask(self, events, gate):
        self._runs, self._gate, self.executed = [events], gate, 0

    def __call__(self, request):
        if not self._runs:
            self.executed += releases(self._gate, answer_in(body_of(request)))
            self._runs = [[started(), finished()]]
        return super().__call__(request)


@pytest.fixture
def asker(world, monkeypatch):
    """The server, and the row of the agent behind it."""
    monkeypatch.setattr(registry, "_agents", {})
    server = Asker()
    agent = remote(server)
    registry.register(agent)
    row = ensure_agent(
        team=world.team, slug="asker", implementation=agent.name, description="", actor=SEED
    )
    return server, row


def reject(interrupt, bob, end):
    """Say no in a form that the request takes."""
    for payload in (steps.DENY, False, "no"):
        try:
            if end == "reject in bulk":
                digest = steps.reread(interrupt).shown_digest
                decide_many(
                    items=[(interrupt.pk, digest)],
                    status=EntryStatus.RESOLVED,
                    payload=payload,
                    actor=bob,
                    entrance=Entrance.BULK_REST,
                )
            else:
                steps.answer(interrupt, bob, payload)
        except InvalidPayload:
            continue
        if steps.reread(interrupt).status != "open":
            return
    steps.call_off(interrupt, bob)


@generated(200)
@given(turns=turns)
def test_no_end_without_an_approval_releases_anything(
    world, asker, bob, dora, later, monkeypatch, turns
):
    server, agent = asker
    thread_id = f"ends-{next(_numbers)}"
    for number, ((question, gate, end), killed) in enumerate(turns):
        server.ask(ASKS[question][0], gate)
        run = start(world, f"turn {number}", agent=agent, thread_id=thread_id)
        assert run.status == "interrupted"
        for interrupt in open_interrupts(run):
            if end == "cancel":
                steps.call_off(interrupt, bob)
            elif end == "cancel the run":
                cancel_run(run_id=run.pk, actor=bob)
            elif end == "expire":
                later(days=8)
                sweeper.sweep()
                later()
            else:
                if end == "reject after a takeover":
                    claim_interrupt(interrupt_id=interrupt.pk, actor=dora)
                    claim_interrupt(interrupt_id=interrupt.pk, actor=bob, take_over=True)
                reject(interrupt, bob, end)
        resume = Run.objects.filter(resumes=run).first()
        if killed and resume is not None and resume.status == "queued":
            kill_while_driving(resume, monkeypatch=monkeypatch, at="finish_run")
            later(seconds=60)
            sweeper.sweep()
            later()
        elif resume is not None:
            resumed_run(run)

        assert server.executed == 0, (question, gate, end)
        assert not Interrupt.objects.filter(thread=run.thread, status="open").exists()

    trail = ToolCall.objects.filter(thread__external_id=thread_id)
    assert not trail.filter(verdict="approved").exists()
    assert not trail.filter(started_at__isnull=False).exists()
