"""Each mistake of an author is named where it is made: the tool, the setting and the remedy."""

import json
import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from textwrap import dedent
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from agents import registry
from inbox.models import AgentError
from tests.support.agents.agent_events import error_of
from tests.support.steps import open_interrupts, start

PRELUDE = """
import asyncio, random
from agents.sdk.context import ToolContext
from agents.sdk.llm import LlmAgent
from agents.sdk.models import ScriptedModel
from agents.sdk.tools import define_interrupt, tool
from agents.sdk.workflow import workflow

@tool(effect="read")
def add(n: int) -> int:
    '''Add one.'''
    return n + 1
"""

EFFECTS = '"read" (no effect), "idempotent" (safe to repeat) or "once" (never repeated)'
TYPES = "a type is one of array, boolean, integer, null, number, object or string"


@dataclass(frozen=True)
class Mistake:
    """Lines of an author, and what the author is told."""

    name: str
    code: str
    message: str


#: Raised by the line that declares the tool or the agent.
DECLARATIONS = [
    Mistake(
        "a placeholder that is not an argument",
        "@tool(effect='once', approval='Pay {amout}')\ndef pay(amount: float) -> None: ...",
        "pay: 'Pay {amout}' has a placeholder 'amout'; use one of: amount.",
    ),
    Mistake(
        "a workflow that is not async",
        "@workflow()\ndef desk(ctx): ...",
        "desk: a workflow is an async function; write async def desk(ctx).",
    ),
    Mistake(
        "positional arguments",
        "@tool(effect='read')\ndef pay(*names: str) -> None: ...",
        "pay: *names: str is positional; a tool takes keyword arguments only.",
    ),
    Mistake(
        "retries of a once tool",
        "@tool(effect='once', retries=2)\ndef pay(to: str) -> None: ...",
        'pay: a tool with effect="once" cannot have retries; remove them.',
    ),
    Mistake(
        "two tools of one name",
        "first = add\n@tool(effect='read')\ndef add(n: int) -> int: ...\n"
        "@workflow(tools=[first, add])\nasync def desk(ctx): ...",
        "desk: Two tools are named add; rename one.",
    ),
    Mistake(
        "@tool without brackets",
        "@tool\ndef pay(to: str) -> None: ...",
        f'pay: @tool needs effect=, such as @tool(effect="once"): {EFFECTS}.',
    ),
    Mistake(
        "@workflow without brackets",
        "@workflow\nasync def desk(ctx): ...",
        "desk: @workflow needs brackets; write @workflow(tools=[...]), or @workflow() without "
        "tools.",
    ),
    Mistake(
        "no effect",
        "@tool()\ndef pay(to: str) -> None: ...",
        f'pay: @tool needs effect=, such as @tool(effect="once"): {EFFECTS}.',
    ),
    Mistake(
        "an unknown effect",
        "@tool(effect='one')\ndef pay(to: str) -> None: ...",
        f"pay: effect='one' is unknown; use {EFFECTS}.",
    ),
    Mistake(
        "an unknown type hint",
        "@tool(effect='read')\ndef pay(to: 'Strng') -> None: ...",
        "pay: the type hint 'Strng' is not defined; import it, or correct its name.",
    ),
    Mistake(
        "no type hints",
        "@tool(effect='read')\ndef pay(amount, to): ...",
        "pay: no type hint for amount, to; reviewers get a field for any JSON, and nothing is "
        "checked. Write a type, such as `amount: str`.",
    ),
    Mistake(
        "tools that are no list",
        "@workflow(tools=add)\nasync def desk(ctx): ...",
        "desk: tools= takes a list; write tools=[add].",
    ),
    Mistake(
        "a function in tools=",
        "def pay(to: str): ...\nLlmAgent('desk', 'D.', ScriptedModel([]), tools=[pay])",
        'desk: tools= has pay, which is not a tool; decorate it with @tool(effect="...").',
    ),
    Mistake(
        "a bad schema as approval",
        "@tool(effect='once', approval={'type': 'objekt'})\ndef pay(to: str) -> None: ...",
        "pay: approval= is not a valid JSON Schema. At $.type: 'objekt' is not valid under any of "
        f"the given schemas; {TYPES}.",
    ),
    Mistake(
        "a bad schema of an answer",
        "from pydantic import BaseModel\n"
        "define_interrupt('ask', 'Ask.', input_model=BaseModel, message='?', "
        "answer_schema={'type': 'strin'})",
        "ask: answer_schema= is not a valid JSON Schema. At $.type: 'strin' is not valid under "
        f"any of the given schemas; {TYPES}.",
    ),
    Mistake(
        "call.interrupt in a once tool",
        "@tool(effect='once')\ndef pay(call: ToolContext, to: str) -> None:\n"
        "    call.interrupt('May I?')",
        'pay: a tool with effect="once" cannot call call.interrupt, because the function would '
        "start again with the answer. Ask in its approval= (True, a text or a function), in the "
        'workflow with ctx.interrupt, or declare effect="idempotent" or "read".',
    ),
]

