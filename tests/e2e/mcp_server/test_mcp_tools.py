"""The tools of Signoff as an MCP server, over HTTP."""

import json
from contextlib import ExitStack
from uuid import uuid4

import httpx
import pytest

from tests.support.mcp.raw_client import HANDSHAKE, REFUND, STATELESS, McpClient
from tests.support.processes import manage

ERAS = pytest.mark.parametrize("version", [STATELESS, HANDSHAKE])
APPROVED = {"approved": True}
#: More than there are threads for the database.
MANY = 40
BASH = {
    "tool_name": "Bash",
    "input": {"command": "kubectl -n prod rollout restart deploy/web", "timeout": 120000},
    "tool_use_id": "toolu_01FgQ6yT5n8m2Xk9",
}


def ask(client, version=STATELESS, **members):
    result = client.call(
        "request_approval", {**REFUND, "wait_seconds": 0, **members}, version=version
    )
    assert not result["isError"], result
    return result["structuredContent"]


def wait(client, request_id, version=STATELESS, **members):
    return client.call("wait_for_decision", {"request_id": request_id, **members}, version=version)


@ERAS
def test_a_call_nobody_has_answered_is_open(client, version):
    result = client.call("request_approval", {**REFUND, "wait_seconds": 0}, version=version)

    content = result["structuredContent"]
    assert content.keys() == {"status", "request_id", "url"}
    assert content["status"] == "open"
    assert result["isError"] is False
    (text,) = result["content"]
    assert content["request_id"] in text["text"]
    assert "Do not refund meanwhile" in text["text"]
    assert ("resultType" in result) == (version == STATELESS)


@ERAS
def test_an_approval_is_handed_out_once_with_its_arguments(client, bob, version):
    request_id = ask(client, version, may_edit=True)["request_id"]
    edited = {"charge": "ch_17", "amount": 4000, "note": None}
    bob.decide(request_id, {"approved": True, "editedArgs": edited})

    first = wait(client, request_id, version)
    second = wait(client, request_id, version)

    content = first["structuredContent"]
    assert (content["status"], content["args"], content["edited"]) == ("approved", edited, True)
    assert bob.read(request_id)["items"][0]["state"] == "started"
    assert second["isError"] is True
    assert second["structuredContent"]["code"] == "CALL_STARTED"
    reported = client.call(
        "report_result",
        {"request_id": request_id, "attempt": content["attempt"], "outcome": "succeeded"},
        version=version,
    )
    assert reported["structuredContent"]["state"] == "succeeded"
    assert bob.read(request_id)["status"] == "done"
    assert wait(client, request_id)["structuredContent"]["state"] == "succeeded"


@ERAS
def test_a_denial_is_a_result_with_its_reason(client, bob, version):
    request_id = ask(client, version)["request_id"]
    bob.decide(request_id, {"approved": False, "reason": "Not now"})

    result = wait(client, request_id, version)

    content = result["structuredContent"]
    assert (content["status"], content["reason"]) == ("denied", "Not now")
    assert result["isError"] is False
    assert "Do not refund" in result["content"][0]["text"]


@pytest.mark.parametrize(
    ("schema", "payload", "answer"),
    [
        ({"type": "object", "properties": {"region": {"type": "string"}}}, {"region": "eu"}, None),
        (None, APPROVED, True),
        (None, {"approved": False}, False),
    ],
    ids=["form", "yes", "no"],
)
def test_a_question_gets_its_answer(client, bob, schema, payload, answer):
    question = {"title": "Which region?", "why": "Both are free", "wait_seconds": 0}
    more = {"answer_schema": schema} if schema else {}
    request = client.call("ask_human", {**question, **more})["structuredContent"]
    bob.decide(request["request_id"], payload)

    content = wait(client, request["request_id"])["structuredContent"]

    assert content["status"] == "answered"
    assert content["answer"] == (payload if answer is None else answer)


@ERAS
def test_a_decision_during_a_call_ends_the_stream(client, bob, agent, version):
    with client.streamed("request_approval", REFUND, version=version, progressToken="p1") as events:
        progress = next(event for event in events if event)
        (request,) = bob.open_requests(agent)
        bob.decide(request["id"], APPROVED)
        (result,) = [event for event in events if event]

    assert progress["method"] == "notifications/progress"
    assert progress["params"]["progressToken"] == "p1"
    assert request["url"] in progress["params"]["message"]
    assert result["id"] == 1
    assert result["result"]["structuredContent"]["args"] == REFUND["args"]


def test_clients_without_a_progress_token_get_no_progress(client, bob, agent):
    with client.streamed("request_approval", REFUND) as events:
        assert [next(events), next(events)] == [None, None]
        (request,) = bob.open_requests(agent)
        bob.decide(request["id"], APPROVED)
        (result,) = [event for event in events if event]

    assert result["result"]["structuredContent"]["status"] == "approved"


