"""The pages of the audit trail: a row for each call, one call with its proof, and the search."""

import json
import re

import pytest
from django.utils import timezone

from inbox.actions.audit.erasure import erase_thread
from inbox.actions.decisions.claims_and_comments import add_comment, claim_interrupt
from inbox.forms.values import ABSENT
from inbox.models import Agent, AuditEntry, Run, ToolCall
from inbox.platform import append_only_triggers
from inbox.queries.audit import tool_calls
from inbox.queries.decisions import merge_pages
from inbox.rules.people.access import SEED
from inbox.rules.schema.secrets import MASK
from inbox.web.audit.argument_rows import argument_rows
from inbox.web.audit.audit_rows import call_row
from tests.integration.audit.conftest import auditor, log_directory, log_snapshot
from tests.support.agents.agent_events import about, asking, proposed
from tests.support.limits import limit_teams
from tests.support.requests.programs import program
from tests.support.steps import (
    approve,
    deny,
    open_interrupts,
    resumed_run,
    start,
)
from tests.support.web.fresh_sign_in import sign_in
from tests.support.web.pages import words

__all__ = ["auditor", "log_directory", "log_snapshot", "program"]


@pytest.fixture
def edited(world, bob):
    """The call of a run whose arguments Bob has changed, and that was then made."""
    run = start(world, "rehearse:tool_call")
    (interrupt,) = open_interrupts(run)
    claim_interrupt(interrupt_id=interrupt.pk, actor=bob)
    args = {**json.loads(interrupt.args), "subject": "Changed by Bob"}
    approve(interrupt, bob, editedArgs=args)
    resumed_run(run)
    return ToolCall.objects.get(run=run)


@pytest.fixture
def denied(world, bob):
    run = start(world, "rehearse:tool_call")
    (interrupt,) = open_interrupts(run)
    deny(interrupt, bob)
    resumed_run(run)
    return ToolCall.objects.get(run=run)


@pytest.fixture
def waiting(world):
    run = start(world, "rehearse:tool_call")
    return ToolCall.objects.get(run=run)


def path(call):
    return f"/audit/calls/{call.pk}/"


def listed(reader, query=""):
    """The ids of the calls that are listed, the first one first."""
    import re

    page = reader.get(f"/audit/{query}").content.decode()
    return re.findall(r'id="call-([0-9a-f-]{36})"', page)


def ids(*rows):
    return [str(row.pk) for row in rows]


def test_the_list_says_who_decided_what_with_which_changes(reads_ana, edited):
    text = words(reads_ana.get("/audit/"))

    assert "Changes: subject" in text
    assert "to Changed by Bob" in text
    assert "Approved with changes: " in text


def test_calls_are_found_by_what_was_decided_by_whom_and_by_time(
    reads_ana, edited, denied, waiting, world, bob
):
    today = edited.proposed_at.date()

    assert listed(reads_ana) == ids(waiting, denied, edited)
    assert listed(reads_ana, "?decision=edited") == ids(edited)
    assert listed(reads_ana, "?decision=denied") == ids(denied)
    assert listed(reads_ana, "?decision=none") == ids(waiting)
    assert listed(reads_ana, f"?by={bob.user_id}") == ids(denied, edited)
    assert listed(reads_ana, f"?by={bob.user_id}&decision=denied") == ids(denied)
    assert listed(reads_ana, "?agent=rehearsal&decision=denied") == ids(denied)
    assert listed(reads_ana, "?agent=nobody") == []
    assert listed(reads_ana, f"?tool={edited.name}&q=changed+by+BOB") == ids(edited)
    assert listed(reads_ana, "?tool=other") == []
    assert listed(reads_ana, f"?since={today}") == ids(waiting, denied, edited)
    assert listed(reads_ana, "?until=2020-01-01") == []
    assert listed(reads_ana, "?since=2999-01-01") == []


def test_a_withdrawn_answer_is_no_verdict(reads_ana, world, bob):
    from inbox.actions.decisions.withdrawals import withdraw_decision
    from inbox.actions.people.members import change_team

    change_team(team_id=world.team.pk, grace_seconds=60, actor=SEED)
    run = start(world, "rehearse:tool_call")
    (interrupt,) = open_interrupts(run)
    deny(interrupt, bob)
    assert ToolCall.objects.get(run=run).verdict == "denied"

    withdraw_decision(interrupt_id=interrupt.pk, actor=bob)

    call = ToolCall.objects.get(run=run)
    assert (call.verdict, call.decided_by) == ("", "")
    assert words(reads_ana.get(path(call))).count("Matches the audit trail.") == 1


