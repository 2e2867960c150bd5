"""Programs and people that act on one request at the same moment."""

from collections import Counter
from functools import partial

import pytest

from inbox.actions.decisions.decide import decide
from inbox.actions.idempotency import IdempotencyKey
from inbox.actions.requests.ask import ask
from inbox.actions.requests.call_permits import revoke_call, start_call
from inbox.actions.requests.call_reports import Report, report_call
from inbox.actions.requests.due_calls import settle_due_calls
from inbox.actions.requests.withdraw_request import withdraw_request
from inbox.actions.runs import tool_calls
from inbox.models import AgentRequest, AuditEntry, Decision, Event, Interrupt, Run, ToolCall
from inbox.queries.people.api_keys import actor_of_header
from inbox.rules import errors
from inbox.rules.decisions.consent import digest
from inbox.rules.decisions.gate import Entrance
from inbox.rules.people.access import SEED
from inbox.rules.requests.drafts import ItemDraft, RequestDraft
from inbox.rules.requests.execution import Execution
from inbox.rules.requests.request_states import ReportedOutcome
from inbox.rules.runs.states import EntryStatus
from tests.support.limits import limit_teams
from tests.support.races.concurrently import Meeting, at_once, failures, rounds
from tests.support.requests.programs import make_program

pytestmark = pytest.mark.services

ARGS = '{"amount":4750}'


@pytest.fixture
def program(committed_world):
    return actor_of_header(f"Bearer {make_program(committed_world)}", "127.0.0.1")


@pytest.fixture
def new_request(program):
    """Ask for a call, and return the request."""
    from inbox.models import Agent

    agent = Agent.objects.select_related("team").get(slug="ci")

    def make(key="", **members):
        execution = Execution(**members.pop("execution", {}))
        item = ItemDraft("1", title="Refund?", tool="refund", args={"amount": 4750})
        draft = RequestDraft(
            [ItemDraft(**{**vars(item), "execution": execution})],
            **{"session": "s", **members},
        )
        idempotency = IdempotencyKey(key=key, request="the same") if key else IdempotencyKey()
        return ask(agent=agent, draft=draft, actor=program, idempotency=idempotency).request

    return make


@pytest.fixture(autouse=True)
def _ask_without_limits(settings):
    limit_teams(settings, agent_requests_per_minute=100_000, agent_open_requests=100_000)


def answer(request, actor, *, approved=True):
    interrupt = Interrupt.objects.get(thread=request.thread_id)
    return decide(
        interrupt_id=interrupt.pk,
        status=EntryStatus.RESOLVED,
        payload={"approved": approved},
        actor=actor,
        view_digest=interrupt.shown_digest,
        entrance=Entrance.PAGE,
    )


def starting(request, program, attempt="a"):
    return partial(
        start_call,
        request_id=request.pk,
        item_id="1",
        attempt=attempt,
        args_digest=digest(ARGS),
        actor=program,
    )


def kinds(outcomes):
    return Counter(type(outcome).__name__ for outcome in outcomes)


def actions(request):
    return Counter(
        AuditEntry.objects.filter(thread=request.thread_id).values_list("action", flat=True)
    )


def test_sixteen_attempts_get_one_permit(new_request, program, race_bob):
    for _ in range(rounds(short=10, long=50)):
        request = new_request()
        answer(request, race_bob)

        outcomes = at_once([starting(request, program, f"attempt {n}") for n in range(16)])

        assert kinds(outcomes) == {"StartedCall": 1, "CallStarted": 15}
        assert actions(request)["tool.started"] == 1
        types = Event.objects.filter(thread=request.thread_id).values_list("type", flat=True)
        assert list(types).count("RUN_STARTED") == 2


def test_without_the_lock_two_attempts_find_the_call_waiting(
    new_request, program, race_bob, monkeypatch, without_the_lock, without_the_trail
):
    request = new_request()
    answer(request, race_bob)
    meeting = Meeting(2)
    # Both have read the call, and neither has started it.
    monkeypatch.setattr(tool_calls, "denying_rules", meeting.before(tool_calls.denying_rules))

    outcomes = at_once([starting(request, program, name) for name in "ab"])

    assert without_the_lock.entries
    assert meeting.met
    # The log's numbers are the last line of defence: RUN_STARTED cannot be stored twice.
    assert kinds(outcomes) == {"StartedCall": 1, "IntegrityError": 1}


def test_the_same_attempt_gets_the_same_answer_at_once(new_request, program, race_bob):
    request = new_request()
    answer(request, race_bob)

    outcomes = at_once([starting(request, program)] * 8)

    assert failures(outcomes) == []
    assert sum(not outcome.replayed for outcome in outcomes) == 1
    assert len({outcome.call.pk for outcome in outcomes}) == 1


