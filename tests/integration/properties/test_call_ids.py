"""Whatever an agent calls its calls: what runs is what people saw and approved."""

import json
from itertools import count

import ag_ui.core as agui
from hypothesis import given
from hypothesis import strategies as st

from agents.port import Effect
from inbox import sweeper
from inbox.models import Run, ToolCall
from inbox.rules.decisions.consent import canonical_json
from tests.support import steps
from tests.support.agents.agent_events import about, asking, error_of, finished, proposed
from tests.support.agents.lost_workers import kill_while_driving
from tests.support.properties.json_values import generated
from tests.support.steps import open_interrupts, resumed_run

NAMES = ("call_0", "call_1", "call_0~2")
#: Each worker is lost later than all before it.
_SECONDS = count(60, 60)
ANSWERS = ("approve", "edit", "deny", "cancel")

#: A call that is asked about: its name, whom it is for, and the answer.
calls = st.tuples(st.sampled_from(NAMES), st.sampled_from("ab"), st.sampled_from(ANSWERS))
#: The calls of one answer of the model, which names each once.
answer_of_model = st.lists(calls, min_size=1, max_size=3, unique_by=lambda call: call[0])
#: Turns of a thread: each is a run, and those that resume it one after the other.
turns = st.lists(st.lists(answer_of_model, min_size=1, max_size=3), min_size=1, max_size=3)


class Clerk:
    """Executes what it holds under a name, or what an answer edits, and knows no other ids."""

    def __init__(self):
        self.steps = []  #: of the turn, not asked yet
        self.holds = {}
        self.executed = {}  #: idempotency key -> arguments

    async def play(self, run_input, ctx):
        for answer in ctx.answers:
            name = answer.interrupt.tool_call_id
            payload = answer.resume_entry.payload or {}
            text = "not done"
            if payload.get("approved"):
                args = payload.get("editedArgs", self.holds[name])
                permit = await ctx.journal.begin(name, args=args, effect=Effect.READ)
                if permit.result is None:
                    self.executed[permit.idempotency_key] = canonical_json(args)
                    await ctx.journal.settle(name, result="done")
                text = "done"
            yield agui.ToolCallResultEvent(
                message_id=f"{ctx.run_key}-{name}", tool_call_id=name, content=text
            )
        if not self.steps:
            yield finished(run_input)
            return
        step = self.steps[0]
        for name, to, _ in step:
            self.holds[name] = {"to": to}
            for event in proposed(name, "post", json.dumps({"to": to})):
                yield event
        yield asking(run_input, *(about(name) for name, _, _ in step))


@generated(200)
@given(turns=turns, killed=st.booleans())
def test_what_runs_is_what_people_saw_and_approved(
    world, as_agent, bob, later, monkeypatch, turns, killed
):
    clerk = Clerk()
    agent = as_agent(clerk.play)
    thread_id = f"t-{agent.pk}"
    approved = []
    for number, turn in enumerate(turns):
        clerk.steps = list(turn)
        run = steps.start(world, f"turn {number}", agent=agent, thread_id=thread_id)
        while run.status == "interrupted":
            step = clerk.steps.pop(0)
            for interrupt, (_, to, answer) in zip(open_interrupts(run), step, strict=True):
                assert interrupt.args == canonical_json({"to": to})
                if answer == "approve":
                    steps.approve(interrupt, bob)
                    approved.append(interrupt.args)
                elif answer == "edit":
                    steps.answer(interrupt, bob, {"approved": True, "editedArgs": {"to": "c"}})
                    approved.append('{"to":"c"}')
                elif answer == "deny":
                    steps.deny(interrupt, bob)
                else:
                    steps.call_off(interrupt, bob)
            resume = Run.objects.get(resumes=run)
            if killed:
                held = dict(clerk.holds)
                kill_while_driving(resume, monkeypatch=monkeypatch, at="finish_run")
                clerk.holds = held
                later(seconds=next(_SECONDS))
                sweeper.sweep()
            run = resumed_run(run)
        assert run.status == "succeeded", error_of(run)

    assert list(clerk.executed.values()) == approved
    trail = ToolCall.objects.filter(thread__external_id=thread_id, started_at__isnull=False)
    assert {str(call.pk): call.approved_args for call in trail} == clerk.executed