def test_nonsense_in_the_address_is_said_and_ignored(reads_ana, edited):
    page = reads_ana.get("/audit/?decision=perhaps&since=yesterday&until=9999-12-31&after=x")

    assert "were ignored: Decision, From." in words(page)
    assert listed(reads_ana, "?decision=perhaps&after=x&until=9999-12-31") == ids(edited)


@pytest.mark.parametrize("which", ["tool_call_id", "pk"])
def test_the_id_of_a_call_leads_straight_to_it(reads_ana, edited, denied, which):
    response = reads_ana.get(f"/audit/?q={getattr(edited, which)}")

    assert (response.status_code, response.headers["Location"]) == (302, path(edited))


def test_a_stranger_finds_nothing_by_an_id(edited, world, client):
    sign_in(client, world.carol)

    assert client.get(f"/audit/?q={edited.pk}").status_code == 200
    assert client.get(f"/audit/?q={edited.tool_call_id}").status_code == 200
    assert str(edited.pk) not in client.get("/audit/").content.decode()
    assert client.get(path(edited)).status_code == 404
    assert client.get(f"/audit/threads/{edited.thread_id}/").status_code == 404


def test_a_search_that_no_index_answers_goes_on_from_page_to_page(
    reads_ana, edited, denied, waiting, monkeypatch
):
    monkeypatch.setattr(merge_pages, "MAX_ROWS_SEARCHED", 2)
    first = reads_ana.get("/audit/?q=changed").content.decode()

    assert listed(reads_ana, "?q=changed") == []
    assert "Only the latest calls were searched" in first
    assert listed(reads_ana, f"?q=changed&after={denied.pk}") == ids(edited)


def test_a_page_goes_on_behind_its_last_row(reads_ana, edited, denied, waiting, monkeypatch):
    from inbox.web.audit import audit_pages

    monkeypatch.setattr(audit_pages, "_PAGE", 2)

    assert listed(reads_ana) == ids(waiting, denied)
    assert f"after={denied.pk}" in reads_ana.get("/audit/").content.decode()
    assert listed(reads_ana, f"?after={denied.pk}") == ids(edited)


def test_a_call_shows_its_three_sets_of_arguments_and_who_did_what(reads_ana, edited):
    text = words(reads_ana.get(path(edited)))

    assert "Executed as approved" in text
    assert "Executed differently from what was approved" not in text
    assert "Bob claimed this" in text
    assert "Bob approved with changes" in text
    assert "rehearsal started the tool" in text
    assert "Matches the audit trail." in text
    last = AuditEntry.objects.filter(tool_call=edited).latest("seq")
    assert last.hash in reads_ana.get(path(edited)).content.decode()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"args": "{}"}, "different proposed arguments"),
        ({"edited_args": '{"subject":"Forged"}'}, "different approved arguments"),
        ({"edited_args": '{"subject":"Forged"}'}, "different executed arguments"),
        ({"result": "forged"}, "a different result"),
    ],
)
def test_a_row_that_somebody_changed_does_not_agree(reads_ana, edited, change, message):
    ToolCall.objects.filter(pk=edited.pk).update(**change)

    page = words(reads_ana.get(path(edited)))

    assert message in page
    assert "Matches the audit trail." not in page


def test_an_entry_behind_those_that_are_listed_is_compared_as_well(reads_ana, edited, monkeypatch):
    monkeypatch.setattr(tool_calls, "MAX_LISTED", 1)
    ToolCall.objects.filter(pk=edited.pk).update(result="forged")

    page = words(reads_ana.get(path(edited)))

    assert "a different result" in page
    assert "The thread's history has more entries." in page


def test_the_page_says_how_far_it_has_compared(reads_ana, edited, monkeypatch):
    monkeypatch.setattr(tool_calls, "MAX_COMPARED", 2)

    page = words(reads_ana.get(path(edited)))

    assert re.search(r"Matches the last \d audit entries of this call. Earlier entries", page)
    assert "Matches the audit trail." not in page


def test_comments_do_not_push_evidence_out_of_the_comparison(
    world, reads_ana, edited, bob, monkeypatch
):
    """Whoever may read can write as many comments, and have as many answers refused."""
    monkeypatch.setattr(tool_calls, "MAX_COMPARED", 5)
    interrupt = edited.interrupts.get()
    for number in range(7):
        add_comment(interrupt_id=interrupt.pk, actor=bob, text=f"Number {number}")
    ToolCall.objects.filter(pk=edited.pk).update(result="forged")

    page = words(reads_ana.get(path(edited)))

    assert "a different result" in page
    assert "Earlier entries" not in page


@pytest.mark.parametrize("body", ["{", "[]", '{"actor": 1}', '{"actor": {}, "state": 5}'])
def test_an_entry_that_somebody_changed_is_said_to_be(reads_ana, edited, body):
    from django.db import connection

    append_only_triggers.remove(connection)
    AuditEntry.objects.filter(tool_call=edited, action="tool.started").update(body=body)

    for page in (path(edited), f"/audit/threads/{edited.thread_id}/"):
        response = reads_ana.get(page)
        assert response.status_code == 200
        assert "Modified after it was written" in words(response)


