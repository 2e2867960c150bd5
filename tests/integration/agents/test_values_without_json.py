"""Values that JSON lacks: people see them, agents get them back, and nothing fails."""

import json
import re
from typing import Any
from uuid import uuid4

import pytest

from agents import registry
from agents.sdk.scripted import ScriptedAgent
from agents.sdk.tools import tool
from inbox.actions.agents.remote_agents import set_remote_agent
from inbox.actions.people.provisioning import ensure_agent
from inbox.models import Delivery, ToolCall
from inbox.rules.people.access import SEED
from tests.support.agents import vendor_servers
from tests.support.agents.agent_events import about, asking, finished, proposed
from tests.support.agents.remote_agent_server import elsewhere, new_address
from tests.support.http.rest_client import key_with
from tests.support.requests.programs import program
from tests.support.steps import approve, open_interrupts, resumed_run, start
from tests.web.conftest import reads_bob

__all__ = ["elsewhere", "key_with", "new_address", "program", "reads_bob"]

#: The arguments as a model writes them, and as REST writes them.
ARGUMENTS = {
    "NaN": ('{"amount": NaN}', {"amount": "NaN"}),
    "infinities": (
        '{"amount": [Infinity, {"a": -Infinity}]}',
        {"amount": ["Infinity", {"a": "-Infinity"}]},
    ),
    "beyond a double": ('{"amount": -1e999}', {"amount": "-Infinity"}),
    "NUL": ('{"amount": "a\\u0000b"}', {"amount": "a\0b"}),
    "lone surrogate": ('{"amount": "a\\ud800b"}', {"amount": "a\ud800b"}),
    "name with a surrogate": ('{"\\udfff": 1}', {"\udfff": 1}),
    "name with NUL": ('{"a\\u0000": 1}', {"a\0": 1}),
    "all": (
        '{"a": [NaN, "\\u0000", "\\ud800", "\\u00e9"], "n": 9007199254740993}',
        {"a": ["NaN", "\0", "\ud800", "é"], "n": 9007199254740993},
    ),
}
TABLE = pytest.mark.parametrize(("args", "over_rest"), ARGUMENTS.values(), ids=ARGUMENTS)
PAGES = [
    "/",
    "/decided/",
    "/runs/",
    "/runs/",
    "/threads/{thread}/",
    "/audit/",
    "/audit/calls/{call}/",
    "/audit/threads/{thread}/",
    "/interrupts/{interrupt}/",
]
RESOURCES = [
    "/api/interrupts",
    "/api/interrupts/{interrupt}",
    "/api/tool-calls",
    "/api/runs",
    "/api/runs/{run}",
    "/api/threads/{thread}",
    "/api/threads/{thread}/tool-calls",
    "/api/threads/{thread}/messages",
    "/api/threads/{thread}/state",
    "/api/threads/{thread}/audit",
    "/api/threads/{thread}/runs",
    "/api/audit",
]


def strict(text):
    """Return JSON as a parser reads it that knows nothing but JSON."""

    def reject(name):
        raise AssertionError(f"{name} is not JSON")

    return json.loads(text, parse_constant=reject)


@pytest.fixture
def open_everything(reads_bob, key_with):
    """Open each page and resource of a run; returns the JSON of the resources."""
    key = key_with("read", "decide", "run", "admin")

    def look(run):
        names = {
            "run": run.pk,
            "thread": run.thread_id,
            "interrupt": run.interrupts.get().pk,
            "call": ToolCall.objects.get().pk,
        }
        pages = {page: reads_bob.get(page.format(**names)) for page in PAGES}
        resources = {path: key.get(path.format(**names)) for path in RESOURCES}
        answers = {**pages, **resources}
        refused = {
            path: response for path, response in answers.items() if response.status_code != 200
        }
        assert not refused, refused
        for body in Delivery.objects.values_list("body", flat=True):
            strict(body)
        return {path: strict(response.content) for path, response in resources.items()}

    return look


