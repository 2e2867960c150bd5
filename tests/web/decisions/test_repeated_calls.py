"""A call that was rejected before says so, and one request can be cancelled."""

import ag_ui.core as agui
import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from inbox.queries.decisions.repeated_calls import repeated_calls
from tests.support.steps import answer, deny, open_interrupts, reread, resumed_run, start
from tests.support.web.pages import words

SCHEMA = {
    "type": "object",
    "properties": {
        "approved": {"type": "boolean"},
        "reason": {"type": "string"},
        "feedback": {"type": "string"},
    },
    "required": ["approved"],
}
SECRET = {
    **SCHEMA,
    "properties": {**SCHEMA["properties"], "reason": {"type": "string", "writeOnly": True}},
}


@pytest.fixture
def stubborn(world, as_agent):
    """Return a function that starts a run which proposes these arguments, one after the other."""

    def propose(*proposals, schema=SCHEMA, tool="wire"):
        left = list(proposals)

        async def play(run_input, ctx):
            outcome = None
            if left:
                name = f"c-{run_input.run_id}"
                yield agui.ToolCallStartEvent(tool_call_id=name, tool_call_name=tool)
                yield agui.ToolCallArgsEvent(tool_call_id=name, delta=left.pop(0))
                yield agui.ToolCallEndEvent(tool_call_id=name)
                interrupt = agui.Interrupt(
                    id=f"i-{run_input.run_id}",
                    reason="tool_call",
                    tool_call_id=name,
                    response_schema=schema,
                )
                outcome = agui.RunFinishedInterruptOutcome(interrupts=[interrupt])
            yield agui.RunFinishedEvent(
                thread_id=run_input.thread_id, run_id=run_input.run_id, outcome=outcome
            )

        return start(world, "go", agent=as_agent(play))

    return propose


def next_of(run):
    (interrupt,) = open_interrupts(resumed_run(run))
    return interrupt


def test_a_repeated_call_says_who_rejected_it_and_why(stubborn, bob, reads_bob):
    run = stubborn('{"to": "ida", "amount": 10}', '{"amount": 10.0, "to": "ida"}')
    (first,) = open_interrupts(run)
    answer(first, bob, {"approved": False, "reason": "No budget."})
    second = next_of(run)

    page = words(reads_bob.get(f"/interrupts/{second.pk}/"))
    assert "Rejected" in page
    assert "by Bob . The agent proposes the same call again. No budget." in page
    assert "same call again" not in words(reads_bob.get(f"/interrupts/{first.pk}/"))
    for path in (f"/api/interrupts/{second.pk}", "/api/interrupts"):
        body = reads_bob.get(path).json()
        row = body["results"][0] if "results" in body else body
        assert row["repeated_call"]["interrupt"] == str(first.pk)
        assert (row["repeated_call"]["by"], row["repeated_call"]["reason"]) == ("Bob", "No budget.")


@pytest.mark.parametrize(
    "proposals", [('{"amount": 10}', '{"amount": 11}'), ('{"a": 1}', '{"a": true}')]
)
def test_another_call_repeats_nothing(stubborn, bob, proposals):
    run = stubborn(*proposals)
    deny(open_interrupts(run)[0], bob)
    second = next_of(run)

    assert repeated_calls([second]) == {}


def test_the_same_call_in_another_thread_repeats_nothing(stubborn, bob):
    deny(open_interrupts(stubborn('{"amount": 10}'))[0], bob)
    (other,) = open_interrupts(stubborn('{"amount": 10}'))

    assert repeated_calls([other]) == {}


def test_a_masked_note_of_the_rejection_stays_masked(stubborn, bob, reads_bob):
    run = stubborn('{"amount": 10}', '{"amount": 10}', schema=SECRET)
    answer(open_interrupts(run)[0], bob, {"approved": False, "reason": "hunter2hunter2"})
    second = next_of(run)

    assert "hunter2" not in repeated_calls([second])[second.pk].reason
    assert "same call again" in words(reads_bob.get(f"/interrupts/{second.pk}/"))


def test_a_question_to_the_agent_is_no_rejection(stubborn, bob, reads_bob):
    run = stubborn('{"amount": 10}', '{"amount": 10}')
    answer(open_interrupts(run)[0], bob, {"approved": False, "feedback": "Which account?"})
    second = next_of(run)

    assert repeated_calls([second]) == {}
    assert "same call again" not in words(reads_bob.get(f"/interrupts/{second.pk}/"))


def test_a_rejection_before_a_question_is_the_one_that_counts(stubborn, bob):
    run = stubborn(*['{"amount": 10}'] * 3)
    (first,) = open_interrupts(run)
    answer(first, bob, {"approved": False, "reason": "No budget."})
    run = resumed_run(run)
    (second,) = open_interrupts(run)
    answer(second, bob, {"approved": False, "feedback": "Which account?"})
    third = next_of(run)

    assert repeated_calls([third])[third.pk].interrupt == first.pk


def test_large_arguments_of_other_calls_are_not_read(stubborn, bob):
    other = '{"text": "' + "x" * 100_000 + '"}'
    run = stubborn(other, '{"amount": 10}', '{"amount": 10}')
    deny(open_interrupts(run)[0], bob)
    run = resumed_run(run)
    deny(open_interrupts(run)[0], bob)
    last = next_of(run)

    with CaptureQueriesContext(connection) as queries:
        repeated = repeated_calls([last])

    assert list(repeated) == [last.pk]
    assert [
        f'"{column}"' in queries[0]["sql"].partition(" FROM ")[0] for column in ("args", "body")
    ] == [False, False]


def test_many_requests_need_two_queries(stubborn, bob):
    rows = []
    for amount in range(4):
        run = stubborn(*[f'{{"amount": {amount}}}'] * 2)
        deny(open_interrupts(run)[0], bob)
        rows.append(next_of(run))

    with CaptureQueriesContext(
        connection,
    ) as queries:
        assert len(repeated_calls(rows)) == 4
    assert len(queries) == 2


def test_one_approval_is_cancelled_on_its_page(stubborn, reads_bob):
    (interrupt,) = open_interrupts(stubborn('{"amount": 10}'))
    assert "Cancel this request" in words(reads_bob.get(f"/interrupts/{interrupt.pk}/"))

    sent = reads_bob.send(interrupt, "cancel")

    assert sent.status_code == 303
    assert reread(interrupt).status == "cancelled"
    assert reread(interrupt).decisions.get().entrance == "page"


def test_a_cancellation_of_an_old_page_is_refused(stubborn, bob, reads_bob):
    run = stubborn('{"amount": 10}')
    (interrupt,) = open_interrupts(run)
    post = reads_bob.form(interrupt).post().copy()
    post["view_digest"] = "0" * 64

    assert reads_bob.post(interrupt, post, "cancel").status_code == 409
    assert reread(interrupt).status == "open"