def test_a_closed_stream_ends_the_hold_and_keeps_the_request(client, bob, agent):
    with client.streamed("request_approval", REFUND, progressToken=1) as events:
        assert next(event for event in events if event)
    (request,) = bob.open_requests(agent)

    bob.decide(request["id"], APPROVED)

    # The hold that ended has not taken the approval.
    assert wait(client, request["id"])["structuredContent"]["status"] == "approved"


def test_a_withdrawn_request_is_closed(client, bob):
    request_id = ask(client)["request_id"]

    withdrawn = [client.call("withdraw", {"request_id": request_id}) for _ in range(2)]

    assert [each["structuredContent"]["status"] for each in withdrawn] == ["withdrawn"] * 2
    assert bob.read(request_id)["status"] == "withdrawn"
    assert wait(client, request_id)["structuredContent"]["status"] == "withdrawn"


def test_a_decided_request_cannot_be_withdrawn(client, bob):
    request_id = ask(client)["request_id"]
    bob.decide(request_id, APPROVED)

    refused = client.call("withdraw", {"request_id": request_id})

    assert refused["isError"] is True
    assert refused["structuredContent"]["code"] == "ALREADY_DECIDED"


def test_equal_calls_of_a_session_join_one_request(client, http, program):
    joined = [ask(client, session="nightly:22")["request_id"] for _ in range(2)]
    by_address = ask(McpClient(http, program.key, "/mcp?session=nightly:22"))["request_id"]
    other = ask(client, session="nightly:23")["request_id"]
    alone = ask(client)["request_id"]

    assert joined[0] == joined[1] == by_address
    assert len({joined[0], other, alone}) == 3


def test_a_joined_approval_is_used_up_by_one_call(client, bob):
    request_id = ask(client, session="s")["request_id"]
    bob.decide(request_id, APPROVED)

    first, second = (ask(client, session="s") for _ in range(2))

    assert (first["status"], first["request_id"]) == ("approved", request_id)
    assert (second["status"], second["request_id"] == request_id) == ("open", False)


def permission_of(result):
    assert "structuredContent" not in result
    (content,) = result["content"]
    return json.loads(content["text"])


def test_claude_code_may_run_a_tool_that_people_approve(client, bob, agent):
    edited = {**BASH["input"], "command": "kubectl -n staging rollout restart deploy/web"}
    with client.streamed("approve_tool", BASH, version=HANDSHAKE, progressToken=1) as events:
        assert next(event for event in events if event)
        (request,) = bob.open_requests(agent)
        bob.decide(request["id"], {"approved": True, "editedArgs": edited})
        (answer,) = [event for event in events if event]

    assert permission_of(answer["result"]) == {"behavior": "allow", "updatedInput": edited}
    assert request["items"][0]["id"] == BASH["tool_use_id"]
    assert bob.read(request["id"])["items"][0]["state"] == "handed_over"


def test_claude_code_is_told_why_a_tool_may_not_run(client, bob, agent):
    with client.streamed("approve_tool", BASH, version=HANDSHAKE, progressToken=1) as events:
        assert next(event for event in events if event)
        (request,) = bob.open_requests(agent)
        bob.decide(request["id"], {"approved": False, "reason": "not during the sale."})
        (answer,) = [event for event in events if event]

    permission = permission_of(answer["result"])
    assert permission["behavior"] == "deny"
    assert permission["message"].endswith("in Signoff: not during the sale.")


def test_the_same_prompt_again_uses_the_decision(client, bob, agent):
    with client.streamed("approve_tool", BASH, progressToken=1) as events:
        assert next(event for event in events if event)
    (request,) = bob.open_requests(agent)
    bob.decide(request["id"], APPROVED)

    again = client.call("approve_tool", {**BASH, "tool_use_id": "toolu_02"})

    assert permission_of(again) == {"behavior": "allow", "updatedInput": BASH["input"]}


@pytest.mark.parametrize(
    "wrong",
    [{**BASH, "input": "ls"}, {"tool_name": "Bash"}, {**BASH, "tool_use_id": ".."}],
    ids=["text", "no input", "dots"],
)
def test_a_prompt_with_a_wrong_input_is_a_denial(client, wrong):
    assert permission_of(client.call("approve_tool", wrong))["behavior"] == "deny"


