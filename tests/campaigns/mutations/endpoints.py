"""The stage of the mutations: a product with the clerk, its doors, and a run that waits."""

import json
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any, Final

import httpx
from jsonschema import Draft202012Validator
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

from tests.campaigns.mutations.mutation_agent import NOTES
from tests.support.http.agui_client import run_input
from tests.support.processes import embedded_environment, manage, start_embedded
from tests.support.product_client import wait_for

Json = dict[str, Any]

_AGENTS: Final = "tests.campaigns.mutations.mutation_agent:clerk"
#: Whoever may try: with all rights, with some, and of another team.
_MAKE_KEYS: Final = """
import json
from inbox.actions.people.api_keys import make_key
from inbox.actions.people.provisioning import ensure_agent, ensure_team
from inbox.rules.people.access import SEED, Permission
keys = {}
for slug, names in (("ours", ("clerk", "rehearsal")), ("others", ())):
    team = ensure_team(slug=slug, name=slug, actor=SEED)
    for name in names:
        ensure_agent(team=team, slug=name, implementation=name, description="", actor=SEED)
    for name, scopes in (("all", "run read decide"), ("run", "run read"), ("read", "read")):
        wanted = {Permission(scope) for scope in scopes.split()}
        _, token = make_key(team_id=team.pk, name=name, scopes=wanted, actor=SEED)
        keys[f"{slug}-{name}"] = token
print(json.dumps(keys))
"""
#: Everything that an answer could leave behind, but for the entry that says it was refused.
_FOOTPRINT: Final = """
select 'threads', '', count(*), sum(next_seq), sum(length(messages)), sum(length(state))
  from inbox_thread union all
select 'runs', status, count(*), sum(length(input)), sum(length(resume)), sum(attempt)
  from inbox_run group by status union all
select 'events', '', count(*), 0, 0, 0 from inbox_event union all
select 'interrupts', status, count(*), count(closed_at), count(decided_by_id), 0
  from inbox_interrupt group by status union all
select 'decisions', status, count(*), sum(length(payload)), 0, 0
  from inbox_decision group by status union all
select 'calls', state, count(*), count(edited_args), count(result), sum(length(edited_args))
  from inbox_toolcall group by state union all
select 'audit', action, count(*), 0, 0, 0
  from inbox_auditentry
  where action not in ('resume.rejected', 'interrupt.refused', 'run.refused') group by action
"""


@dataclass(frozen=True)
class Reply:
    """What came back, whatever the door: a status, a code if it was refused, and all of it."""

    status: int
    code: str
    body: Any
    is_accepted: bool


class Doors:
    """The doors of a product, and a look behind them."""

    def __init__(
        self, http: httpx.Client, keys: Mapping[str, str], database: Path, notes: Path
    ) -> None:
        self.http = http
        self._keys = keys
        self._rows = sqlite3.connect(f"file:{database}?mode=ro", uri=True, isolation_level=None)
        self._notes = notes

    def footprint(self) -> list[tuple[Any, ...]]:
        """What is stored, and how often a function of the agent was called."""
        size = self._notes.stat().st_size if self._notes.exists() else 0
        return [*self._rows.execute(_FOOTPRINT), ("notes", size)]

    def notes_of(self, thread_id: str) -> list[Json]:
        """What the functions of the agent were called with on a thread."""
        lines = self._notes.read_text().splitlines() if self._notes.exists() else []
        return [note for note in map(json.loads, lines) if note["thread"] == thread_id]

    def headers(self, who: str) -> dict[str, str]:
        if not who:
            return {}
        return {"Authorization": f"Bearer {self._keys.get(who, who)}"}

    def post(
        self,
        path: str,
        body: Any,
        *,
        who: str = "ours-all",
        content_type: str = "application/json",
    ) -> Reply:
        """POST to a door; text and bytes are sent as they are, anything else as JSON."""
        answer = self.http.post(
            path,
            content=_encoded(body),
            headers={**self.headers(who), "Content-Type": content_type},
        )
        if answer.headers["Content-Type"].startswith("text/event-stream"):
            lines = answer.text.splitlines()
            return _of_events([json.loads(line[6:]) for line in lines if line[:6] == "data: "])
        return _of_json(answer)

    def get(self, path: str) -> Any:
        answer = self.http.get(path, headers=self.headers("ours-all"))
        assert answer.status_code == 200, answer.text
        return answer.json()

    def frame(self, path: str, body: Any, *, who: str = "ours-all") -> Reply:
        """Send the first frame of a WebSocket and wait until it is closed."""
        address = str(self.http.base_url).replace("http", "ws", 1).rstrip("/") + path
        events = []
        with connect(address, additional_headers=self.headers(who), open_timeout=20) as socket:
            try:
                content = _encoded(body)
                socket.send(content if isinstance(body, bytes) else content.decode())
                while True:
                    events.append(json.loads(socket.recv(timeout=20)))
            except ConnectionClosed as closed:
                if not events:
                    return Reply(closed.rcvd.code if closed.rcvd else 0, "CLOSED", None, False)
        return _of_events(events)


def _encoded(body: Any) -> bytes:
    if isinstance(body, bytes):
        return body
    return body.encode() if isinstance(body, str) else json.dumps(body).encode()


def _of_events(events: list[Json]) -> Reply:
    kinds = [event["type"] for event in events]
    is_refusal = kinds in (["RUN_STARTED", "RUN_ERROR"], ["RUN_ERROR"])
    return Reply(200, events[-1].get("code", "") if is_refusal else "", events, not is_refusal)


def _of_json(answer: httpx.Response) -> Reply:
    try:
        body = answer.json()
    except ValueError:
        body = answer.text
    code = body.get("code", "") if isinstance(body, dict) else ""
    return Reply(answer.status_code, code, body, answer.status_code < 400)