#: Told when the workflow runs: `desk` has these lines. With the run, and with its exception in the
#: demo.
RUNS = [
    Mistake(
        "a step whose result is read without await",
        "outcome = ctx.call(add, n=1)\nprint(outcome.value)",
        "no attribute 'value': ctx.call(add, ...) was not awaited, so it did not "
        "run; write `await ctx.call(add, ...)`.",
    ),
    Mistake(
        "a step that nobody awaits",
        "ctx.emit_text('Hello')",
        "desk: ctx.emit_text(...) was not awaited, so it did not run; write `await "
        "ctx.emit_text(...)`.",
    ),
    Mistake(
        "asyncio.gather",
        "await asyncio.gather(ctx.call(add, n=1), ctx.call(add, n=2))",
        "desk: the step 'call add' began before 'call add' ended. Await each step before the next "
        "one and let its error end the run; instead of asyncio.gather or tasks, write await "
        "ctx.call_all((tool, args), ...).",
    ),
    Mistake(
        "a wrong argument",
        "await ctx.call(add, n='many')",
        "InvalidArguments: add cannot take these arguments: n: Input should be a valid integer",
    ),
    Mistake(
        "a function that is no tool",
        "await ctx.call(len)",
        'TypeError: desk: ctx.call takes a tool, and len is none; decorate it with @tool(effect="',
    ),
    Mistake(
        "a bad schema",
        "await ctx.interrupt('Name?', response_schema={'type': 'strin'})",
        "desk: response_schema= of ctx.interrupt is not a valid JSON Schema. At "
        f"$.type: 'strin' is not valid under any of the given schemas; {TYPES}.",
    ),
    Mistake(
        "no schema at all",
        "await ctx.interrupt('Name?', response_schema='str')",
        "TypeError: desk: response_schema= of ctx.interrupt takes a JSON Schema or a type (bool, "
        "list[str], a pydantic model), not 'str'.",
    ),
    Mistake(
        "an exception",
        "print(1 / 0)",
        "ZeroDivisionError: division by zero\n  desk.py:15 in desk\n    print(1 / 0)",
    ),
]