def test_the_history_of_a_thread_says_everything_and_what_was_erased(reads_ana, edited):
    history = f"/audit/threads/{edited.thread_id}/"
    page = reads_ana.get(history).content.decode()
    assert page.count('class="entry"') == AuditEntry.objects.filter(chain=edited.thread_id).count()
    assert "Changed by Bob" in page

    erase_thread(thread_id=edited.thread_id, reason="asked for", actor=SEED)

    assert "Changed by Bob" not in reads_ana.get(history).content.decode()
    assert "Names and texts erased" in words(reads_ana.get(history))
    assert "except for what was erased" in words(reads_ana.get(path(edited)))


def test_threads_and_calls_lead_to_the_history(reads_ana, edited):
    link = f'href="/audit/threads/{edited.thread_id}/"'

    assert link in reads_ana.get(f"/threads/{edited.thread_id}/").content.decode()
    assert link in reads_ana.get(path(edited)).content.decode()


@pytest.fixture
def sealed(edited, auditor):
    """A sealed log with a call that was edited."""
    from inbox import transparency_log

    transparency_log.append_and_sign()
    return edited


def exported(reader, **fields):
    answer = reader.client.post("/audit/export", {"format": "csv", **fields})
    return answer, answer.getvalue().decode() if answer.status_code == 200 else ""


def test_whoever_administers_takes_the_trail_along_and_nobody_else(
    reads_ana, reads_bob, sealed, world
):
    history = f"/audit/threads/{sealed.thread_id}/"
    for page in ("/audit/", history):
        assert 'action="/audit/export"' in reads_ana.get(page).content.decode()
        assert 'action="/audit/export"' not in reads_bob.get(page).content.decode()

    answer, table = exported(reads_ana, team=world.team.slug)
    assert answer.headers["Content-Type"] == "text/csv; charset=utf-8"
    assert "attachment" in answer.headers["Content-Disposition"]
    assert "no-store" in answer.headers["Cache-Control"]
    assert "Changed by Bob" in table
    assert exported(reads_bob, team=world.team.slug)[0].status_code == 403
    assert "You exported this" not in words(reads_ana.get(history))
    exported(reads_ana, thread=str(sealed.thread_id))
    assert "You exported this" in words(reads_ana.get(history))


def test_an_export_is_narrowed_as_the_list_is(reads_ana, sealed, world):
    page = reads_ana.get(f"/audit/?tool={sealed.name}&decision=edited").content.decode()
    assert f'<input type="hidden" name="tool" value="{sealed.name}">' in page

    narrowed = {"team": world.team.slug, "tool": sealed.name, "decision": "edited"}
    _, table = exported(reads_ana, **narrowed)

    assert "interrupt.resolved" in table
    assert "run.started" not in table
    assert exported(reads_ana, **{**narrowed, "decision": "denied"})[1].count("\r\n") == 1


@pytest.mark.parametrize("fields", [{"format": "pdf"}, {"since": "yesterday"}, {"thread": "x"}])
def test_an_export_that_makes_no_sense_says_so(reads_ana, sealed, fields):
    answer, _ = exported(reads_ana, **fields)

    assert answer.status_code == 422
    assert "Nothing was exported" in words(answer)


def test_a_row_has_the_title_of_its_request_and_no_id(reads_ana, edited):
    (interrupt,) = edited.interrupts.all()

    text = words(reads_ana.get("/audit/"))

    assert interrupt.title in text
    assert edited.tool_call_id not in text
    assert edited.tool_call_id in words(reads_ana.get(path(edited)))


def test_calls_are_found_by_words_of_their_titles(reads_ana, edited):
    (interrupt,) = edited.interrupts.all()
    interrupt.title = "Invoice of the printer"
    interrupt.save(update_fields=["title"])

    assert listed(reads_ana, "?q=PRINTER") == ids(edited)
    assert listed(reads_ana, "?q=plotter") == []


def test_lines_that_differ_are_marked_in_the_sets_of_arguments(reads_ana, edited):
    page = reads_ana.get(path(edited)).content.decode()
    before = json.loads(edited.args)["subject"]

    assert f"<del>  &quot;subject&quot;: &quot;{before}&quot;" in page
    assert page.count("<ins>  &quot;subject&quot;: &quot;Changed by Bob&quot;") == 1


