"""
The AG-UI servers and clients of docs/frameworks.md, and the tables made of their test results.

Each row has the facts that no test can find out. `make servers` writes the results.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[1]
PAGE: Final = ROOT / "docs" / "frameworks.md"
RESULTS: Final = ROOT / "tests" / "e2e" / "frameworks" / "results.json"
LOCKS: Final = ROOT / "requirements" / "servers"
JAVASCRIPT: Final = ROOT / "tests" / "e2e" / "clients" / "javascript"

_DECISIONS: Final = {"approve": "approve", "edit": "edit", "deny": "deny"}
#: The columns, by the names that tests use in `@pytest.mark.capability`.
SERVER_CAPABILITIES: Final = {
    **_DECISIONS,
    "reason": "reason of a denial",
    "cancel": "cancel",
    "several": "one of two calls",
    "question": "ask for input",
    "streaming": "stream text",
    "tools": "tools of the client",
    "restart": "its own restart",
}
CLIENT_CAPABILITIES: Final = {
    **_DECISIONS,
    "cancel": "cancel",
    "several": "several requests at once",
    "question": "answer a question",
    "streaming": "stream text",
    "tools": "its own tools",
    "replay": "the same answer again",
    "reload": "reload",
}
_BEGIN, _END = "<!-- {}: written by `make servers` -->", "<!-- end of {} -->"


@dataclass(frozen=True)
class MatrixRow:
    """One server or client."""

    name: str  #: as tests name it
    title: str
    package: str  #: whose version counts
    asks: str  #: the form of its interrupts, or for clients how they answer
    switch_on: str = ""
    lock: str | Path = ""  #: requirements/servers/`lock`.txt, or a folder: where it is pinned
    alias: str = ""  #: in the package.json there, if it is not `package`
    version: str = ""  #: of one that was read from source, and is not run
    limits: Mapping[str, str] = field(default_factory=dict)  #: why a capability is missing


_NO_ARGUMENTS: Final = "Its form has no arguments."
_NO_TOOLS: Final = "The example offers its model no tools of clients: the run fails."
_NO_REASON: Final = "Its answer has no place for a reason; Signoff keeps it."
SERVERS: Final = (
    MatrixRow(
        "langgraph",
        "LangGraph",
        "ag-ui-langgraph",
        "`on_interrupt`, and outcomes with `emit_interrupt_outcome`",
        "a checkpointer; `editedArgs` in the `responseSchema`, which the tool uses; "
        "for tools of clients, an end of the run at their calls",
        "langgraph",
    ),
    MatrixRow(
        "langchain-middleware",
        "LangChain's `HumanInTheLoopMiddleware`, behind LangGraph's bridge",
        "ag-ui-langgraph",
        "as LangGraph: one interrupt with `action_requests`",
        "the decisions of each tool in `interrupt_on`",
        "langgraph",
    ),
    MatrixRow(
        "pydantic-ai",
        "Pydantic AI",
        "pydantic-ai-slim",
        "AG-UI 1.0",
        "`requires_approval`; `CallDeferred` for input; `DeferredToolRequests` in `output_type`",
        "pydantic_ai",
    ),
    MatrixRow(
        "agent-framework",
        "Microsoft Agent Framework (Python)",
        "agent-framework-ag-ui",
        "`function_approval_request`, and AG-UI 1.0 for workflows",
        '`approval_mode="always_require"`, `require_confirmation=False`; `request_info` for input',
        "agent_framework",
        limits={
            "reason": _NO_REASON,
            "several": "It executes neither and asks again: the run fails (`DECISIONS_NOT_TAKEN`).",
            "restart": "It keeps what waits in memory.",
        },
    ),
    MatrixRow(
        "adk",
        "Google ADK",
        "ag-ui-adk",
        "an open call, and outcomes with `emit_interrupt_outcome`",
        "`require_confirmation`; `request_confirmation(payload=...)` for input; "
        "`ResumabilityConfig`, a persistent session service; `AGUIToolset` for tools of clients",
        "adk",
        limits={
            "edit": _NO_ARGUMENTS,
            "reason": "Only tools that call `request_confirmation` get it.",
        },
    ),
    MatrixRow(
        "openai-agents",
        "OpenAI Agents SDK, by [agui_host.py](examples/agui_host.py)",
        "openai-agents",
        "AG-UI 1.0",
        "`needs_approval`",
        "openai_agents",
        limits={
            "edit": "The SDK takes no other arguments: the form has none.",
            "tools": _NO_TOOLS,
        },
    ),
    MatrixRow(
        "genkit",
        "Genkit JS, by [genkit_host.mjs](examples/genkit_host.mjs)",
        "genkit",
        "AG-UI 1.0",
        "`interrupt()` in a tool unless it is `resumed`; `defineInterrupt` for input",
        "genkit",
        limits={"tools": _NO_TOOLS},
    ),
    MatrixRow(
        "ag2",
        "AG2",
        "ag2",
        "AG-UI 1.0, with a schema of text or boolean",
        "`ApprovalRequired()` in the `middleware` of a tool",
        "ag2",
        limits={"edit": _NO_ARGUMENTS, "reason": _NO_REASON},
    ),
    MatrixRow(
        "agno",
        "Agno",
        "agno",
        "an open call and a plain end, answered with a tool message",
        "`requires_confirmation`, a database",
        "agno",
        limits={"edit": _NO_ARGUMENTS},
    ),
    MatrixRow(
        "strands",
        "AWS Strands",
        "ag-ui-strands",
        "AG-UI 1.0",
        "`ToolBehavior(interrupt_on_call=True)`",
        "strands",
        limits={"edit": _NO_ARGUMENTS, "reason": _NO_REASON},
    ),
    MatrixRow(
        "crewai",
        "CrewAI",
        "ag-ui-crewai",
        "`on_interrupt`, and outcomes with `emit_interrupt_outcome`; answered in words",
        "`@human_feedback` with `agui_feedback_provider`",
        "crewai",
    ),
    MatrixRow(
        "mastra",
        "Mastra",
        "@ag-ui/mastra",
        "`on_interrupt` or outcomes, without the call",
        "`suspend()` in the tool, not `requireApproval`, which the bridge drops; `editedArgs` in "
        "its `resumeSchema`; a storage",
        "mastra",
    ),
    MatrixRow(
        "claude-agent-sdk",
        "Claude Agent SDK",
        "ag-ui-claude-sdk",
        "reason `tool_approval`, answered with `behavior`",
        version="0.2.3",
    ),
    MatrixRow(
        "dotnet",
        "Microsoft .NET",
        "AGUI.Server (.NET)",
        "AG-UI 1.0; the answer has the stored call as `toolCall`",
        "no tools of clients: with these it may end an approval as success",
        version="1.0.0",
    ),
    MatrixRow(
        "llama-index",
        "LlamaIndex",
        "llama-index-protocols-ag-ui",
        "none: its tools run unasked",
        "ask from inside a tool",
        version="0.6.0",
    ),
    MatrixRow(
        "langroid",
        "Langroid",
        "ag-ui-langroid",
        "none found in its package",
        "ask from inside a tool",
        version="0.2.0",
    ),
)
_RESUME: Final = "`resume` of 1.0"
_CONNECT: Final = "for reloads, `connect()` of a subclass that posts to `connect/`"
CLIENTS: Final = (
    MatrixRow("http", "`HttpAgent`", "@ag-ui/client", _RESUME, _CONNECT, JAVASCRIPT),
    MatrixRow(
        "http before 1.0",
        "Older `HttpAgent`",
        "@ag-ui/client",
        f"{_RESUME}; it sends nothing about a request that has expired",
        _CONNECT,
        JAVASCRIPT,
        "client-before-1",
    ),
    MatrixRow(
        "websocket",
        "`AbstractAgent` over WebSocket",
        "@ag-ui/client",
        _RESUME,
        f"`run()` of a subclass that opens the socket; {_CONNECT}",
        JAVASCRIPT,
    ),
    MatrixRow(
        "copilotkit",
        "CopilotKit",
        "@copilotkit/react-core",
        f"{_RESUME}, under the id of the run before, and a tool message that says the same",
        "`useInterrupt`",
        JAVASCRIPT,
    ),
    MatrixRow(
        "copilotkit on 1.0",
        "CopilotKit with the newest `HttpAgent`",
        "@copilotkit/react-core",
        "as CopilotKit",
        "`useInterrupt`",
        JAVASCRIPT,
    ),
    MatrixRow(
        "copilotkit, langgraph",
        "CopilotKit in the dialect of LangGraph",
        "@copilotkit/react-core",
        "`forwardedProps.command.resume`",
        "`?dialect=langgraph`, `useInterrupt`",
        JAVASCRIPT,
    ),
    MatrixRow(
        "agent-framework-client",
        "`AGUIChatClient` of Agent Framework (Python)",
        "agent-framework-ag-ui",
        f"{_RESUME}, from its option `resume`",
        version="1.7.0",
    ),
    MatrixRow(
        "dotnet-client",
        "`AGUIChatClient` of .NET",
        "AGUI.Client (.NET)",
        f"{_RESUME}, with the call as `toolCall`",
        "`MessageId` of each message: it sends none by itself",
        version="0.0.5",
    ),
    MatrixRow("kotlin", "Kotlin", "com.ag-ui.community (Maven)", _RESUME, version="0.4.1"),
    MatrixRow("java", "Java", "com.ag-ui.community (Maven)", _RESUME, version="0.1.0"),
    MatrixRow("dart", "Dart", "ag_ui (pub.dev)", "nothing: it has no interrupts", version="0.3.0"),
    MatrixRow("rust", "Rust", "ag-ui-client", "nothing: it has no interrupts", version="0.1.0"),
)
ROWS: Final = (*SERVERS, *CLIENTS)


def results() -> dict[str, dict[str, dict[str, str]]]:
    """Return "yes" or "no" by server, version and capability, and the date of the last run."""
    stored: dict[str, dict[str, dict[str, str]]] = json.loads(RESULTS.read_text())
    return stored


def pinned_version(row: MatrixRow) -> str:
    """Return the version that is run, or was read from source."""
    if not row.lock:
        return row.version
    if (LOCKS / row.lock).is_dir():
        manifest = json.loads((LOCKS / row.lock / "package.json").read_text())
        version: str = manifest["dependencies"][row.alias or row.package]
        return version.rpartition("@")[2]
    pin = re.compile(rf"^{re.escape(row.package)}(?:\[[^]]*\])?==([^ ;\\]+)", re.MULTILINE)
    match = pin.search((LOCKS / f"{row.lock}.txt").read_text())
    assert match, f"{row.lock}.txt does not pin {row.package}"
    return match[1]


def page() -> str:
    """Return docs/frameworks.md with its tables as the results are now."""
    text = PAGE.read_text()
    for name, tables in (
        ("servers", _tables("Asks with", SERVERS, SERVER_CAPABILITIES)),
        ("clients", _tables("Answers with", CLIENTS, CLIENT_CAPABILITIES)),
    ):
        begin, end = _BEGIN.format(name), _END.format(name)
        head, _, tail = text.partition(begin)
        _, _, tail = tail.partition(end)
        text = f"{head}{begin}\n\n{tables}\n{end}{tail}"
    return text


def _tables(form: str, rows: Sequence[MatrixRow], capabilities: Mapping[str, str]) -> str:
    notes: list[str] = []
    facts = [f"| | Version | Last run | {form} | Switch on |", "|---|---|---|---|---|"]
    works = [f"| | {' | '.join(capabilities.values())} |", f"|---{'|---' * len(capabilities)}|"]
    for row in rows:
        for version, outcomes in _versions(row):
            package = f"{row.package} {version}"
            date = outcomes.get("date", "read from source, not run")
            facts.append(f"| {row.title} | {package} | {date} | {row.asks} | {row.switch_on} |")
            if outcomes:
                cells = " | ".join(_cells(row, outcomes, capabilities, notes))
                works.append(f"| {row.title.partition(', ')[0]} {version} | {cells} |")
    footnotes = [f"{number}. {note}" for number, note in enumerate(notes, 1)]
    return "\n".join([*facts, "", *works, *([""] if notes else []), *footnotes, ""])


def _versions(row: MatrixRow) -> Iterator[tuple[str, Mapping[str, str]]]:
    pinned = pinned_version(row)
    by_version = results().get(row.name, {})
    yield pinned, by_version.get(pinned, {})
    yield from sorted(item for item in by_version.items() if item[0] != pinned)


def _cells(
    row: MatrixRow, outcomes: Mapping[str, str], names: Iterable[str], notes: list[str]
) -> Iterator[str]:
    for name in names:
        outcome = outcomes.get(name, "not tried")
        if outcome == "no" and (note := row.limits.get(name)):
            if note not in notes:
                notes.append(note)
            outcome = f"no ({notes.index(note) + 1})"
        yield outcome
