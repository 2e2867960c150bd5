"""Older clients at the door: the draft of 2025, and LangGraph's `on_interrupt`."""

import json

import httpx
import pytest

from tests.support.http.agui_client import (
    Door,
    resume,
    run_input,
    types,
)


class Older(Door):
    """A client that speaks one of the older dialects."""

    dialect = "draft"

    def run(self, body, agent="rehearsal"):
        return list(self.stream(f"/agui/{agent}/?dialect={self.dialect}", body))

    def answer(self, thread_id, answer):
        return self.run(run_input(threadId=thread_id, **answer))

    def reload(self, thread_id):
        path = f"/agui/rehearsal/connect/?dialect={self.dialect}"
        return list(self.stream(path, {"threadId": thread_id}))


@pytest.fixture
def draft(product, key):
    with httpx.Client(base_url=product.url, timeout=20) as http:
        yield Older(http, key)


@pytest.fixture
def langgraph(product, key):
    with httpx.Client(base_url=product.url, timeout=20) as http:
        older = Older(http, key)
        older.dialect = "langgraph"
        yield older


def command(value):
    return {"forwardedProps": {"command": {"resume": value}, "theme": "dark"}}


def named(value, events):
    """An answer as CopilotKit sends it: with the question that it shows."""
    event = json.dumps(events)
    return {"forwardedProps": {"command": {"resume": value, "interruptEvent": event}}}


def asked_by(events):
    """What a legacy stream asks: the values of its on_interrupt events."""
    return [
        json.loads(event["value"])
        for event in events
        if event["type"] == "CUSTOM" and event["name"] == "on_interrupt"
    ]


# -- the draft ------------------------------------------------------------------------------------


def test_a_draft_client_approves_a_function_call(draft):
    events = draft.run(run_input("rehearse:tool_call"))

    end = events[-1]
    assert end["outcome"] == "interrupt"
    assert end["interrupt"]["payload"]["functionName"] == "send_email"
    assert end["interrupt"]["payload"]["functionArguments"]["to"] == "dana@example.com"
    name = end["interrupt"]["id"]
    answer = {"resume": {"interruptId": name, "payload": {"approved": True}}}
    done = draft.answer(end["threadId"], answer)
    assert types(done)[-1] == "RUN_FINISHED"
    assert done[-1]["outcome"] == "success"
    assert '"executionCount":1' in json.dumps(done).replace(" ", "").replace("\\", "")


def test_call_repeated_by_a_dotnet_client_counts_as_an_edit(draft):
    end = draft.run(run_input("rehearse:tool_call"))[-1]
    call = {
        "callId": "forged",
        "name": "deploy",
        "arguments": {"to": "eli@example.com", "subject": "Hello"},
    }
    answer = {"resume": {"payload": {"approved": True, "toolCall": call}}}

    done = draft.answer(end["threadId"], answer)

    decided = draft.get("/api/interrupts?state=decided")["results"]
    (interrupt,) = (row for row in decided if row["thread_id"] == end["threadId"])
    assert done[-1]["outcome"] == "success"
    assert interrupt["tool"] == "send_email"
    assert interrupt["decision"]["payload"] == {"approved": True, "editedArgs": call["arguments"]}


def test_draft_client_gets_interrupts_one_by_one_and_resumes_once(draft):
    first = draft.run(run_input("rehearse:parallel3"))[-1]
    thread_id = first["threadId"]
    second = draft.answer(
        thread_id,
        {"resume": {"interruptId": first["interrupt"]["id"], "payload": {"approved": True}}},
    )
    assert types(second) == ["RUN_STARTED", "MESSAGES_SNAPSHOT", "RUN_FINISHED"]
    third = draft.answer(thread_id, {"resume": {"payload": {"approved": False}}})
    names = [event["interrupt"]["id"] for event in (first, second[-1], third[-1])]
    assert len(set(names)) == 3

    last = {"resume": {"interruptId": names[2], "payload": {"approved": True}}}
    done = draft.answer(thread_id, last)
    again = draft.answer(thread_id, last)

    assert [event["type"] for event in done].count("TOOL_CALL_RESULT") == 3
    assert done[-1]["outcome"] == again[-1]["outcome"] == "success"
    assert "TOOL_CALL_RESULT" not in types(again)
    thread = draft.thread(thread_id)
    runs = draft.get("/api/runs")["results"]
    assert len([run for run in runs if run["thread"] == thread["id"]]) == 2