#: Values of SIGNOFF_AGENTS; `author` is a module with the workflow `desk` and the tool `add`.
SETTINGS = [
    Mistake(
        "a module that is not there",
        "nomod:a",
        "SIGNOFF_AGENTS has 'nomod:a': there is no module 'nomod'; PYTHONPATH must have the folder "
        "of its file, such as PYTHONPATH=. for the current one.",
    ),
    Mistake(
        "an attribute that is not there",
        "author:nope",
        "SIGNOFF_AGENTS has 'author:nope': the module author has no 'nope'; its agents are: desk.",
    ),
    Mistake(
        "no attribute",
        "author",
        "SIGNOFF_AGENTS has 'author': an agent is named module:attribute, such as "
        "my_agents:bookkeeper.",
    ),
    Mistake(
        "a tool",
        "author:add",
        "SIGNOFF_AGENTS has 'author:add': add is a tool; name the workflow or LlmAgent that has it "
        "in tools=.",
    ),
    Mistake(
        "a function without @workflow",
        "author:forgotten",
        "SIGNOFF_AGENTS has 'author:forgotten': forgotten is an async function; decorate it with "
        "@workflow(tools=[...]).",
    ),
    Mistake(
        "a number",
        "author:number",
        "SIGNOFF_AGENTS has 'author:number': number is an object of the class int, not an agent; "
        "name a function with @workflow, an LlmAgent, or a function that returns an agent.",
    ),
    Mistake(
        "two agents of one name",
        "author:desk, other:desk",
        "SIGNOFF_AGENTS has 'other:desk': 'author:desk' has the same name; rename one of the two "
        "objects.",
    ),
    Mistake(
        "an unknown framework",
        "smalltalk+author:desk",
        "SIGNOFF_AGENTS has 'smalltalk+author:desk': there is no adapter for the framework "
        "'smalltalk'; use one of: langgraph+, pydantic-ai+, maf+, genkit+.",
    ),
    Mistake(
        "langgraph+ before what is no graph",
        "langgraph+author:number",
        "SIGNOFF_AGENTS has 'langgraph+author:number': LangGraph needs a graph, its builder, or a "
        "function without arguments that returns one, and this is an object of the class int.",
    ),
    Mistake(
        "an agent of a framework without its prefix",
        "agents.examples.pydantic_ai_desk:pydantic_refunds",
        "SIGNOFF_AGENTS has 'agents.examples.pydantic_ai_desk:pydantic_refunds': pydantic_refunds "
        "is of Pydantic AI; write "
        "pydantic-ai+agents.examples.pydantic_ai_desk:pydantic_refunds.",
    ),
]


def by_name(mistakes: list[Mistake]) -> Any:
    return pytest.mark.parametrize("mistake", mistakes, ids=lambda mistake: mistake.name)


