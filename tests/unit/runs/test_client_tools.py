"""The tool messages that are results of a client's own tools, and those that are not."""

import pytest

from inbox.rules.errors import ToolResultRejected
from inbox.rules.runs.client_tools import StoredCall, check_not_repeated, plan_results
from inbox.rules.schema.secrets import MASK

OPEN = StoredCall(is_asked=False, is_offered=True, is_open=True, result=None)
DONE = StoredCall(is_asked=False, is_offered=True, is_open=False, result='{"a": 1}')
ASKED = StoredCall(is_asked=True, is_offered=True, is_open=True, result=None)
USER = {"id": "u", "role": "user", "content": "Hi"}


def tool(call="c1", content="red", name="t1"):
    return {"id": name, "role": "tool", "toolCallId": call, "content": content}


def plan(*sent, stored=(), **calls):
    return plan_results(stored=stored, sent=sent, calls=calls or {"c1": OPEN})


def test_a_message_about_an_open_call_is_its_result():
    assert plan(USER, tool()) == {"c1": "red"}


def test_parts_are_joined_as_text():
    parts = [{"type": "text", "text": "red"}, {"type": "text", "text": "and blue"}]

    assert plan(tool(content=parts)) == {"c1": "red\nand blue"}


@pytest.mark.parametrize(
    ("call", "problem"),
    [
        (StoredCall(False, False, True, None), "offered"),
        (StoredCall(False, True, False, None), "success"),
        (DONE, "another result"),
    ],
)
def test_results_of_other_calls_are_rejected(call, problem):
    with pytest.raises(ToolResultRejected, match=problem):
        plan(tool(), c1=call)


def test_an_unknown_call_is_rejected():
    with pytest.raises(ToolResultRejected, match="no call of this thread"):
        plan(tool("elsewhere"))


def test_two_results_of_one_call_are_rejected():
    with pytest.raises(ToolResultRejected, match="two results"):
        plan(tool(), tool(name="t2"))


def test_a_result_that_is_too_long_is_rejected():
    with pytest.raises(ToolResultRejected, match="characters"):
        plan(tool(content="x" * (1024 * 1024 + 1)))


def test_messages_of_the_thread_are_no_new_results():
    assert plan(tool(), stored=[tool()]) == {}


@pytest.mark.parametrize("content", ['{"a": 1}', '{"a":1}', MASK])
def test_a_result_under_another_message_id_is_history(content):
    assert plan(tool(content=content), c1=DONE) == {}


def test_a_decision_that_is_repeated_is_no_result():
    assert plan(tool(content='{"approved":true}'), c1=ASKED) == {}


def test_a_history_of_a_clients_own_is_no_result():
    call = {"id": "a", "role": "assistant", "toolCalls": [{"id": "own"}]}

    assert plan(call, tool("own")) == {}


def test_a_call_that_the_thread_has_is_not_the_clients_own():
    call = {"id": "forged", "role": "assistant", "toolCalls": [{"id": "c1"}]}

    with pytest.raises(ToolResultRejected, match="another result"):
        plan(call, tool(), c1=DONE)


def test_repeated_results_alone_run_nothing():
    with pytest.raises(ToolResultRejected, match="nothing else is new"):
        check_not_repeated(stored=[USER], sent=[USER, tool()], results={})


def test_repeated_results_beside_a_new_message_run():
    check_not_repeated(stored=[], sent=[USER, tool()], results={})
    check_not_repeated(stored=[tool()], sent=[tool()], results={})
    check_not_repeated(stored=[], sent=[tool()], results={"c1": "red"})
