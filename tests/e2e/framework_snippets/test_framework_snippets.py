"""The programs of docs/frameworks.md do what the page says, with scripted models."""

import json
import os
import re
import subprocess
import sys
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from pathlib import Path

import httpx
import pytest

from tests.e2e.frameworks.environments import find_python
from tests.support.clients.faulty_server import answer, faulty_server
from tests.support.clients.typescript_package import add_modules, install_package
from tests.support.node import find_node, install_modules
from tests.support.processes import REPOSITORY
from tests.support.product_client import wait_for

pytestmark = pytest.mark.javascript

FOLDER = Path(__file__).parent
PAGE = (REPOSITORY / "docs" / "frameworks.md").read_text()
AI_SDK_NODE = 22


def snippet(section, language):
    """The block of a section of the page."""
    (text,) = re.findall(
        rf"^## {section}.*?^```{language}\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE
    )
    return text


def next_request(desk, program):
    """Wait for the request of a program; if it ends without one, fail with what it wrote."""
    with ThreadPoolExecutor(1) as pool:
        request = pool.submit(desk.next_request)
        wait([request, program], return_when=FIRST_COMPLETED)
        if not request.done():
            program.result()
        return request.result()


@pytest.fixture
def run(desk, tmp_path):
    """Start a program in a thread; its last line is JSON."""
    pool = ThreadPoolExecutor(1)

    def start(*command, cwd=tmp_path):
        def finish():
            done = subprocess.run(
                command,
                cwd=cwd,
                env=desk.environment(tmp_path),
                capture_output=True,
                text=True,
                timeout=120,
                check=False,
            )
            assert done.returncode == 0, done.stdout + done.stderr
            return json.loads(done.stdout.splitlines()[-1])

        return pool.submit(finish)

    return start


@pytest.fixture
def run_python(run, tmp_path):
    def start(section, driver, python):
        (tmp_path / "snippet.py").write_text(snippet(section, "python"))
        (tmp_path / "driver.py").write_text((FOLDER / driver).read_text())
        return run(python, "driver.py")

    return start


@pytest.fixture(scope="module")
def ai_sdk(tmp_path_factory):
    """A project with the AI SDK, the client and the snippet, compiled."""
    project = install_package(tmp_path_factory.mktemp("ai-sdk"), oldest_major=AI_SDK_NODE)
    add_modules(project, install_modules(FOLDER / "ai_sdk", node=project.node))
    program = project.directory / "snippet.ts"
    program.write_text(snippet("AI SDK 7", "ts"))
    driver = project.directory / "drive.ts"
    driver.write_text((FOLDER / "ai_sdk" / "drive.ts").read_text())
    project.compile([program, driver], "--skipLibCheck")
    return project


@pytest.fixture(params=["openai-agents", "ai-sdk", "langchain"])
def start_agent(request, run, run_python):
    """Start an agent of a framework whose model wants to cancel the orders o-17 and o-18."""
    if request.param == "ai-sdk":
        project = request.getfixturevalue("ai_sdk")
        return lambda: run(project.node.node, "drive.js", cwd=project.directory)
    section, driver, environment = {
        "openai-agents": ("OpenAI Agents SDK", "openai_agents_driver.py", "openai_agents"),
        "langchain": ("LangChain", "langchain_driver.py", "langgraph"),
    }[request.param]
    return lambda: run_python(section, driver, find_python(environment))


def test_an_agent_executes_what_is_approved_and_learns_of_the_denial(desk, start_agent):
    program = start_agent()
    request = next_request(desk, program)
    first, second = request["items"]

    desk.decide(request, {"approved": False, "reason": "already packed"}, second["id"])
    desk.decide(request, item=first["id"])

    outcome = program.result()
    assert outcome["executed"] == ["o-17"]
    assert outcome["text"] == "Done."
    assert "Cancelled o-17" in outcome["prompt"]
    assert "Not approved in Signoff. already packed" in outcome["prompt"]
    assert desk.state(request["id"]) == ("done", "succeeded")


def test_langchain_executes_edited_arguments(desk, run_python):
    program = run_python("LangChain", "langchain_driver.py", find_python("langgraph"))
    request = next_request(desk, program)
    first, second = request["items"]

    edited = {"order_id": "o-99"}
    desk.decide(request, {"approved": True, "editedArgs": edited}, first["id"])
    desk.decide(request, item=second["id"])

    assert sorted(program.result()["executed"]) == ["o-18", "o-99"]


def test_a_tool_that_asks_itself_executes_edited_arguments(desk, run, run_python, tmp_path):
    text = snippet("Any framework: ask inside of the tool", "python")
    main = 'import asyncio, json\nprint(json.dumps(asyncio.run(cancel_order("o-17"))))\n'
    (tmp_path / "tool.py").write_text(text + main)
    program = run(sys.executable, "tool.py")

    desk.edit(next_request(desk, program), {"order_id": "o-18"})

    assert program.result() == "Cancelled o-18"


def test_a_typescript_tool_that_asks_itself_executes_edited_arguments(desk, run, ai_sdk):
    text = snippet("Any framework: ask inside of the tool", "ts")
    main = 'console.log(JSON.stringify(await cancelOrder({ orderId: "o-17" })));\n'
    tool = ai_sdk.directory / "tool.ts"
    tool.write_text(text + main)
    ai_sdk.compile([tool])
    program = run(ai_sdk.node.node, "tool.js", cwd=ai_sdk.directory)

    desk.edit(next_request(desk, program), {"orderId": "o-18"})

    assert program.result() == "Cancelled o-18"


