"""The resume contract against a model of it, and against thousands of forgeries."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import count, permutations

import ag_ui.core as agui
import pytest
from hypothesis import given
from hypothesis import strategies as st

from inbox.actions.runs.start_run import start_run
from inbox.models import Run
from inbox.rules import errors
from inbox.rules.runs.contract import (
    InterruptState,
    ResumeEntry,
    fingerprint,
    is_replay,
    plan_resume,
)
from inbox.rules.runs.states import EntryStatus, InterruptStatus
from tests.support import steps
from tests.support.http.resume_contract import check_array
from tests.support.properties.json_values import (
    changed,
    generated,
    same,
    scalars,
    values,
)

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
RESOLVED, CANCELLED = EntryStatus.RESOLVED, EntryStatus.CANCELLED
OPEN = InterruptStatus.OPEN
FORGED_IDS = ["x", "A", "a ", " a", "", "a\0", "other-thread", "\u0430", "a\u200b"]
FORGED_PAYLOADS = [None, True, 1, "true", "approved", [], [True], {}, {"Approved": True}]
TRUTHY = ["true", "True", 1, 1.0, [], [True], {}, {"approved": True}, "yes", None]


def is_whole(value):
    return type(value) is int or (type(value) is float and value.is_integer())


#: Schemas, each with the same rule in Python.
SCHEMAS = {
    "anything": (None, lambda value: True),
    "boolean": ({"type": "boolean"}, lambda value: isinstance(value, bool)),
    "count": (
        {"type": "integer", "minimum": 0},
        lambda value: not isinstance(value, bool) and is_whole(value) and value >= 0,
    ),
    "choice": ({"enum": ["a", "b"]}, lambda value: isinstance(value, str) and value in ("a", "b")),
    "form": (
        {
            "type": "object",
            "properties": {"n": {"type": "string"}},
            "required": ["n"],
            "additionalProperties": False,
        },
        lambda value: (
            isinstance(value, dict) and set(value) == {"n"} and isinstance(value["n"], str)
        ),
    ),
}
EDITABLE = {"properties": {"editedArgs": {"type": "object"}}}
RULE_OF = {repr(schema): rule for schema, rule in SCHEMAS.values()}


def approves_or_denies(payload):
    """Whether a payload can answer a tool call at all."""
    return (
        isinstance(payload, dict)
        and isinstance(payload.get("approved"), bool)
        and isinstance(payload.get("editedArgs", {}), dict)
        and isinstance(payload.get("reason"), str | None)
    )


def same_entry(first, other):
    if (first.interrupt_id, first.status) != (other.interrupt_id, other.status):
        return False
    return first.status is CANCELLED or same(first.payload, other.payload)


def same_entries(some, others):
    """Whether two arrays are the same decisions, whatever their order."""
    some = sorted(some, key=lambda entry: entry.interrupt_id)
    others = sorted(others, key=lambda entry: entry.interrupt_id)
    return len(some) == len(others) and all(map(same_entry, some, others))


def expected_refusal(entries, questions):
    """What the contract says about these entries: the class of the refusal, or None."""
    ids = [entry.interrupt_id for entry in entries]
    open_questions = {question.interrupt_id: question for question in questions}
    if len(set(ids)) < len(ids):
        return errors.DuplicateResume
    if not set(ids) <= set(open_questions):
        return errors.UnknownInterrupt
    for entry in entries:
        closed = open_questions[entry.interrupt_id]
        if closed.status is not OPEN and not same_entry(closed.answer, entry):
            expired = closed.status is InterruptStatus.EXPIRED
            return errors.InterruptExpired if expired else errors.AlreadyDecided
    if any(q.status is OPEN and q.interrupt_id not in ids for q in questions):
        return errors.PartialResume
    resolved = [
        (open_questions[entry.interrupt_id], entry.payload)
        for entry in entries
        if entry.status is RESOLVED and open_questions[entry.interrupt_id].status is OPEN
    ]
    if any(question.expires_at and question.expires_at <= NOW for question, _ in resolved):
        return errors.InterruptExpired
    return next(filter(None, (problem_of(*answer) for answer in resolved)), None)


def problem_of(question, payload):
    """What is wrong with a payload: the class of the refusal, or None."""
    if not offers(question, payload):
        return errors.EditsNotOffered
    return None if fits(question, payload) else errors.InvalidPayload


def offers(question, payload):
    """Whether a payload edits only what the schema says may be edited."""
    named = (question.schema or {}).get("properties", {})
    return not isinstance(payload, dict) or "editedArgs" not in payload or "editedArgs" in named


def fits(question, payload):
    """Whether a payload is an answer to the question."""
    if question.reason == "tool_call" and not approves_or_denies(payload):
        return False
    return RULE_OF[repr(question.schema)](payload)


def refusal_of(entries, questions):
    try:
        check_array(entries=entries, interrupts=questions, now=NOW)
    except errors.RequestRejected as refusal:
        return type(refusal)
    return None


payloads = (
    st.sampled_from([True, False, 0, 1, 2.0, -1, "a", "c", {"n": "x"}, {"n": 1}, None])
    | st.sampled_from([{"approved": True}, {"approved": False, "reason": "no"}])
    | st.sampled_from([{"approved": value} for value in TRUTHY])
    | values
)


@st.composite
def asked_questions(draw):
    names = draw(st.lists(st.sampled_from("abcd"), min_size=1, max_size=4, unique=True))
    return [draw(asked_question(name)) for name in names]


@st.composite
def asked_question(draw, name):
    status = draw(st.sampled_from([OPEN, OPEN, *InterruptStatus]))
    schema, _ = SCHEMAS[draw(st.sampled_from(sorted(SCHEMAS)))]
    reason = draw(st.sampled_from(["confirmation", "tool_call"]))
    late = draw(st.sampled_from([None, None, None, -1, 0, 1, 60]))
    expires_at = None if late is None else NOW + timedelta(seconds=late)
    answer = None
    if status is InterruptStatus.RESOLVED:
        answer = ResumeEntry(name, RESOLVED, draw(payloads))
    elif status is not OPEN:
        answer = ResumeEntry(name, CANCELLED)
    return InterruptState(name, status, reason, expires_at, schema, answer)


@st.composite
def answered(draw, question):
    """An entry for the question that is often right, and often nearly so."""
    if question.answer and draw(st.integers(0, 3)):
        return question.answer
    if draw(st.integers(0, 3)) == 0:
        return ResumeEntry(question.interrupt_id, CANCELLED, draw(st.none() | scalars))
    fitting = [
        value
        for value in (True, 3, "a", {"n": "x"}, {"approved": True}, {"approved": False})
        if fits(question, value)
    ]
    if fitting and draw(st.integers(0, 3)):
        return ResumeEntry(question.interrupt_id, RESOLVED, draw(st.sampled_from(fitting)))
    return ResumeEntry(question.interrupt_id, RESOLVED, draw(payloads))


@st.composite
def arrays(draw):
    """Questions, and a resume array that may be anything from right to nonsense."""
    questions = draw(asked_questions())
    entries = [draw(answered(question)) for question in questions]
    for _ in range(draw(st.sampled_from([0, 0, 0, 1, 2]))):
        entries = draw(forged(entries))
    return draw(st.permutations(entries)), questions


@st.composite
def forged(draw, entries):
    """The array with one thing done to it that an attacker, or a bad client, may do."""
    if not entries:
        return [ResumeEntry("a", RESOLVED, True)]
    at = draw(st.integers(0, len(entries) - 1))
    entry, others = entries[at], [*entries[:at], *entries[at + 1 :]]
    ids = st.sampled_from(["a", "b", "c", "d", *FORGED_IDS])
    payload = entry.payload if isinstance(entry.payload, dict) else {}
    other_status = CANCELLED if entry.status is RESOLVED else RESOLVED
    ways = {
        "drop": lambda: others,
        "repeat": lambda: [*entries, entry],
        "contradict": lambda: [*entries, replace(entry, payload=draw(payloads))],
        "rename": lambda: [*others, replace(entry, interrupt_id=draw(ids))],
        "add": lambda: [*entries, ResumeEntry(draw(ids), RESOLVED, True)],
        "swap status": lambda: [*others, replace(entry, status=other_status)],
        "approve": lambda: [
            *others,
            replace(entry, payload={**payload, "approved": draw(st.sampled_from(TRUTHY))}),
        ],
        "change": lambda: [*others, replace(entry, payload=draw(changed(entry.payload)))],
        "reorder": lambda: draw(st.permutations(entries)),
    }
    return ways[draw(st.sampled_from(sorted(ways)))]()


@generated(350)
@given(arrays())
def test_a_resume_is_accepted_or_refused_as_the_model_says(case):
    entries, questions = case
    expected = expected_refusal(entries, questions)

    assert refusal_of(entries, questions) is expected
    if expected is None:
        fresh = check_array(entries=entries, interrupts=questions, now=NOW)
        open_ids = [question.interrupt_id for question in questions if question.status is OPEN]
        assert [entry.interrupt_id for entry in fresh] == open_ids
        assert all(entry in entries for entry in fresh)


def every_forgery(valid):
    """Every array that is one step away from this one, and a few hundred of them."""
    strays = [ResumeEntry(name, RESOLVED, {"approved": True}) for name in FORGED_IDS]
    yield from (list(order) for order in permutations(valid))
    yield [*valid, *valid]
    for stray in strays:
        yield [*valid, stray]
    for at, entry in enumerate(valid):
        others = [*valid[:at], *valid[at + 1 :]]
        changes = [
            *(replace(entry, interrupt_id=name) for name in FORGED_IDS),
            *(replace(entry, payload=payload) for payload in FORGED_PAYLOADS),
            *(replace(entry, payload={**entry.payload, "approved": it}) for it in TRUTHY),
            replace(entry, status=CANCELLED),
            replace(entry, status=CANCELLED, payload=None),
        ]
        yield others
        for change in changes:
            yield [*others, change]
            yield [change, *others]
            yield [*valid, change]


@st.composite
def valid_resumes(draw):
    """Questions about tool calls, and a valid resume of them."""
    names = draw(st.lists(st.sampled_from("abcd"), min_size=1, max_size=4, unique=True))
    questions = [InterruptState(name, OPEN, "tool_call", None, EDITABLE) for name in names]
    more = st.sampled_from([{}, {"reason": "x"}, {"editedArgs": {"n": 1}}, {"reason": None}])
    return questions, [
        ResumeEntry(name, RESOLVED, {"approved": draw(st.booleans()), **draw(more)})
        for name in names
    ]


@generated(30)
@given(valid_resumes())
def test_a_mutation_of_a_valid_resume_is_accepted_only_if_it_is_one_itself(case):
    questions, valid = case
    names = sorted(question.interrupt_id for question in questions)

    assert refusal_of(valid, questions) is None
    for mutant in every_forgery(valid):
        if refusal_of(mutant, questions) is None:
            assert sorted(entry.interrupt_id for entry in mutant) == names
            assert all(e.status is CANCELLED or approves_or_denies(e.payload) for e in mutant)
        else:
            assert not same_entries(valid, mutant)


@generated(30)
@given(valid_resumes())
def test_only_the_same_decisions_are_a_replay(case):
    questions, valid = case
    by_id = {entry.interrupt_id: entry for entry in valid}
    decided = [
        replace(q, status=InterruptStatus.RESOLVED, answer=by_id[q.interrupt_id]) for q in questions
    ]

    assert not is_replay(entries=valid, interrupts=questions)
    for mutant in every_forgery(valid):
        assert is_replay(entries=mutant, interrupts=decided) == same_entries(mutant, valid)


entries_of_any_kind = st.lists(
    st.builds(ResumeEntry, st.sampled_from("abc"), st.sampled_from(EntryStatus), values),
    max_size=3,
    unique_by=lambda entry: entry.interrupt_id,
)


@generated(120)
@given(entries_of_any_kind, st.data())
def test_fingerprint_ignores_order_and_payloads_of_cancellations(entries, data):
    again = [
        replace(entry, payload=data.draw(values)) if entry.status is CANCELLED else entry
        for entry in data.draw(st.permutations(entries))
    ]

    assert fingerprint(again) == fingerprint(entries)


@generated(200)
@given(entries_of_any_kind.filter(bool), st.data())
def test_a_fingerprint_sees_every_other_change(entries, data):
    mutant = data.draw(forged(entries))

    is_same = fingerprint(mutant) == fingerprint(entries)

    assert is_same == same_entries(mutant, entries)


@generated(100)
@given(asked_questions())
def test_a_resume_is_planned_exactly_when_every_question_is_closed(questions):
    plan = plan_resume(questions)

    if any(question.status is OPEN for question in questions):
        assert plan is None
    else:
        assert plan == [question.answer for question in questions]


# Through the actions


@pytest.fixture
def ask_many(world, as_agent):
    """Start a run that ends with n questions; return it and its interrupts."""
    expected, numbers = {}, count()

    async def play(run_input, ctx):
        interrupts = [
            agui.Interrupt(id=f"{run_input.thread_id}-{number}", reason="confirmation")
            for number in range(0 if ctx.answers else expected["n"])
        ]
        outcome = {"type": "interrupt", "interrupts": interrupts} if interrupts else None
        yield agui.RunFinishedEvent(
            thread_id=run_input.thread_id, run_id=run_input.run_id, outcome=outcome
        )

    agent = as_agent(play)

    def ask(n):
        expected["n"] = n
        run = steps.start(world, "", agent=agent, thread_id=f"t{next(numbers)}")
        return run, steps.open_interrupts(run)

    ask.agent = agent
    return ask


@generated(20)
@given(data=st.data())
def test_run_resumes_when_the_last_interrupt_closes_in_any_order(ask_many, bob, data):
    run, interrupts = ask_many(data.draw(st.integers(1, 4)))
    order = data.draw(st.permutations(interrupts))
    singly = data.draw(st.integers(0, len(order)))

    for interrupt in order[:singly]:
        assert not Run.objects.filter(resumes=run).exists()
        if data.draw(st.booleans()):
            steps.answer(interrupt, bob, data.draw(values))
        else:
            steps.call_off(interrupt, bob)
    if singly < len(order):
        assert not Run.objects.filter(resumes=run).exists()
        remaining = tuple(steps.entry(interrupt, True) for interrupt in order[singly:])
        resume = steps.request(thread_id=run.thread.external_id, entries=remaining)
        start_run(agent=ask_many.agent, request=resume, actor=bob)

    resumed = steps.resumed_run(run)
    assert resumed.status == "succeeded"
    assert Run.objects.filter(thread=run.thread).count() == 2
    assert run.interrupts.exclude(status="open").count() == len(interrupts)


@generated(25)
@given(data=st.data())
def test_a_forged_resume_starts_nothing_and_leaves_the_questions_open(ask_many, bob, data):
    other, others = ask_many(1)
    run, interrupts = ask_many(2)
    valid = [steps.entry(interrupt, True) for interrupt in interrupts]
    foreign = steps.entry(others[0], True)
    forgery = data.draw(
        st.sampled_from(
            [
                [foreign],
                [*valid, foreign],
                [valid[0], foreign],
                valid[:1],
                [*valid, valid[0]],
                [*valid, replace(valid[1], payload=False)],
                [replace(valid[0], interrupt_id=valid[0].interrupt_id.upper()), valid[1]],
                [replace(valid[0], interrupt_id="nowhere"), valid[1]],
                [replace(valid[0], interrupt_id=str(interrupts[0].pk)), valid[1]],
            ]
        )
    )
    entries = tuple(data.draw(st.permutations(forgery)))
    resume = steps.request(thread_id=run.thread.external_id, entries=entries)

    with pytest.raises(errors.ContractError):
        start_run(agent=ask_many.agent, request=resume, actor=bob)

    assert not Run.objects.filter(resumes__in=[run, other]).exists()
    assert len(steps.open_interrupts(run)) == 2
    assert steps.audit_actions(run.thread)[-1] == "resume.rejected"
    start_run(
        agent=ask_many.agent, request=replace(resume, entries=tuple(valid)), actor=bob
    )  # the same with nothing forged


@generated(8)
@given(data=st.data())
def test_the_ids_of_an_earlier_run_answer_no_later_question(world, as_agent, bob, data):
    async def play(run_input, ctx):
        interrupt = agui.Interrupt(id=f"i-{run_input.run_id}", reason="confirmation")
        yield agui.RunFinishedEvent(
            thread_id=run_input.thread_id,
            run_id=run_input.run_id,
            outcome={"type": "interrupt", "interrupts": [interrupt]},
        )

    agent = as_agent(play)
    first = steps.start(world, "", agent=agent)
    earlier = steps.entry(steps.open_interrupts(first)[0], True)
    steps.answer(steps.open_interrupts(first)[0], bob, True)
    second = steps.resumed_run(first)
    forged_again = replace(earlier, payload=data.draw(values.filter(lambda v: v is not True)))
    later = steps.entry(steps.open_interrupts(second)[0], True)

    for entries in ((forged_again,), (forged_again, later), (earlier, later)):
        resume = steps.request(thread_id=first.thread.external_id, entries=entries)
        with pytest.raises(errors.ContractError):
            start_run(agent=agent, request=resume, actor=bob)

    assert Run.objects.filter(thread=first.thread).count() == 2
    assert len(steps.open_interrupts(second)) == 1
