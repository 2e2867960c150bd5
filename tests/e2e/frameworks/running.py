"""A framework's own AG-UI server, with the refund desk behind it, on a port of this machine."""

import http.client
import json
import os
import shutil
import signal
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final, Self

import pytest

from tests.e2e.frameworks.environments import (
    LOCKS,
    find_modules,
    find_python,
    find_server_node,
    find_version,
)
from tests.support.children import free_port, start_child, stop_child, wait_until
from tools.framework_matrix import SERVERS

DESKS: Final = Path(__file__).parent / "desks"
EXAMPLES: Final = Path(__file__).resolve().parents[3] / "docs" / "examples"
_START_SECONDS: Final = 60


@dataclass(frozen=True)
class Framework:
    """One server of the parametrised tests, and what it is able to do."""

    name: str
    environment: str  #: the lock file, or the folder of a Node project, below requirements/servers
    command: tuple[str, ...]  #: for its Python or Node; {port} and {data} are filled in
    agui: str = "/agui"
    form: str = "/agui"  #: where it asks for input, if it can
    quarter: Any = field(default_factory=lambda: {"quarter": "Q1"})  #: the answer to that
    may_edit: bool = True  #: arguments that a reviewer changed are what runs
    tells_why: bool = True  #: the agent hears the reason of a denial
    may_differ: bool = True  #: of two calls one may be approved and the other one denied
    takes_tools: bool = True  #: its agent calls tools that the client offers
    survives: bool = False  #: with what it keeps here, it goes on after its own restart
    runs_again: bool = False  #: a resume that is sent twice runs its calls twice
    settings: Mapping[str, str] = field(default_factory=dict)

    @property
    def server(self) -> str:
        """Its row in tools/framework_matrix.py, which is that of all its settings."""
        return self.name.removesuffix("-outcome")

    def version(self) -> str:
        """The version of its package that is installed."""
        (row,) = (row for row in SERVERS if row.name == self.server)
        return find_version(self.environment, row.package)


class Desk:
    """A running server, and the ledger of what its tools did."""

    def __init__(self, framework: Framework, directory: Path, **settings: str) -> None:
        self.framework = framework
        self._settings = {**framework.settings, **settings}
        self._log = directory / "log"
        self._ledger = directory / "ledger.jsonl"
        self._data = directory / "data.sqlite3"
        self._program, self._folder = _program(framework.environment, directory)
        self._port = free_port()
        self.url = f"http://127.0.0.1:{self._port}"
        self.start()

    @property
    def ran(self) -> list[dict[str, Any]]:
        """The calls that were really made, in order."""
        if not self._ledger.exists():
            return []
        return [json.loads(line) for line in self._ledger.read_text().splitlines()]

    def forget(self) -> None:
        """Begin with an empty ledger."""
        self._ledger.unlink(missing_ok=True)

    def start(self) -> None:
        command = [part.format(port=self._port, data=self._data) for part in self.framework.command]
        self._process = start_child(
            [self._program, *command],
            log=self._log,
            env=os.environ | {"DESK_LEDGER": str(self._ledger)} | self._settings,
            cwd=self._folder,
        )
        wait_until(
            self._answers,
            process=self._process,
            log=self._log,
            what=f"the server of {self.framework.name}",
            timeout_seconds=_START_SECONDS,
        )

    def restart(self) -> None:
        """Kill it and start it again, at the same address."""
        stop_child(self._process, first=signal.SIGKILL)
        self.start()

    def stop(self) -> None:
        stop_child(self._process)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.stop()

    def _answers(self) -> bool:
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=5)
        try:
            connection.request("GET", "/")
            connection.getresponse()
        except (OSError, http.client.HTTPException):
            return False
        else:
            return True
        finally:
            connection.close()


def _program(environment: str, directory: Path) -> tuple[Path, Path]:
    """Return the interpreter of an environment, and the folder in which it runs the desks."""
    if not (LOCKS / environment).is_dir():
        return find_python(environment), DESKS
    # A script finds its modules by where it lies.
    folder = directory / "scripts"
    folder.mkdir()
    for script in (*DESKS.glob("*.mjs"), *EXAMPLES.glob("*.mjs")):
        shutil.copy(script, folder)
    (folder / "node_modules").symlink_to(find_modules(environment), target_is_directory=True)
    return find_server_node(environment).node, folder


def each_of(
    servers: Iterable[Framework], is_fitting: Callable[[Framework], bool]
) -> pytest.MarkDecorator:
    """Run a test with those of the servers that it is about."""
    fitting = list(filter(is_fitting, servers))
    return pytest.mark.parametrize("framework", fitting, ids=lambda framework: framework.name)


def text_parts(run: Any) -> list[str]:
    """The deltas of the text that an agent wrote in a run."""
    deltas = run.events.filter(type="TEXT_MESSAGE_CONTENT").order_by("seq")
    return [json.loads(event.body)["delta"] for event in deltas]


def _uvicorn(module: str) -> tuple[str, ...]:
    return ("-m", "uvicorn", f"{module}:app", "--port", "{port}", "--log-level", "warning")


OPENAI: Final = Framework(
    "openai-agents",
    "openai_agents",
    (
        str(EXAMPLES / "agui_host.py"),
        "openai_agents_desk:agent",
        "--port",
        "{port}",
        "--data",
        "{data}",
    ),
    form="",
    may_edit=False,
    takes_tools=False,
    survives=True,
)
GENKIT: Final = Framework(
    "genkit",
    "genkit",
    ("genkit_host.mjs", "./genkit_desk.mjs", "--port", "{port}", "--data", "{data}"),
    takes_tools=False,
    survives=True,
)
OUTCOME: Final = {"DESK_OUTCOME": "1"}
LANGGRAPH: Final = Framework("langgraph", "langgraph", _uvicorn("langgraph_desk"), survives=True)
MICROSOFT: Final = Framework(
    "agent-framework",
    "agent_framework",
    _uvicorn("agent_framework_desk"),
    form="/form",
    tells_why=False,
    may_differ=False,
)
GOOGLE: Final = Framework(
    "adk",
    "adk",
    _uvicorn("adk_desk"),
    quarter={"approved": True, "payload": {"quarter": "Q1"}},
    may_edit=False,
    survives=True,
    tells_why=False,
)
#: They are asked as `test_other_servers` does.
AG2: Final = Framework("ag2", "ag2", _uvicorn("ag2_desk"), may_edit=False, tells_why=False)
AGNO: Final = Framework("agno", "agno", _uvicorn("agno_desk"), may_edit=False)
STRANDS: Final = Framework(
    "strands", "strands", _uvicorn("strands_desk"), may_edit=False, tells_why=False
)
MASTRA: Final = Framework("mastra", "mastra", ("mastra_desk.mjs", "--port", "{port}"))
CREWAI: Final = Framework("crewai", "crewai", _uvicorn("crewai_desk"))
OTHERS: Final = (
    AG2,
    AGNO,
    STRANDS,
    MASTRA,
    replace(MASTRA, name="mastra-outcome", settings=OUTCOME),
)
FRAMEWORKS: Final = (
    LANGGRAPH,
    replace(LANGGRAPH, name="langgraph-outcome", settings=OUTCOME),
    Framework(
        "pydantic-ai",
        "pydantic_ai",
        _uvicorn("pydantic_ai_desk"),
        quarter="Q1",
        survives=True,
        runs_again=True,
    ),
    MICROSOFT,
    GOOGLE,
    replace(GOOGLE, name="adk-outcome", settings=OUTCOME),
    OPENAI,
    GENKIT,
)
