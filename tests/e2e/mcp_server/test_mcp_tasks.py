"""Requests as tasks, for clients that declare the tasks extension."""

from uuid import uuid4

import pytest

from tests.support.mcp.raw_client import HANDSHAKE, REFUND, TASKS, McpClient

APPROVED = {"approved": True}


def create(client, **members):
    return client.call("request_approval", {**REFUND, **members}, capabilities=TASKS)


def task(client, method, task_id):
    return client.send(method, {"taskId": task_id}, capabilities=TASKS)


def test_a_call_becomes_a_task_with_the_id_of_its_request(client, bob):
    created = create(client)

    request = bob.read(created["taskId"])
    assert created == {
        "resultType": "task",
        "taskId": request["id"],
        "status": "working",
        "statusMessage": f"Waiting for a person: {request['url']}",
        "createdAt": created["createdAt"],
        "lastUpdatedAt": created["createdAt"],
        "ttlMs": 86_400_000,
        "pollIntervalMs": 5000,
    }
    polled = task(client, "tasks/get", created["taskId"])["result"]
    assert polled == {**created, "resultType": "complete"}


def test_a_completed_task_has_one_permit_however_often_it_is_read(client, bob):
    task_id = create(client)["taskId"]
    bob.decide(task_id, APPROVED)

    first, second = (task(client, "tasks/get", task_id)["result"] for _ in range(2))

    assert first["status"] == "completed"
    assert "statusMessage" not in first
    content = first["result"]["structuredContent"]
    assert (content["status"], content["args"]) == ("approved", REFUND["args"])
    again = second["result"]["structuredContent"]
    assert (again["attempt"], again["args"]) == (content["attempt"], content["args"])
    waited = client.call("wait_for_decision", {"request_id": task_id})
    assert waited["structuredContent"]["code"] == "CALL_STARTED"
    report = {"request_id": task_id, "attempt": content["attempt"], "outcome": "succeeded"}
    assert client.call("report_result", report)["structuredContent"]["state"] == "succeeded"


def test_a_task_that_another_call_has_used_up_has_an_error_as_result(client, bob):
    task_id = create(client)["taskId"]
    bob.decide(task_id, APPROVED)
    client.call("wait_for_decision", {"request_id": task_id})

    polled = task(client, "tasks/get", task_id)["result"]

    assert (polled["status"], polled["result"]["isError"]) == ("completed", True)
    assert polled["result"]["structuredContent"]["code"] == "CALL_STARTED"


def test_a_question_is_a_task_as_well(client, bob):
    question = client.call("ask_human", {"title": "Deploy?"}, capabilities=TASKS)
    bob.decide(question["taskId"], {"approved": False, "reason": "Friday"})

    polled = task(client, "tasks/get", question["taskId"])["result"]

    content = polled["result"]["structuredContent"]
    assert (content["answer"], content["reason"]) == (False, "Friday")


def test_a_request_that_never_expires_has_no_ttl(client):
    assert create(client, expires_in=None)["ttlMs"] is None


def test_two_tasks_of_a_session_share_no_request(client):
    tasks = [create(client, session="s")["taskId"] for _ in range(2)]

    assert tasks[0] != tasks[1]


def test_a_cancelled_task_withdraws_its_request(client, bob):
    task_id = create(client)["taskId"]

    cancelled = [task(client, "tasks/cancel", task_id)["result"] for _ in range(2)]

    assert cancelled == [{"resultType": "complete"}] * 2
    assert bob.read(task_id)["status"] == "withdrawn"
    polled = task(client, "tasks/get", task_id)["result"]
    assert (polled["status"], "result" in polled) == ("cancelled", False)


def test_a_decided_task_stays_decided_when_it_is_cancelled(client, bob):
    task_id = create(client)["taskId"]
    bob.decide(task_id, APPROVED)

    assert task(client, "tasks/cancel", task_id)["result"] == {"resultType": "complete"}
    assert bob.read(task_id)["items"][0]["status"] == "approved"


def test_an_update_changes_nothing(client):
    task_id = create(client)["taskId"]

    assert task(client, "tasks/update", task_id)["result"] == {"resultType": "complete"}


@pytest.mark.parametrize("method", ["tasks/get", "tasks/update", "tasks/cancel"])
def test_clients_that_do_not_declare_tasks_have_none(client, method):
    task_id = create(client)["taskId"]

    error = client.send(method, {"taskId": task_id})["error"]

    assert (error["code"], error["data"]) == (-32021, {"requiredCapabilities": TASKS})
    assert client.send(method, {"taskId": task_id}, version=HANDSHAKE)["error"]["code"] == -32601
    content = client.call("request_approval", {**REFUND, "wait_seconds": 0})
    assert content["structuredContent"]["status"] == "open"


@pytest.mark.parametrize("method", ["tasks/get", "tasks/update", "tasks/cancel"])
def test_a_task_of_another_program_looks_like_none(client, http, programs, bob, method):
    task_id = create(client)["taskId"]
    other = McpClient(http, next(programs).key)

    hidden = task(other, method, task_id)
    missing = task(other, method, str(uuid4()))

    assert hidden == missing
    assert hidden["error"]["code"] == -32602
    assert bob.read(task_id)["status"] == "open"


@pytest.mark.parametrize("task_id", ["1", "../x", "0" * 500], ids=["1", "dots", "long"])
def test_an_id_that_is_none_is_no_task(client, task_id):
    assert task(client, "tasks/get", task_id)["error"]["code"] == -32602


@pytest.mark.parametrize("task_id", [None, "", 7, {}, []], ids=repr)
def test_an_id_that_is_no_text_is_refused(client, task_id):
    assert task(client, "tasks/get", task_id)["error"]["code"] in (-32602, -32020)