def test_a_draft_client_fills_in_a_form(draft):
    end = draft.run(run_input("rehearse:input_required"))[-1]
    assert end["interrupt"]["payload"]["message"] == "Fill in the quarterly filing"
    assert end["interrupt"]["payload"]["responseSchema"]["required"] == [
        "quarter",
        "year",
        "revenue",
    ]

    wrong = draft.answer(end["threadId"], {"resume": {"payload": {"quarter": "Q9"}}})
    answer = {"quarter": "Q1", "year": 2026, "revenue": 1.5}
    done = draft.answer(end["threadId"], {"resume": {"payload": answer}})

    assert (wrong[-1]["type"], wrong[-1]["code"]) == ("RUN_ERROR", "INVALID_PAYLOAD")
    assert done[-1]["outcome"] == "success"


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        ({"interruptId": "nope", "payload": {"approved": True}}, "UNKNOWN_INTERRUPT_ID"),
        ({"payload": {"approved": "yes"}}, "INVALID_PAYLOAD"),
        ({"payload": None}, "INVALID_PAYLOAD"),
    ],
)
def test_what_answers_nothing_is_refused_and_leaves_the_question_open(draft, answer, code):
    end = draft.run(run_input("rehearse:tool_call"))[-1]

    refused = draft.answer(end["threadId"], {"resume": answer})

    assert refused[-1]["code"] == code
    assert draft.connect(end["threadId"])[-1]["outcome"]["type"] == "interrupt"


def test_an_answer_on_a_thread_that_asked_nothing_is_refused(draft):
    refused = draft.answer("no-such-thread", {"resume": {"payload": {"approved": True}}})

    assert refused[-1]["code"] == "UNKNOWN_INTERRUPT_ID"


def test_an_edit_in_an_entry_of_a_resume_array_is_refused(draft):
    end = draft.run(run_input("rehearse:tool_call"))[-1]
    call = {"arguments": {"to": "eli@example.com", "subject": "Hello"}}
    entry = {
        "interruptId": end["interrupt"]["id"],
        "status": "resolved",
        "payload": {"approved": True, "toolCall": call},
    }

    refused = draft.answer(end["threadId"], {"resume": [entry]})

    assert refused[-1]["code"] == "INVALID_PAYLOAD"
    assert "`editedArgs`" in refused[-1]["message"]


# -- LangGraph's ----------------------------------------------------------------------------------


def test_a_langgraph_client_approves_a_call(langgraph):
    events = langgraph.run(run_input("rehearse:tool_call"))

    (value,) = asked_by(events)
    assert "outcome" not in events[-1]
    assert value["kind"] == "tool_call"
    assert value["toolName"] == "send_email"
    assert "toolCallId" not in value
    done = langgraph.answer(events[-1]["threadId"], command({"approved": True}))
    assert "TOOL_CALL_RESULT" in types(done)
    assert "outcome" not in done[-1]


@pytest.mark.parametrize("answer", [True, '{"approved": true}', {"accepted": True}])
def test_a_langgraph_client_may_say_yes_in_several_ways(langgraph, answer):
    events = langgraph.run(run_input("rehearse:tool_call"))

    done = langgraph.answer(events[-1]["threadId"], command(answer))

    (result,) = [event for event in done if event["type"] == "TOOL_CALL_RESULT"]
    assert json.loads(result["content"])["ok"] is True


@pytest.mark.parametrize(
    "flat", [{"subject": "Changed"}, {"to": "eli@example.com", "subject": "Changed"}, {}]
)
def test_flat_members_beside_a_yes_are_edits_of_arguments(langgraph, flat):
    events = langgraph.run(run_input("rehearse:tool_call"))
    proposed = asked_by(events)[0]["args"]

    done = langgraph.answer(events[-1]["threadId"], command({"approved": True, **flat}))

    (result,) = [event for event in done if event["type"] == "TOOL_CALL_RESULT"]
    assert json.loads(result["content"])["args"] == {**proposed, **flat}


def test_flat_members_beside_a_no_edit_nothing(langgraph):
    events = langgraph.run(run_input("rehearse:tool_call"))
    no = {"approved": False, "subject": "Changed", "reason": "Not now"}

    done = langgraph.answer(events[-1]["threadId"], command(no))

    (result,) = [event for event in done if event["type"] == "TOOL_CALL_RESULT"]
    assert json.loads(result["content"]) == {"ok": False, "denied": True, "reason": "Not now"}