# -- CrewAI ---------------------------------------------------------------------------------------

WEBHOOK = "https://program.example.com/crew"
EVENT = {
    "execution_id": "abcd1234-5678-90ef-abcd-000000000001",
    "task_id": "research_task",
    "task_output": "Two figures.",
}


@pytest.mark.parametrize(
    ("accepts", "feedback", "text"),
    [
        (False, "Cite the source of the second figure.", "Cite the source of the second figure."),
        (True, "", "Accepted."),
        (False, "", "Not accepted."),
    ],
    ids=["feedback", "accepted", "rejected"],
)
def test_a_crew_goes_on_with_feedback_and_its_webhooks(
    desk, tmp_path, run, monkeypatch, accepts, feedback, text
):
    main = f"\nEVENT = {EVENT!r}\nresume_crew(on_human_input(EVENT), EVENT)\nprint(1)\n"
    (tmp_path / "crew.py").write_text(snippet("CrewAI AMP", "python") + main)
    with faulty_server(answer("{}")) as crew:
        for name, value in (
            ("CREW_URL", crew.url),
            ("CREW_WEBHOOK_URL", WEBHOOK),
            ("CREW_TOKEN", "crew-token"),
        ):
            monkeypatch.setenv(name, value)
        program = run(sys.executable, "crew.py")
        desk.decide(next_request(desk, program), {"accept": accepts, "feedback": feedback})
        program.result()

    ((method, path, headers, body),) = crew.requests
    assert (method, path, headers["Authorization"]) == ("POST", "/resume", "Bearer crew-token")
    assert json.loads(body) == {
        "execution_id": EVENT["execution_id"],
        "task_id": EVENT["task_id"],
        "human_feedback": text,
        "is_approve": accepts,
        "taskWebhookUrl": WEBHOOK,
        "stepWebhookUrl": WEBHOOK,
        "crewWebhookUrl": WEBHOOK,
    }


# -- n8n ------------------------------------------------------------------------------------------


class Workflow:
    """The workflow of the page: its expressions are evaluated, and its messages are sent."""

    def __init__(self, desk, resume_url):
        self.document = json.loads(snippet("n8n", "json"))
        self._nodes = {node["name"]: node for node in self.document["nodes"]}
        self._desk = desk
        self._outputs = {}
        self._globals = {
            "$env": {"SIGNOFF_URL": desk.url},
            "$execution": {"id": "231", "resumeUrl": resume_url},
            "$json": {"charge": "ch_17", "amount": 4750},
        }

    def run(self, name):
        """Execute one node and return its output, which the next one reads."""
        parameters = self._evaluate(self._nodes[name]["parameters"])
        if "output" in parameters:
            return parameters["output"]
        headers = {
            row["name"]: row["value"]
            for row in parameters.get("headerParameters", {}).get("parameters", ())
        }
        body = json.loads(parameters["jsonBody"]) if "jsonBody" in parameters else None
        headers["Authorization"] = f"Bearer {self._desk.key}"
        method, url = parameters.get("method", "GET"), parameters["url"]
        response = httpx.request(method, url, json=body, headers=headers, trust_env=False)
        assert response.is_success, response.text
        self._outputs[name] = self._globals["$json"] = response.json()
        return response.json()

    def next_node(self, name, output=0):
        targets = self.document["connections"][name]["main"][output]
        return targets[0]["node"] if targets else None

    def _evaluate(self, parameters):
        variables = {"globals": self._globals, "nodes": self._outputs}
        done = subprocess.run(
            [find_node().node, FOLDER / "n8n_expressions.mjs"],
            input=json.dumps({"parameters": parameters, "variables": variables}),
            capture_output=True,
            text=True,
            timeout=30,
            check=True,
            env=os.environ,
        )
        return json.loads(done.stdout)


@pytest.fixture
def n8n(desk):
    """An n8n that Signoff may call back."""
    key = desk.product.create_api_key("read", "admin")
    with faulty_server(answer("{}")) as server:
        body = {"kind": "external", "callback_prefixes": [f"{server.url}/webhook-waiting/"]}
        headers = {"Authorization": f"Bearer {key}"}
        url = f"{desk.url}/api/agents/{desk.agent}"
        httpx.put(url, json=body, headers=headers, trust_env=False).raise_for_status()
        yield server


def test_an_n8n_workflow_is_called_back_and_starts_what_was_approved(desk, n8n):
    workflow = Workflow(desk, f"{n8n.url}/webhook-waiting/231?signature=0f")
    request = workflow.run("Ask")
    workflow.run("Read")
    assert workflow.next_node("Decision", workflow.run("Decision")) == "Wait"

    desk.edit(request, {"charge": "ch_17", "amount": 4000})

    assert wait_for(lambda: bool(n8n.requests), seconds=60)
    method, path, _, body = n8n.requests[0]
    assert (method, path) == ("POST", "/webhook-waiting/231?signature=0f")
    assert json.loads(body)["data"]["request"]["id"] == request["id"]
    workflow.run("Read")
    assert workflow.next_node("Decision", workflow.run("Decision")) == "Start"
    assert workflow.run("Start")["args"] == {"charge": "ch_17", "amount": 4000}
    assert workflow.run("Report")["state"] == "succeeded"


def test_an_n8n_workflow_ends_after_a_denial(desk, n8n):
    workflow = Workflow(desk, f"{n8n.url}/webhook-waiting/232")

    desk.deny(workflow.run("Ask"))

    workflow.run("Read")
    assert workflow.next_node("Decision", workflow.run("Decision")) is None