@pytest.mark.parametrize(
    ("members", "field"),
    [
        ({"arguments": {}}, "arguments"),
        ({"args": "ch_17"}, "args"),
        ({"tool": ""}, "tool"),
        ({"wait_seconds": 51}, "wait_seconds"),
        ({"wait_seconds": True}, "wait_seconds"),
        ({"title": "x" * 301}, "title"),
        ({"expires_in": 0}, "expires_in"),
        ({"args_schema": {"type": 7}}, "args_schema"),
        ({"session": ""}, "session"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_wrong_arguments_are_told_to_the_model(client, bob, agent, members, field):
    result = client.call("request_approval", {**REFUND, "wait_seconds": 0, **members})

    assert result["isError"] is True
    assert field in result["structuredContent"]["problems"]
    assert bob.open_requests(agent) == []


def test_a_request_that_is_too_large_is_refused(client):
    args = {"text": "x" * 300_000}

    result = client.call("request_approval", {**REFUND, "args": args})

    assert result["structuredContent"]["code"] == "TOO_LARGE"


def test_the_key_of_another_agent_sees_nothing(client, http, programs, bob):
    request_id = ask(client)["request_id"]
    other = McpClient(http, next(programs).key)
    calls = {
        "wait_for_decision": {},
        "withdraw": {},
        "report_result": {"attempt": "a", "outcome": "succeeded"},
    }

    for tool, members in calls.items():
        refused = other.call(tool, {"request_id": request_id, **members})
        missing = other.call(tool, {"request_id": str(uuid4()), **members})
        assert refused == missing
        assert refused["structuredContent"]["code"] == "NOT_FOUND"
    assert bob.read(request_id)["status"] == "open"


def test_another_team_asks_nothing_for_an_agent(client, http, agent, product, bob):
    member = ("--username", "dora", "--team", "others", "--role", "admin")
    manage(product.environment, "create_member", *member)
    options = ("--name", "foreign", "--team", "others", "--scope", "run", "--scope", "read")
    foreign = McpClient(http, manage(product.environment, "create_api_key", *options))
    request_id = ask(client)["request_id"]

    refused = foreign.call("request_approval", {**REFUND, "agent": agent, "wait_seconds": 0})
    hidden = foreign.call("wait_for_decision", {"request_id": request_id})

    assert refused["structuredContent"]["code"] == "NOT_FOUND"
    assert hidden["structuredContent"]["code"] == "NOT_FOUND"
    assert [request["id"] for request in bob.open_requests(agent)] == [request_id]


def test_an_agent_that_a_worker_drives_cannot_ask(product, http):
    worker = McpClient(http, product.create_api_key("run"))

    refused = worker.call("request_approval", {**REFUND, "agent": "rehearsal"})

    assert refused["structuredContent"]["code"] == "INVALID_VALUE"


def test_the_address_names_the_agent_of_a_team_key(product, http, agent, bob):
    team = product.create_api_key("run")

    nameless = McpClient(http, team).call("request_approval", REFUND)
    ask(McpClient(http, team, f"/mcp?agent={agent}"))

    assert nameless["structuredContent"]["code"] == "INVALID_VALUE"
    (request,) = bob.open_requests(agent)
    assert request["requester"] == {"name": "claude-code 2.1.330"}


@pytest.mark.parametrize("payload", [APPROVED, {"approved": False}], ids=["approved", "denied"])
def test_a_key_revoked_during_a_hold_gets_nothing(client, http, bob, agent, product, payload):
    admin = {"Authorization": f"Bearer {product.create_api_key('read', 'admin')}"}
    with client.streamed("request_approval", REFUND, progressToken=1) as events:
        assert next(event for event in events if event)
        (request,) = bob.open_requests(agent)
        for key_id in _keys_of(http, admin, agent):
            http.post(f"/api/keys/{key_id}/revoke", headers=admin).raise_for_status()
        bob.decide(request["id"], payload)
        (answer,) = [event for event in events if event]

    assert answer["error"]["data"] == {"code": "UNAUTHENTICATED"}
    assert bob.read(request["id"])["items"][0]["state"] in ("waiting", None)


def _keys_of(http, headers, agent):
    after = ""
    while True:
        page = http.get(f"/api/teams/demo/keys{after}", headers=headers).json()
        yield from [key["id"] for key in page["results"] if key["name"] == agent]
        if not page["next_after"]:
            return
        after = f"?after={page['next_after']}"


def test_many_who_wait_keep_no_thread_from_others(http, program, bob, agent):
    limits = httpx.Limits(max_connections=MANY)
    with ExitStack() as stack:
        many = httpx.Client(base_url=http.base_url, timeout=60, limits=limits, trust_env=False)
        waiting = McpClient(stack.enter_context(many), program.key)
        for number in range(MANY):
            call = {**REFUND, "args": {"number": number}}
            stream = waiting.streamed("request_approval", call, progressToken=1)
            events = stack.enter_context(stream)
            assert next(event for event in events if event)

        assert len(bob.open_requests(agent)) == MANY