def test_a_langgraph_client_calls_off(langgraph):
    events = langgraph.run(run_input("rehearse:tool_call"))

    done = langgraph.answer(events[-1]["threadId"], command({"cancelled": True}))

    (result,) = [event for event in done if event["type"] == "TOOL_CALL_RESULT"]
    assert json.loads(result["content"]) == {"ok": False, "cancelled": True}


def test_several_questions_of_a_langgraph_client_are_answered_by_a_map(langgraph):
    events = langgraph.run(run_input("rehearse:parallel3"))
    thread_id = events[-1]["threadId"]
    names = [value["id"] for value in asked_by(events)]
    assert len(names) == 3

    alone = langgraph.answer(thread_id, command({"approved": True}))
    some = langgraph.answer(thread_id, command({names[0]: {"approved": True}}))
    answers = {name: {"approved": index > 0} for index, name in enumerate(names)}
    done = langgraph.answer(thread_id, command(answers))

    assert (alone[-1]["code"], some[-1]["code"]) == ("PARTIAL_RESUME", "PARTIAL_RESUME")
    results = [json.loads(e["content"])["ok"] for e in done if e["type"] == "TOOL_CALL_RESULT"]
    assert results == [False, True, True]


def test_interrupt_named_by_copilotkit_is_answered_alone_and_resumes_once(langgraph):
    events = langgraph.run(run_input("rehearse:parallel3"))
    thread_id = events[-1]["threadId"]
    names = [value["id"] for value in asked_by(events)]

    second = langgraph.answer(thread_id, named({"approved": True}, asked_by(events)[2]))
    third = langgraph.answer(thread_id, named({"cancelled": True}, asked_by(second)[1]))
    done = langgraph.answer(thread_id, named({"approved": False}, asked_by(third)[0]))

    assert types(second) == [
        *("RUN_STARTED", "MESSAGES_SNAPSHOT", "CUSTOM", "CUSTOM"),
        "RUN_FINISHED",
    ]
    assert [value["id"] for value in asked_by(second)] == names[:2]
    assert [value["id"] for value in asked_by(third)] == names[:1]
    results = [json.loads(e["content"]) for e in done if e["type"] == "TOOL_CALL_RESULT"]
    assert [result.get("cancelled", result["ok"]) for result in results] == [False, True, True]


def test_an_answer_to_a_question_of_before_answers_no_later_one(langgraph):
    events = langgraph.run(run_input("rehearse:multi_step"))
    thread_id = events[-1]["threadId"]
    (email,) = asked_by(events)
    (deploy,) = asked_by(langgraph.answer(thread_id, named(True, email)))

    refused = langgraph.answer(thread_id, named(False, email))
    again = langgraph.answer(thread_id, named(True, email))

    assert refused[-1]["code"] == "INTERRUPT_ALREADY_RESOLVED"
    assert asked_by(refused) == [deploy]
    # Repeat the new password is a replay: nothing is left of what that run asked.
    assert again[-1]["type"] == "RUN_FINISHED"
    assert asked_by(langgraph.reload(thread_id)) == [deploy]


@pytest.mark.parametrize(
    "event", [None, 7, "x", "{", "[]", {"id": 7}, {"id": ["a"]}, {"toolCallId": "t"}]
)
def test_an_answer_without_an_id_counts_for_the_last_interrupt_delivered(langgraph, event):
    events = langgraph.run(run_input("rehearse:tool_call"))
    props = {"command": {"resume": True, "interruptEvent": event}}

    done = langgraph.answer(events[-1]["threadId"], {"forwardedProps": props})

    assert "TOOL_CALL_RESULT" in types(done)


@pytest.mark.parametrize("dialect", ["draft", "langgraph"])
def test_an_answer_without_an_id_never_approves_a_later_question(langgraph, door, dialect):
    """The client saw the first question; a colleague answered it, and the run asked a second."""
    langgraph.dialect = dialect
    events = langgraph.run(run_input("rehearse:multi_step"))
    thread_id = events[-1]["threadId"]
    door.run(resume(door.connect(thread_id)))
    (second,) = door.connect(thread_id)[-1]["outcome"]["interrupts"]
    legacy = {"resume": {"payload": {"approved": True}}} if dialect == "draft" else command(True)

    langgraph.answer(thread_id, legacy)

    (still_open,) = door.connect(thread_id)[-1]["outcome"]["interrupts"]
    assert still_open["id"] == second["id"]