def test_each_argument_is_a_row_with_the_difference_in_each_column(reads_ana, edited):
    page = reads_ana.get(path(edited)).content.decode()
    row = page.partition(">subject</bdi>")[2].partition("</tr>")[0]
    before = json.loads(edited.args)["subject"]

    assert [kind for kind, _ in re.findall(r"<(del|ins)>(.*?)</", row, re.S)] == [
        "del",
        "ins",
        "ins",
    ]
    assert re.sub(r"<[^>]+>", " ", row).split() == [
        *before.split(),
        *(["Changed", "by", "Bob"] * 2),
    ]


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ((5, "5", "5"), [("5", "del"), ('"5"', "ins"), ('"5"', "ins")]),
        (("a", "a", "b"), [("a", ""), ("a", ""), ("b", "other")]),
        (("a", ABSENT, "a"), [("a", ""), None, ("a", "")]),
        ((True, 1, 1), [("true", "del"), ("1", "ins"), ("1", "ins")]),
        (("<b>\u202e", "", ""), [("<b>⟨U+202E⟩", "del"), ("", "ins"), ("", "ins")]),
    ],
)
def test_values_that_differ_are_told_apart(values, expected):
    sets = [value if value is ABSENT else {"x": value} for value in values]

    (row,) = argument_rows(sets)

    assert [cell and (cell.text, cell.mark) for cell in row.cells] == expected


def test_an_argument_that_was_approved_and_not_executed_is_marked():
    (row,) = argument_rows([{"a": 1}, {"a": 1}, {}])

    assert (row.cells[2].text, row.cells[2].mark) == ("missing", "other")


def test_an_argument_that_was_removed_is_marked_and_long_ones_fold():
    removed, folded = argument_rows([{"a": 1, "b": "x" * 300}, {"b": "x" * 300}, ABSENT])

    assert (removed.cells[0].mark, removed.cells[1]) == ("del", None)
    assert folded.cells[0].beginning == "x" * 100 + "…"


def proposing(args):
    """An agent that asks for an approval of a call with these arguments."""

    async def play(run_input, _context):
        for event in proposed(args=json.dumps(args)):
            yield event
        yield asking(run_input, about())

    return play


def test_a_changed_secret_is_marked_without_its_value(reads_bob, world, bob, as_agent):
    args = {"password": "canary-1", "user": "kim"}
    (interrupt,) = open_interrupts(start(world, "go", agent=as_agent(proposing(args))))
    approve(interrupt, bob, editedArgs={**args, "password": "canary-2"})

    page = reads_bob.get(f"/audit/calls/{interrupt.tool_call_id}/").content.decode()

    assert f"<del>  &quot;password&quot;: &quot;{MASK}&quot;" in page
    assert f"<ins>  &quot;password&quot;: &quot;{MASK}&quot;" in page
    assert "canary-" not in page


RAN, FAILED, UNASKED = "Ran without approval", "Run stopped before", "Never asked"


def test_calls_of_a_run_that_failed_at_a_limit_did_not_run(reads_ana, world, settings):
    limit_teams(settings, open_requests=2)
    start(world, "rehearse:parallel3")

    for page in (
        words(reads_ana.get("/audit/")),
        words(reads_ana.get(path(ToolCall.objects.first()))),
    ):
        assert UNASKED in page
        assert FAILED in page
        assert RAN not in page


@pytest.mark.parametrize(
    ("state", "run_status", "expected"),
    [
        ("proposed", "succeeded", (UNASKED, "")),
        ("not_run", "cancelled", (UNASKED, "")),
        ("proposed", "failed", (UNASKED, FAILED)),
        ("settled", "succeeded", (RAN, "")),
        ("settled", "failed", (RAN, "")),
        ("started", "running", (RAN, "")),
        ("in_doubt", "failed", (RAN, "")),
    ],
)
def test_only_calls_that_ran_ran_without_approval(state, run_status, expected):
    call = ToolCall(name="pay", args="{}", state=state, proposed_at=timezone.now())
    call.agent, call.run = Agent(slug="desk"), Run(status=run_status)
    if expected[0] == RAN:
        call.started_at = timezone.now()

    row = call_row(call, [], url="/")

    assert (row.verdict, row.by) == expected


def test_calls_are_found_by_the_title_that_a_program_gave(reads_ana, program):
    program.ask(title="Refund for the broken kettle", tool="refund", args={"amount": 5})
    call = ToolCall.objects.get(name="refund")

    assert listed(reads_ana, "?q=kettle") == ids(call)
    assert listed(reads_ana, "?q=toaster") == []


@pytest.mark.parametrize("depth", [450, 500, 800])
def test_a_result_that_is_nested_deeply_is_no_error(reads_ana, edited, depth):
    ToolCall.objects.filter(pk=edited.pk).update(result="[" * depth + "1" + "]" * depth)

    assert reads_ana.get("/audit/").status_code == 200
    assert reads_ana.get(path(edited)).status_code == 200