def test_a_withdrawal_and_an_answer_have_one_winner(new_request, program, race_bob):
    winners = Counter()
    for _ in range(rounds(short=30, long=1_000)):
        request = new_request()

        outcomes = at_once(
            [
                partial(withdraw_request, request_id=request.pk, actor=program),
                partial(answer, request, race_bob),
            ]
        )

        request.refresh_from_db()
        decision = Decision.objects.get(interrupt__thread=request.thread_id)
        by = "withdrawal" if decision.actor_label == "system:withdrawal" else "bob"
        winners[by] += 1
        lost = {"withdrawal": "AlreadyDecided", "bob": "RequestDecided"}[by]
        assert kinds(failures(outcomes)) == {lost: 1}
        assert request.status == {"withdrawal": "withdrawn", "bob": "decided"}[by]
        assert Run.objects.filter(thread=request.thread_id, resumes__isnull=False).count() == 1
    assert sum(winners.values()) == rounds(short=30, long=1_000)


def test_a_start_never_comes_before_the_answer(new_request, program, race_bob):
    for _ in range(rounds(short=20, long=200)):
        request = new_request()

        decision, started = at_once(
            [partial(answer, request, race_bob), starting(request, program)]
        )

        assert not isinstance(decision, Exception)
        assert type(started).__name__ in ("StartedCall", "NotApproved")
        call = ToolCall.objects.get(thread=request.thread_id)
        assert call.state == ("started" if type(started).__name__ == "StartedCall" else "proposed")


def test_a_call_starts_or_lapses(new_request, program, race_bob):
    from django.db.models.functions import Now

    for _ in range(rounds(short=20, long=200)):
        request = new_request()
        answer(request, race_bob)
        ToolCall.objects.filter(thread=request.thread_id).update(start_before=Now())

        lapsed, started = at_once(
            [
                partial(settle_due_calls, thread_id=request.thread_id),
                starting(request, program),
            ]
        )

        assert lapsed is None
        assert isinstance(started, errors.ApprovalEnded)
        request.refresh_from_db()
        assert request.status == "lapsed"
        assert actions(request)["tool.lapsed"] == 1


def test_a_call_is_started_or_revoked(new_request, program, race_bob):
    for _ in range(rounds(short=20, long=200)):
        request = new_request()
        answer(request, race_bob)

        revoked, started = at_once(
            [
                partial(revoke_call, request_id=request.pk, item_id="1", actor=SEED),
                starting(request, program),
            ]
        )

        outcome = (type(revoked).__name__, type(started).__name__)
        assert outcome in [("ToolCall", "ApprovalEnded"), ("CallStarted", "StartedCall")]


def test_equal_calls_ask_once(new_request, program):
    for number in range(rounds(short=10, long=50)):
        outcomes = at_once([partial(new_request, attach=True, session=f"s{number}")] * 8)

        assert failures(outcomes) == []
        assert len({request.pk for request in outcomes}) == 1
        assert AgentRequest.objects.filter(session__external_id=f"s{number}").count() == 1


def test_the_same_idempotency_key_asks_once(new_request):
    outcomes = at_once([partial(new_request, key="k")] * 8)

    assert failures(outcomes) == []
    assert AgentRequest.objects.count() == 1


def test_one_of_two_reports_counts(new_request, program, race_bob):
    for _ in range(rounds(short=10, long=100)):
        request = new_request()
        answer(request, race_bob)
        starting(request, program)()

        outcomes = at_once(
            [
                partial(
                    report_call,
                    request_id=request.pk,
                    item_id="1",
                    report=Report("a", outcome),
                    actor=program,
                )
                for outcome in (ReportedOutcome.SUCCEEDED, ReportedOutcome.FAILED)
            ]
        )

        assert kinds(outcomes) == {"ReportedCall": 1, "AlreadyReported": 1}
        assert actions(request)["tool.settled"] == 1


def test_a_report_and_the_end_of_a_lease_have_one_winner(new_request, program, race_bob):
    from django.db.models.functions import Now

    for _ in range(rounds(short=10, long=100)):
        request = new_request()
        answer(request, race_bob)
        starting(request, program)()
        ToolCall.objects.filter(thread=request.thread_id).update(lease_until=Now())

        report = Report("a", ReportedOutcome.SUCCEEDED)
        settled, reported = at_once(
            [
                partial(settle_due_calls, thread_id=request.thread_id),
                partial(
                    report_call, request_id=request.pk, item_id="1", report=report, actor=program
                ),
            ]
        )

        assert settled is None
        assert reported.late
        doubts = Interrupt.objects.filter(
            thread=request.thread_id, reason="signoff:outcome_unknown"
        )
        assert doubts.count() == 1


def test_a_revoked_key_starts_nothing(new_request, program, race_bob):
    from inbox.models import ApiKey
    from inbox.platform.clock import database_now

    request = new_request()
    answer(request, race_bob)
    ApiKey.objects.filter(pk=program.key_id).update(revoked_at=database_now())

    with pytest.raises(errors.Unauthenticated):
        starting(request, program)()

    assert ToolCall.objects.get(thread=request.thread_id).state == "proposed"