@contextmanager
def open_doors(directory: Path) -> Iterator[Doors]:
    """Run a product with nothing in it but the clerk and those who may ask."""
    notes = directory / "notes.jsonl"
    environment = embedded_environment(directory, **{"SIGNOFF_AGENTS": _AGENTS, NOTES: str(notes)})
    with (
        start_embedded(environment, log=directory / "log") as product,
        httpx.Client(base_url=product.url, timeout=60) as http,
    ):
        keys = json.loads(manage(environment, "shell", "-v0", "-c", _MAKE_KEYS).splitlines()[-1])
        yield Doors(http, keys, directory / "signoff.sqlite3", notes)


# -- a run that waits ---------------------------------------------------------------------------


@dataclass(frozen=True)
class SceneInterrupt:
    """An open interrupt, as both doors tell it, and one answer that fits."""

    wire: Json  #: as RUN_FINISHED told it
    row: Json  #: as REST tells it
    payload: Any

    @property
    def id(self) -> str:
        return str(self.wire["id"])

    @property
    def entry(self) -> Json:
        if self.row["tool"] == "hurry":  # too late for any other answer
            return {"interruptId": self.id, "status": "cancelled"}
        return {"interruptId": self.id, "status": "resolved", "payload": self.payload}

    def fits(self, payload: Any) -> bool:
        """Whether an answer is a valid one, by a reading of the contract of its own."""
        if self.wire["reason"] == "tool_call" and not (
            isinstance(payload, dict)
            and isinstance(payload.get("approved"), bool)
            and isinstance(payload.get("reason", ""), str | None)
        ):
            return False
        return bool(Draft202012Validator(self.wire["responseSchema"]).is_valid(payload))


@dataclass
class Scene:
    """A thread of the clerk that waits; those of earlier rounds are answered."""

    doors: Doors
    pick: Random
    thread_id: str = ""
    messages: Sequence[Json] = ()
    interrupts: Sequence[SceneInterrupt] = ()
    earlier: list[SceneInterrupt] = field(default_factory=list)
    run_id: str = ""  #: of the run that waits, as REST knows it

    def start(self, rounds: Sequence[Sequence[str]]) -> None:
        body = run_input(json.dumps(rounds))
        self.thread_id = body["threadId"]
        self._hear(self.doors.post("/agui/clerk/", body))

    def wait_until_expired(self, tool: str) -> None:
        """Wait until the sweeper has found what nobody answered in time."""
        (late,) = [interrupt for interrupt in self.interrupts if interrupt.row["tool"] == tool]
        address = f"/api/interrupts/{late.row['id']}"
        is_over = wait_for(
            lambda: bool(self.doors.get(address)["status"] == "expired"),
            seconds=_SWEEP_SECONDS,
            every=0.1,
        )
        assert is_over, f"{tool} does not expire"

    def valid(self, **fields: Any) -> Json:
        """The resume that answers everything as it should be answered."""
        entries = [interrupt.entry for interrupt in self.interrupts]
        return self.resume(entries, **fields)

    def resume(self, entries: Any, **fields: Any) -> Json:
        body = {"threadId": self.thread_id, "messages": list(self.messages), "resume": entries}
        return run_input(**{**body, **fields})

    def go_on(self, **fields: Any) -> Reply:
        """Send the valid resume, with something more in it."""
        reply = self.doors.post("/agui/clerk/", self.valid(**fields))
        self._hear(reply)
        return reply

    def _hear(self, reply: Reply) -> None:
        assert reply.is_accepted, reply
        events = reply.body
        assert events[-1]["type"] == "RUN_FINISHED", events[-1]
        self.messages = [event for event in events if event["type"] == "MESSAGES_SNAPSHOT"][-1][
            "messages"
        ]
        self.earlier += self.interrupts
        interrupts = events[-1]["outcome"].get("interrupts", [])
        rows = {}
        if interrupts:
            listed = self.doors.get("/api/interrupts")["results"]
            rows = {row["interrupt_id"]: row for row in listed}
        self.interrupts = [
            SceneInterrupt(
                interrupt,
                rows[interrupt["id"]],
                _answer(interrupt, rows[interrupt["id"]], self.pick),
            )
            for interrupt in interrupts
        ]
        if self.interrupts:
            self.run_id = self.interrupts[0].row["run"]

    def expected_notes(self) -> list[Json]:
        """What the functions have to have been called with, once everything was answered."""
        return [note for interrupt in self.earlier if (note := _note_of(interrupt, self.thread_id))]


_SWEEP_SECONDS: Final = 60
_EDITS: Final = {
    "pay": {"to": "bea", "amount": 4},
    "publish": {"title": "Old news", "tags": []},
}


def _answer(wire: Json, row: Json, pick: Random) -> Any:
    if wire["reason"] == "tool_call":
        return pick.choice(
            [
                {"approved": True},
                {"approved": True, "editedArgs": _EDITS[row["tool"]]},
                {"approved": False, "reason": "no"},
            ]
        )
    if row["tool"] == "book":
        return {"hotel": pick.choice(["Ritz", "Grand"]), "nights": pick.randint(1, 30)}
    return pick.choice(["red", "blue"]) if row["tool"] else "Because I say so."


def _note_of(interrupt: SceneInterrupt, thread_id: str) -> Json | None:
    tool, payload = interrupt.row["tool"], interrupt.payload
    if tool not in ("pay", "publish", "book"):
        return None
    args = interrupt.row["args"]
    if tool != "book":
        if not payload["approved"]:
            return None
        args = payload.get("editedArgs", args)
    call = interrupt.wire["toolCallId"]
    return {"thread": thread_id, "call": call, "name": tool, "args": args, "got": payload}
