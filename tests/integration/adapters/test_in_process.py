"""Frameworks are imported where an agent runs, and nowhere else."""

import json
import os
import subprocess
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest

from agents import registry
from agents.adapters.in_process import FRAMEWORKS, Framework, InProcessAgent
from inbox.actions.people.provisioning import ensure_agent
from inbox.rules.people.access import SEED
from tests.support.agents import keepalive
from tests.support.steps import start

_PACKAGES = ("langgraph", "langchain", "pydantic_ai", "agent_framework", "genkit")
_LOOK = """
import sys
from django.core.management import execute_from_command_line
execute_from_command_line(["manage.py", "check"])
import inbox.config.asgi, inbox.config.celery, inbox.tasks, inbox.web.urls, inbox.api.urls
from inbox import engine
engine.capabilities_of("clerk"), engine.description_of("clerk"), engine.input_schema_of("clerk")
print(sorted({name.partition(".")[0] for name in sys.modules}))
"""


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_neither_web_nor_an_idle_worker_imports_a_framework(framework, tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", _LOOK],
        env=os.environ
        | {
            "SIGNOFF_AGENTS": f"{framework}+nowhere:clerk",
            "DJANGO_SETTINGS_MODULE": "inbox.config.settings",
        },
        capture_output=True,
        text=True,
        check=True,
    )

    imported = json.loads(done.stdout.strip().splitlines()[-1].replace("'", '"'))

    assert "inbox" in imported
    assert not set(imported) & set(_PACKAGES)


@pytest.mark.parametrize(
    ("framework", "claimed"),
    [("langgraph", None), ("pydantic-ai", True), ("maf", True), ("genkit", True)],
)
def test_edits_are_claimed_for_frameworks_that_always_take_them(framework, claimed):
    human = InProcessAgent("clerk", framework, "nowhere:clerk").capabilities().human_in_the_loop

    assert human.interrupts
    assert human.approve_with_edits is claimed


@pytest.fixture
def run_of(world, monkeypatch):
    """Run an agent that SIGNOFF_AGENTS names."""

    def run(path):
        monkeypatch.setenv(registry.AGENTS_SETTING, path)
        monkeypatch.setattr(registry, "_agents", {})
        name = registry.agent_name(path)
        agent = ensure_agent(
            team=world.team, slug=name, implementation=name, description="", actor=SEED
        )
        return start(world, "go", agent=agent)

    return run


def test_a_framework_that_is_not_installed_says_which_extra_is_missing(run_of, monkeypatch):
    monkeypatch.setitem(sys.modules, "pydantic_ai", None)
    monkeypatch.delitem(sys.modules, "agents.adapters.pydantic_ai", raising=False)

    run = run_of("pydantic-ai+agents.examples.pydantic_ai_desk:pydantic_refunds")

    error = json.loads(run.events.get(type="RUN_ERROR").body)
    assert error["message"] == (
        "The worker lacks pydantic_ai; install the extra 'pydantic-ai' with `make run "
        "EXTRAS=pydantic-ai`, or with `pip install -r requirements/pydantic-ai.txt`."
    )


@pytest.mark.parametrize("path", ["pydantic-ai+no_such_module:clerk", "pydantic-ai+json:clerk"])
def test_an_agent_that_is_not_there_fails_its_run(run_of, path):
    run = run_of(path)

    assert (run.status, run.error_code) == ("failed", "AGENT_ERROR")


def test_an_unknown_framework_is_named_with_those_there_are(monkeypatch):
    monkeypatch.setenv(registry.AGENTS_SETTING, "smalltalk+here:clerk")
    monkeypatch.setattr(registry, "_agents", {})

    with pytest.raises(
        registry.UnknownAgent, match=r"'smalltalk'; use one of: langgraph\+, pydantic"
    ):
        registry.get("clerk")


# -- where it lives -------------------------------------------------------------------------------


class _KeepsAlive(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Length", "5")
        self.end_headers()
        self.wfile.write(b"Hello")

    def log_message(self, *_):
        """Be silent."""


@pytest.fixture
def model_server():
    server = ThreadingHTTPServer(("127.0.0.1", 0), _KeepsAlive)
    Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()
    server.server_close()


def test_the_connections_of_a_models_client_are_good_for_the_next_run(
    run_of, monkeypatch, model_server
):
    monkeypatch.setitem(
        FRAMEWORKS, "kept", Framework("tests.support.agents.keepalive", "Kept", "kept", "a URL")
    )
    monkeypatch.setattr(keepalive, "url", model_server, raising=False)

    runs = [run_of("kept+tests.support.agents.keepalive:url") for _ in range(3)]

    assert [run.status for run in runs] == ["succeeded"] * 3
