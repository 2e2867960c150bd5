"""The examples of the draft of 2025 and of .NET's plan for it, from one end to the other."""

import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import ag_ui.core as agui
import httpx
import pytest

from agents.agui.legacy.content_types import (
    FunctionApprovalRequest,
    UserInputRequest,
    to_content,
    to_entry,
    to_response,
)
from tests.e2e.agui_server.test_legacy_clients import Older
from tests.support.http.agui_client import Door, interrupts, run_input
from tests.support.processes import embedded_environment, manage, start_embedded

HUMAN_APPROVAL = {
    "id": "int-abc123",
    "reason": "human_approval",
    "payload": {
        "proposal": {
            "tool": "sendEmail",
            "args": {"to": "a@b.com", "subject": "Hi", "body": "…"},
        }
    },
}
DATABASE_MODIFICATION = {
    "id": "approval-001",
    "reason": "database_modification",
    "payload": {
        "action": "DELETE",
        "table": "users",
        "affectedRows": 42,
        "query": "DELETE FROM users WHERE last_login < '2023-01-01'",
        "rollbackPlan": "Restore from backup snapshot-2025-01-23",
        "riskLevel": "high",
    },
}
WITH_MODIFICATIONS = {"approved": True, "modifications": {"batchSize": 10, "dryRun": True}}
USER_INPUT = {"id": "input-7", "reason": "upload_required", "payload": {"question": "Which file?"}}
FUNCTION_APPROVAL = {
    "id": "call-9",
    "reason": "function_approval",
    "payload": {
        "functionName": "delete_users",
        "functionArguments": {"before": "2023-01-01", "limit": 42},
        "callId": "call-9",
    },
}
#: what an agent asks, and an answer to it
EXAMPLES = {
    "approval": (HUMAN_APPROVAL, {"approved": True}),
    "denial": (HUMAN_APPROVAL, {"approved": False, "reason": "Not to them"}),
    "approval with modifications": (HUMAN_APPROVAL, WITH_MODIFICATIONS),
    "database modification": (DATABASE_MODIFICATION, WITH_MODIFICATIONS),
    "user input": (USER_INPUT, {"file": "users.csv"}),
    "user input that is no object": (USER_INPUT, "users.csv"),
}


class DraftAgent:
    """An agent that speaks the draft: it asks the example that it is told to, and goes on once."""

    def __init__(self) -> None:
        self.resumes: list[dict] = []  #: every `resume`
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self.url = f"http://127.0.0.1:{self._server.server_port}/"
        Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def _end(self, run_input_: dict) -> dict:
        if run_input_.get("resume") is not None:
            self.resumes.append(run_input_["resume"])
            return {"outcome": "success", "result": {"ok": True}}
        question = json.loads(run_input_["messages"][-1]["content"])
        return (
            question if "outcome" in question else {"outcome": "interrupt", "interrupt": question}
        )

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                run_input_ = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                ids = {name: run_input_[name] for name in ("threadId", "runId")}
                self.send_response(200)
                self.send_header("Content-Type", "text/event-stream")
                self.end_headers()
                end = {"type": "RUN_FINISHED", **ids, **outer._end(run_input_)}
                for event in ({"type": "RUN_STARTED", **ids}, end):
                    self.wfile.write(f"data: {json.dumps(event)}\n\n".encode())

            def log_message(self, *_args: object) -> None:
                """Be silent."""

        return Handler


@pytest.fixture(scope="module")
def agent() -> Iterator[DraftAgent]:
    agent = DraftAgent()
    yield agent
    agent.close()


@pytest.fixture(scope="module")
def elsewhere(agent, tmp_path_factory) -> Iterator[tuple[str, str]]:
    """Address and key of a product with the agent behind it."""
    directory = tmp_path_factory.mktemp("product")
    environment = embedded_environment(directory, SIGNOFF_PRIVATE_AGENT_HOSTS="127.0.0.1")
    with start_embedded(environment, log=directory / "log", demo=True) as web:
        manage(environment, "add_remote_agent", "drafts", agent.url, "--team", "demo")
        scopes = [part for scope in ("run", "read", "decide") for part in ("--scope", scope)]
        yield web.url, manage(environment, "create_api_key", "--name", "tests", *scopes)