def message_of(attempt: Callable[[], Any]) -> str:
    """Return the text of the error or of the warning."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            attempt()
        except (TypeError, ValueError) as error:
            return str(error)
    return str(caught[0].message)


def write(code: str, folder: Any, name: str) -> str:
    path = folder / f"{name}.py"
    path.write_text(PRELUDE + code)
    return str(path)


@by_name(DECLARATIONS)
def test_a_declaration_is_refused_with_what_to_write(mistake):
    assert message_of(lambda: exec(PRELUDE + mistake.code, {})) == mistake.message


def desk_of(lines: str, folder: Any) -> Any:
    body = "".join(f"    {line}\n" for line in lines.splitlines())
    path = write(f"@workflow(tools=[add])\nasync def desk(ctx):\n{body}", folder, "desk")
    names: dict[str, Any] = {}
    exec(compile((folder / "desk.py").read_text(), path, "exec"), names)
    return names["desk"]


@by_name(RUNS)
def test_a_run_tells_what_is_wrong_with_its_workflow(mistake, world, as_agent, settings, tmp_path):
    settings.SHOWS_AGENT_ERRORS = True

    run = start(world, "go", agent=as_agent(desk_of(mistake.code, tmp_path).run))

    reports = list(AgentError.objects.filter(run=run).values_list("text", flat=True))
    messages = [error_of(run)["message"], *reports]
    assert (run.status, run.error_code) == ("failed", "AGENT_ERROR")
    assert any(text.startswith(mistake.message) for text in messages), messages


def test_a_tool_that_is_not_in_tools_is_named_in_the_log(world, as_agent, tmp_path, caplog):
    desk = desk_of("await ctx.call(add, n=1)", tmp_path)
    unlisted = type(desk)(desk.name, desk.description, desk.function)

    start(world, "go", agent=as_agent(unlisted.run))

    assert (
        "desk calls the tool add, which is not in tools=, so the agent's capabilities lack it. "
        "Write @workflow(tools=[..., add])."
    ) in caplog.messages


@pytest.fixture
def author(tmp_path, monkeypatch):
    """Two modules of an author in the Python path."""
    code = dedent("""
        @workflow(tools=[add])
        async def desk(ctx): ...

        async def forgotten(ctx): ...

        number = 7
    """)
    write(code, tmp_path, "author")
    write(code, tmp_path, "other")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(registry, "_agents", {})
    yield tmp_path
    for name in ("author", "other", "failing"):
        sys.modules.pop(name, None)


@by_name(SETTINGS)
def test_serve_says_at_start_what_is_wrong_with_the_agents(mistake, author, monkeypatch):
    monkeypatch.setenv(registry.AGENTS_SETTING, mistake.code)

    with pytest.raises(CommandError) as error:
        call_command("serve")

    assert str(error.value) == mistake.message


def test_serve_says_which_extra_a_framework_needs(author, monkeypatch):
    monkeypatch.setenv(registry.AGENTS_SETTING, "langgraph+author:desk")
    monkeypatch.setitem(sys.modules, "langgraph", None)

    with pytest.raises(CommandError) as error:
        call_command("serve")

    assert str(error.value) == (
        "SIGNOFF_AGENTS has 'langgraph+author:desk': LangGraph is not installed; install the extra "
        "'langgraph' with `make run EXTRAS=langgraph`, or with `pip install -r "
        "requirements/langgraph.txt`."
    )


def test_serve_names_the_line_of_a_module_that_cannot_be_imported(author, monkeypatch):
    write("import no_such_package", author, "failing")
    monkeypatch.setenv(registry.AGENTS_SETTING, "failing:desk")

    with pytest.raises(CommandError) as error:
        call_command("serve")

    assert str(error.value) == (
        f"SIGNOFF_AGENTS has 'failing:desk': importing failing failed at {author}/failing.py, "
        "line 13: ModuleNotFoundError: No module named 'no_such_package'."
    )


@pytest.mark.parametrize(
    ("code", "line", "error"),
    [
        (
            "@workflow()\ndef desk(ctx): ...",
            13,
            "TypeError: desk: a workflow is an async function; write async def desk(ctx).",
        ),
        (
            (
                "def declare():\n    @tool(effect='once', approval='Pay {amout}')\n"
                "    def pay(amount: float) -> None: ...\ndeclare()"
            ),
            14,
            "ValueError: pay: 'Pay {amout}' has a placeholder 'amout'; use one of: amount.",
        ),
    ],
)
def test_serve_names_the_line_of_the_author_and_not_of_the_sdk(
    author, monkeypatch, code, line, error
):
    write(code, author, "mistaken")
    monkeypatch.setenv(registry.AGENTS_SETTING, "mistaken:desk")

    (sentence,) = registry.problems(with_frameworks=False)

    assert sentence.endswith(f" at {author}/mistaken.py, line {line}: {error}")


def test_agents_that_are_right_have_no_problems(author, monkeypatch):
    right = "author:desk, langgraph+agents.examples.langgraph_desk:langgraph_refunds"
    monkeypatch.setenv(registry.AGENTS_SETTING, right)

    assert registry.problems(with_frameworks=True) == []


def test_a_type_is_a_schema_of_an_answer(world, as_agent, tmp_path):
    desk = desk_of("await ctx.interrupt('How many?', response_schema=int)", tmp_path)

    run = start(world, "go", agent=as_agent(desk.run))

    (interrupt,) = open_interrupts(run)
    assert json.loads(interrupt.body)["responseSchema"] == {"type": "integer"}


def test_all_mistakes_are_in_the_table():
    assert len(DECLARATIONS) + len(RUNS) + len(SETTINGS) >= 30