@TABLE
def test_arguments_of_an_agent_in_the_worker_stay_as_they_are(
    world, as_agent, open_everything, reads_bob, args, over_rest
):
    deliveries = []

    async def play(run_input, context):
        if run_input.resume:
            deliveries.extend(answer.proposal.args for answer in context.answers)
            yield finished(run_input)
            return
        for event in proposed(args=args):
            yield event
        yield asking(run_input, about())

    run = start(world, "go", agent=as_agent(play))
    bodies = open_everything(run)
    (interrupt,) = open_interrupts(run)
    page = reads_bob.open(interrupt)
    reads_bob.send(interrupt, "approve", seen="on")
    resumed = resumed_run(run)

    assert resumed.status == "succeeded"
    assert json.dumps(deliveries) == json.dumps([json.loads(args)])
    assert "This value cannot be edited" in page
    assert bodies["/api/interrupts"]["results"][0]["args"] == over_rest
    assert bodies["/api/interrupts/{interrupt}"]["args"] == over_rest
    bodies = open_everything(run)
    assert bodies["/api/tool-calls"]["results"][0]["approved_args"] == over_rest


@TABLE
def test_arguments_of_a_remote_agent_stay_as_they_are(
    world, bob, elsewhere, open_everything, args, over_rest
):
    question = {"id": "i", "reason": "tool_call", "toolCallId": "tc-1"}
    elsewhere.runs = [
        [
            vendor_servers.started(),
            {"type": "TOOL_CALL_START", "toolCallId": "tc-1", "toolCallName": "pay"},
            {"type": "TOOL_CALL_ARGS", "toolCallId": "tc-1", "delta": args},
            {"type": "TOOL_CALL_END", "toolCallId": "tc-1"},
            vendor_servers.finished(outcome={"type": "interrupt", "interrupts": [question]}),
        ],
        [vendor_servers.started(), vendor_servers.finished()],
    ]
    agent = set_remote_agent(
        team_id=world.team.pk, slug="elsewhere", url=elsewhere.url, headers={}, actor=SEED
    ).agent
    run = start(world, "go", agent=agent)
    open_everything(run)
    approve(open_interrupts(run)[0], bob)
    resumed = resumed_run(run)

    assert resumed.status == "succeeded"
    (call,) = elsewhere.sent[1]["messages"][1]["toolCalls"]
    delivery = json.loads(call["function"]["arguments"])
    assert json.dumps(delivery) == json.dumps(json.loads(args))
    assert open_everything(run)["/api/tool-calls"]["results"][0]["approved_args"] == over_rest


#: Texts with a lone surrogate are no `str` for pydantic, which checks the arguments of tools.
OF_TOOLS = {name: ARGUMENTS[name] for name in ("NaN", "infinities", "beyond a double", "NUL")}


@pytest.mark.parametrize(("args", "over_rest"), OF_TOOLS.values(), ids=OF_TOOLS)
def test_arguments_of_a_tool_of_the_sdk_stay_as_they_are(
    world, bob, open_everything, args, over_rest
):
    deliveries = []

    @tool(effect="idempotent", approval=True)
    def pay(**values: Any) -> str:
        """Pay."""
        deliveries.append(values)
        return "paid"

    async def step(context):
        yield context.text_message("Let me pay.")
        yield context.propose(pay, json.loads(args))

    agent = ScriptedAgent(
        name=f"payer-{uuid4().hex}",
        description="Pays.",
        tools=(pay,),
        choose=lambda _: "script",
        steps=lambda _: (step,),
    )
    registry.register(agent)
    row = ensure_agent(
        team=world.team, slug="payer", implementation=agent.name, description="", actor=SEED
    )
    run = start(world, "go", agent=row)
    bodies = open_everything(run)
    approve(open_interrupts(run)[0], bob)
    resumed = resumed_run(run)

    assert resumed.status == "succeeded"
    assert json.dumps(deliveries) == json.dumps([json.loads(args)])
    assert bodies["/api/tool-calls"]["results"][0]["proposed_args"] == over_rest
    open_everything(run)


def test_headings_name_numbers_that_json_lacks(world, as_agent):
    async def play(run_input, context):
        for event in proposed(args='{"amount": NaN, "most": Infinity, "really": true}'):
            yield event
        yield asking(run_input, about())

    (interrupt,) = open_interrupts(start(world, "go", agent=as_agent(play)))

    assert interrupt.title == "Call pay (amount NaN, most Infinity, really true)"


@pytest.mark.parametrize("text", [args for args, _ in ARGUMENTS.values()], ids=ARGUMENTS)
def test_programs_are_refused_with_the_reason(program, text):
    answer = program.post("/api/requests", f'{{"title": "Pay?", "tool": "pay", "args": {text}}}')

    assert answer.status_code == 400
    assert re.search("NaN|Infinity|NUL|surrogate|double", strict(answer.content)["detail"])