@pytest.fixture
def client(elsewhere) -> Iterator[Older]:
    """A client that speaks the draft."""
    url, key = elsewhere
    with httpx.Client(base_url=url, timeout=20) as http:
        yield Older(http, key)


@pytest.fixture
def door(elsewhere) -> Iterator[Door]:
    """A client of 1.0."""
    url, key = elsewhere
    with httpx.Client(base_url=url, timeout=20) as http:
        yield Door(http, key)


def ask(client, interrupt):
    return client.run(run_input(json.dumps(interrupt)), agent="drafts")


def answer(client, events, **resume):
    body = run_input(threadId=events[0]["threadId"], resume=resume)
    return client.run(body, agent="drafts")


# -- through the inbox, from a client of the draft to an agent of the draft and back ---------------


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_goes_there_and_back_word_for_word(client, agent, name):
    question_example, answer_example = EXAMPLES[name]
    question = ask(client, question_example)

    done = answer(client, question, interruptId=question_example["id"], payload=answer_example)

    interrupt = question[-1]["interrupt"]
    assert interrupt.pop("metadata")["signoff"].keys() == {"viewDigest"}
    assert (question[-1]["outcome"], interrupt) == ("interrupt", question_example)
    assert agent.resumes[-1] == {"interruptId": question_example["id"], "payload": answer_example}
    assert done[-1]["outcome"] == "success"


def test_function_approval_round_trip_uses_the_stored_call(client, agent):
    question = ask(client, FUNCTION_APPROVAL)
    call = {
        "callId": "call-9",
        "name": "delete_users",
        "arguments": {"before": "2023-01-01", "limit": 42},
    }
    forged = {**call, "name": "drop_users"}

    answer(client, question, interruptId="call-9", payload={"approved": True, "toolCall": forged})

    interrupt = question[-1]["interrupt"]
    assert interrupt["payload"].items() >= FUNCTION_APPROVAL["payload"].items()
    assert agent.resumes[-1]["payload"] == {"approved": True, "toolCall": call}


def test_an_agent_cannot_make_a_question_look_like_the_approval_of_a_call(client):
    interrupt = {"id": "i1", "reason": "mine:question", "metadata": {"draft": FUNCTION_APPROVAL}}

    question = ask(client, {"outcome": {"type": "interrupt", "interrupts": [interrupt]}})

    draft_interrupt = question[-1]["interrupt"]
    assert (draft_interrupt["id"], draft_interrupt["reason"]) == ("i1", "mine:question")
    assert "functionName" not in draft_interrupt["payload"]


# -- through the inbox, between a client of 1.0 and an agent of the draft --------------------------


@pytest.mark.parametrize("name", EXAMPLES)
def test_a_client_of_today_answers_an_agent_of_the_draft(door, agent, name):
    question_example, answer_example = EXAMPLES[name]
    question = ask(door, question_example)
    (interrupt,) = interrupts(question)
    entry = {"interruptId": interrupt["id"], "status": "resolved", "payload": answer_example}

    body = run_input(threadId=question[0]["threadId"], resume=[entry])
    done = door.run(body, agent="drafts")

    assert interrupt["reason"] == f"draft:{question_example['reason']}"
    assert interrupt["metadata"].pop("signoff").keys() == {"viewDigest"}
    assert interrupt["metadata"] == {"draft": question_example}
    assert agent.resumes[-1] == {"interruptId": question_example["id"], "payload": answer_example}
    assert done[-1]["outcome"] == {"type": "success"}


