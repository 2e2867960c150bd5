"""Each check of the gate is removed in turn; the matrix notices it at each entrance."""

from datetime import timedelta
from functools import partial

import pytest

from inbox.actions.decisions.decide import (
    DecisionDraft,
    authorize,
    decide,
    record_decisions,
)
from inbox.models.locks import lock_thread
from inbox.queries.runs.interrupt_states import interrupt_state
from inbox.rules import errors
from inbox.rules.decisions.gate import CHECKS, Check, Entrance
from inbox.rules.people.access import POLICY
from inbox.rules.runs.states import EntryStatus
from inbox.rules.schema.secrets import MASK
from tests.integration.gate.test_answer_gate import (
    CONDITIONS,
    DECIDED,
    NAMES_EDITS,
    NO_EDITS,
    scene,
)
from tests.support.steps import (
    APPROVE,
    entry,
    open_interrupts,
    start,
)

__all__ = ["scene"]

#: The condition of the matrix that each check refuses.
REFUSED_BY = {
    Check.ACTOR: "may_not_decide_any_more",
    Check.AUDIT: "audit_sink_lags",
    Check.ENTRANCE: "inbox_only",
    Check.CLAIM: "claimed_by_another",
    Check.TIME: "expired",
    Check.VIEW_REQUIRED: "no_digest",
    Check.VIEW: "view_changed_before_the_lock",
    Check.BULK: "not_in_bulk",
    Check.PAYLOAD: "wrong_payload",
    Check.MASKS: "mask_sent",
    Check.SEEN: "masked_value",
    Check.RESTORED: "restored",
    Check.POLICY: "self_approval",
    Check.OVERRIDE: "may_not_override",
    Check.LINK: "policy_names_no_way",
}
#: What the entrance makes sure of before, so that the gate is tested by itself below.
SEEN_TO_BEFORE = {
    (Entrance.PAGE, Check.VIEW_REQUIRED),
    (Entrance.PAGE, Check.PAYLOAD),
    (Entrance.PAGE, Check.MASKS),
    (Entrance.OVERRIDE_PAGE, Check.VIEW_REQUIRED),
    (Entrance.OVERRIDE_PAGE, Check.PAYLOAD),
    (Entrance.OVERRIDE_PAGE, Check.MASKS),
    (Entrance.BULK_PAGE, Check.PAYLOAD),
    (Entrance.BULK_PAGE, Check.MASKS),
    (Entrance.CHAT, Check.PAYLOAD),
    (Entrance.CHAT, Check.MASKS),
    (Entrance.LINK, Check.PAYLOAD),
    (Entrance.LINK, Check.MASKS),
    (Entrance.REQUESTER, Check.REQUESTER),
    (Entrance.POLICY, Check.TIME),
    (Entrance.POLICY, Check.PAYLOAD),
}
PAIRS = [
    pytest.param(entrance, check, id=f"{entrance}-{check}")
    for entrance in Entrance
    for check in Check
    if check in CHECKS[entrance] and (entrance, check) not in SEEN_TO_BEFORE
]


@pytest.mark.parametrize(("entrance", "check"), PAIRS)
def test_without_a_check_the_matrix_has_another_code(scene, monkeypatch, entrance, check):
    (condition,) = (condition for condition in CONDITIONS if str(condition) == REFUSED_BY[check])
    way = next(
        way for way, code in condition.codes.items() if way.entrance is entrance and code != DECIDED
    )
    mutated_scene = scene(condition.args, condition.schema)
    condition.arrange(mutated_scene)
    monkeypatch.setitem(CHECKS, entrance, CHECKS[entrance] - {check})

    assert way.answer(mutated_scene) != condition.codes[way]


# -- what entrances see to before ------------------------------------------------------------------


@pytest.fixture
def approve(scene):
    def approve(entrance, payload=APPROVE, *, schema=NO_EDITS, has_digest=True):
        own_scene = scene({"amount": 1}, schema)
        return decide(
            interrupt_id=own_scene.interrupt.pk,
            status=EntryStatus.RESOLVED,
            payload=payload,
            view_digest=own_scene.sent_digest if has_digest else "",
            actor=own_scene.world.actor(own_scene.world.bob),
            entrance=entrance,
        )

    return approve


@pytest.mark.parametrize(
    "entrance", [Entrance.PAGE, Entrance.BULK_PAGE, Entrance.CHAT, Entrance.LINK]
)
@pytest.mark.parametrize(
    ("payload", "schema"),
    [
        ({"approved": "perhaps"}, NO_EDITS),
        ({**APPROVE, "editedArgs": {"amount": MASK}}, NAMES_EDITS),
    ],
    ids=["payload", "mask"],
)
def test_the_gate_refuses_what_forms_do_not_send(approve, entrance, payload, schema):
    with pytest.raises(errors.InvalidPayload):
        approve(entrance, payload, schema=schema)


def test_the_gate_refuses_an_answer_of_the_page_without_a_digest(approve):
    with pytest.raises(errors.ViewDigestRequired):
        approve(Entrance.PAGE, has_digest=False)


@pytest.mark.parametrize(
    ("payload", "age", "refusal"),
    [
        ({"approved": "perhaps"}, timedelta(), errors.InvalidPayload),
        (APPROVE, timedelta(days=30), errors.InterruptExpired),
    ],
)
def test_the_gate_refuses_answers_of_a_policy_that_do_not_fit(world, payload, age, refusal):
    run = start(world, "rehearse:tool_call")
    (interrupt,) = open_interrupts(run)
    draft = DecisionDraft(interrupt, interrupt_state(interrupt, None), entry(interrupt, payload))
    thread, now = lock_thread(run.thread_id)
    authorization = authorize(thread=thread, now=now + age, actor=POLICY, entrance=Entrance.POLICY)

    with pytest.raises(refusal):
        record_decisions(authorization, run=run, drafts=[draft])


def test_requesters_cancel_only_what_they_started_and_may_run(world, bob, carol):
    run = start(world, "rehearse:tool_call")
    (interrupt,) = open_interrupts(run)
    draft = DecisionDraft(
        interrupt, interrupt_state(interrupt, None), entry(interrupt, cancelled=True)
    )
    thread, now = lock_thread(run.thread_id)
    as_requester = partial(authorize, thread=thread, now=now, entrance=Entrance.REQUESTER)

    with pytest.raises(errors.NotFound):
        as_requester(actor=carol)
    with pytest.raises(errors.Forbidden):
        record_decisions(as_requester(actor=bob), run=run, drafts=[draft])