@pytest.mark.parametrize("dialect", ["draft", "langgraph"])
def test_an_answer_without_an_id_needs_a_delivery_to_this_actor(langgraph, product, dialect):
    langgraph.dialect = dialect
    thread_id = langgraph.run(run_input("rehearse:tool_call"))[-1]["threadId"]
    other = Older(langgraph.http, product.create_api_key("run", "read", "decide"))
    other.dialect = dialect
    legacy = {"resume": {"payload": {"approved": True}}} if dialect == "draft" else command(True)

    refused = other.answer(thread_id, legacy)

    assert refused[-1]["code"] == "VIEW_CHANGED"
    assert len(asked_by(refused)) == (1 if dialect == "langgraph" else 0)
    other.reload(thread_id)
    assert "TOOL_CALL_RESULT" in types(other.answer(thread_id, legacy))


@pytest.mark.parametrize("name", ["nope", "x" * 5000])
def test_a_question_that_nobody_asked_cannot_be_answered(langgraph, name):
    events = langgraph.run(run_input("rehearse:tool_call"))

    refused = langgraph.answer(events[-1]["threadId"], named(True, {"id": name}))

    assert refused[-1]["code"] == "UNKNOWN_INTERRUPT_ID"
    assert asked_by(refused) == asked_by(events)


def test_rejected_input_includes_the_interrupt_for_permitted_callers(langgraph, product):
    events = langgraph.run(run_input("rehearse:tool_call"))
    more = run_input("And another thing", threadId=events[-1]["threadId"])
    runner = Older(langgraph.http, product.create_api_key("run", "read"))
    runner.dialect = "langgraph"

    to_me, to_the_runner = langgraph.run(more), runner.run(more)

    assert types(to_me) == ["RUN_STARTED", "CUSTOM", "RUN_ERROR"]
    assert asked_by(to_me) == asked_by(events)
    assert types(to_the_runner) == ["RUN_STARTED", "RUN_ERROR"]
    assert to_me[-1]["code"] == to_the_runner[-1]["code"] == "PENDING_INTERRUPTS"


def test_the_command_of_a_client_does_not_reach_the_agent(langgraph, door):
    events = langgraph.run(run_input("rehearse:multi_step"))
    thread_id = events[-1]["threadId"]
    second = langgraph.answer(thread_id, command({"approved": True}))
    assert asked_by(second)[0]["toolName"] == "deploy"

    done = langgraph.answer(thread_id, command({"approved": True}))

    assert types(done)[-1] == "RUN_FINISHED"
    assert asked_by(done) == []


# -- whichever ------------------------------------------------------------------------------------


def test_each_request_is_answered_in_its_own_dialect_and_no_other(door, draft, langgraph):
    canonical = door.run(run_input("rehearse:tool_call"))
    thread_id = canonical[0]["threadId"]
    path = "/agui/rehearsal/connect/"

    as_draft = list(draft.stream(f"{path}?dialect=draft", {"threadId": thread_id}))
    as_langgraph = list(draft.stream(f"{path}?dialect=langgraph", {"threadId": thread_id}))

    assert canonical[-1]["outcome"]["type"] == "interrupt"
    assert asked_by(canonical) == []
    assert as_draft[-1]["outcome"] == "interrupt"
    assert "outcome" not in as_langgraph[-1]
    assert len(asked_by(as_langgraph)) == 1
    # An answer of 1.0 is understood whatever is spoken otherwise.
    done = draft.run(resume(canonical))
    assert done[-1]["outcome"] == "success"


def test_a_dialect_that_nobody_speaks_is_named(door):
    answer = door.post("/agui/rehearsal/?dialect=klingon", json.dumps(run_input("hello")))

    assert answer.status_code == 400
    assert "canonical, draft, langgraph" in answer.json()["detail"]


def test_who_may_not_decide_may_not_do_so_in_an_older_dialect(product, draft):
    end = draft.run(run_input("rehearse:tool_call"))[-1]
    with httpx.Client(base_url=product.url, timeout=20) as http:
        runner = Older(http, product.create_api_key("run", "read"))

        refused = runner.answer(end["threadId"], {"resume": {"payload": {"approved": True}}})

    assert refused[-1]["code"] == "FORBIDDEN"