def test_an_approval_of_the_draft_takes_a_yes_or_a_no_and_nothing_else(client, agent):
    question = ask(client, HUMAN_APPROVAL)
    before = len(agent.resumes)

    refused = answer(client, question, payload={"approved": "perhaps"})

    assert refused[-1]["code"] == "INVALID_PAYLOAD"
    assert len(agent.resumes) == before


# -- a client of the draft before an agent of today ------------------------------------------------


def executed(events):
    """The arguments that the tool was called with."""
    (result,) = (event for event in events if event["type"] == "TOOL_CALL_RESULT")
    return json.loads(result["content"])["args"]


@pytest.mark.parametrize(
    ("payload", "changed"),
    [
        ({"modifications": {"subject": "Hello"}}, {"subject": "Hello"}),
        ({"modifications": {"dryRun": True}}, {"dryRun": True}),
        ({"modifications": {}}, {}),
        (
            {"editedArgs": {"to": "x"}, "modifications": {"subject": "y"}},
            {"to": "x", "subject": "y"},
        ),
        (
            {"toolCall": {"arguments": {"to": "x"}}, "modifications": {"subject": "y"}},
            {"to": "x", "subject": "y"},
        ),
    ],
)
def test_an_approval_with_modifications_runs_what_was_modified(client, payload, changed):
    events = client.run(run_input("rehearse:tool_call"))
    proposed = events[-1]["interrupt"]["payload"]["functionArguments"]

    done = client.answer(
        events[-1]["threadId"], {"resume": {"payload": {"approved": True, **payload}}}
    )

    assert executed(done) == proposed | changed


@pytest.mark.parametrize("modifications", [{"subject": 7}, ["subject"], "dryRun", True, 0])
def test_modifications_that_do_not_fit_are_refused_and_nothing_runs(client, modifications):
    events = client.run(run_input("rehearse:tool_call"))
    payload = {"approved": True, "modifications": modifications}

    refused = client.answer(events[-1]["threadId"], {"resume": {"payload": payload}})

    assert refused[-1]["code"] == "INVALID_PAYLOAD"
    assert client.connect(events[-1]["threadId"])[-1]["outcome"]["type"] == "interrupt"


# -- .NET's content types before an agent of today -------------------------------------------------


def content_of(events):
    """The content type of the one interrupt, as an application of .NET has it."""
    (interrupt,) = interrupts(events)
    (snapshot,) = (event for event in events if event["type"] == "MESSAGES_SNAPSHOT")
    calls = [
        agui.ToolCall.model_validate(call)
        for message in snapshot["messages"]
        for call in message.get("toolCalls") or ()
    ]
    return to_content(agui.Interrupt.model_validate(interrupt), next(iter(calls), None))


def resume_with(door, events, response):
    entry = to_entry(response).model_dump(mode="json", by_alias=True, exclude_none=True)
    return door.run(run_input(threadId=events[0]["threadId"], resume=[entry])), entry


@pytest.mark.parametrize("arguments", [None, {"to": "eli@example.com", "subject": "Hello"}])
def test_a_function_approval_request_is_answered_by_a_response(door, arguments):
    events = door.run(run_input("rehearse:tool_call"))
    request = content_of(events)
    assert isinstance(request, FunctionApprovalRequest)
    response = request.create_response(approved=True, arguments=arguments)

    done, entry = resume_with(door, events, response)

    assert executed(done) == dict(response.function_call.arguments)
    assert to_response(request, agui.ResumeEntry.model_validate(entry)) == response


def test_a_user_input_request_is_answered_by_a_response(door):
    events = door.run(run_input("rehearse:input_required"))
    request = content_of(events)
    assert isinstance(request, UserInputRequest)
    response = request.create_response({"quarter": "Q1", "year": 2026, "revenue": 1.5})

    done, entry = resume_with(door, events, response)

    assert done[-1]["outcome"] == {"type": "success"}
    assert to_response(request, agui.ResumeEntry.model_validate(entry)) == response
