"""`serve --demo` restarts when the code of an agent changes; requests that wait go on."""

import os

import pytest

from inbox.management.agent_reloader import AgentReloader
from tests.support.processes import embedded_environment, manage, start_embedded
from tests.support.product_client import Client, wait_for

AGENT = """
from agents.sdk.tools import tool
from agents.sdk.workflow import workflow


@tool(effect="once", approval="Pay {to}")
def pay(to: str) -> str:
    return f"VERSION {to}"


@workflow(tools=[pay])
async def clerk(ctx):
    '''Pays Ada.'''
    outcome = await ctx.call(pay, to="Ada")
    await ctx.emit_text(outcome.value)
"""


def write(path, code):
    """Write a version of the agent, which is newer than any before."""
    time = path.stat().st_mtime + 2 if path.exists() else 1_000_000_000
    path.write_text(code)
    os.utime(path, (time, time))


def test_a_changed_agent_is_reloaded_and_its_request_goes_on(tmp_path):
    module = tmp_path / "my_clerk.py"
    write(module, AGENT.replace("VERSION", "first"))
    environment = embedded_environment(
        tmp_path, SIGNOFF_AGENTS="my_clerk:clerk", PYTHONPATH=str(tmp_path)
    )

    with start_embedded(environment, log=tmp_path / "log", demo=True) as product:
        scopes = [part for scope in ("run", "read", "decide") for part in ("--scope", scope)]
        key = manage(environment, "create_api_key", "--name", "tests", *scopes)
        with Client(product.url, key) as client:
            run = client.start("go", agent="clerk").json()
            assert wait_for(lambda: client.run(run["id"])["status"] == "interrupted", seconds=60)

            write(module, "this is no Python (")
            assert wait_for(lambda: product.has_logged("agents not reloaded"), seconds=60)
            write(module, AGENT.replace("VERSION", "second"))
            assert wait_for(lambda: product.has_logged("Reloaded my_clerk.py"), seconds=90)

            (interrupt,) = [each for each in client.pending() if each["run"] == run["id"]]
            assert client.decide(interrupt, {"approved": True}).status_code == 200
            events = f"/api/threads/{run['thread']}/events"
            assert wait_for(
                lambda: "second Ada" in client.http.get(events).text,
                seconds=60,
            )


@pytest.mark.parametrize(
    ("after", "problems", "changed"),
    [
        ({"a.py": 1.0}, [], []),
        ({"a.py": 2.0}, [], ["a.py"]),
        ({"a.py": 2.0}, ["a.py is broken"], []),
        ({"a.py": 1.0, "b.py": 5.0}, [], []),  # imported later
    ],
    ids=["the same", "changed", "changed and broken", "another module"],
)
def test_only_usable_changes_restart_the_process(after, problems, changed):
    reloader = AgentReloader(files=lambda: after, problems=lambda: problems)

    assert reloader.look({"a.py": 1.0}) == after
    assert reloader.changed == changed
