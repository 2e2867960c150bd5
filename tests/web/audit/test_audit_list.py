"""The list of tool calls: rows by day, who decided, what ran, and the strip that filters by day."""

import re
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from django.utils import timezone

from inbox.models import ToolCall
from inbox.queries.audit import tool_calls
from tests.support.policies.published import administrator, publish, rule, tool_is, up_to
from tests.support.policies.refunds import proposals
from tests.support.steps import approve, deny, open_interrupts, resumed_run, start
from tests.support.web.pages import words
from tests.web.decisions.test_metrics import move

TWO = {"slots": [{"role": "reviewer"}, {"role": "reviewer"}]}
TODAY = "Today, "


@pytest.fixture
def decided(world, bob):
    """Calls that Bob approved (two), and rejected (three)."""
    for settle in (approve, approve, deny, deny, deny):
        (interrupt,) = open_interrupts(start(world, "rehearse:tool_call"))
        settle(interrupt, bob)
        resumed_run(interrupt.run)
    return list(ToolCall.objects.order_by("pk"))


def today():
    return datetime.now(UTC).date()


def row_of(reader, call, query=""):
    page = reader.get(f"/audit/{query}").content.decode()
    return re.search(rf'<tr id="call-{call.pk}">.*?</tr>', page, re.DOTALL)[0]


def plain(markup):
    return " ".join(re.sub(r"<[^>]+>", " ", markup).split())


def test_rows_have_a_time_under_the_heading_of_their_day(reads_ana, decided):
    page = reads_ana.get("/audit/").content.decode()

    assert page.count(TODAY) == 1
    clock = decided[0].proposed_at.strftime("%H:%M")
    assert f">{clock}</time>" in row_of(reads_ana, decided[0])
    assert "<time" in page
    assert str(today()) not in plain(page)


def test_a_row_has_the_face_and_the_name_of_who_decided(reads_ana, decided, world):
    row = row_of(reads_ana, decided[0])

    assert 'class="av av-' in row
    assert "Bob" in plain(row)
    assert "Approved:" in plain(row)
    assert "Rejected:" in plain(row_of(reads_ana, decided[-1]))
    assert "Not run" in plain(row_of(reads_ana, decided[-1]))


def test_both_people_of_two_have_faces_and_are_found(reads_ana, world, bob, as_agent):
    publish(world, rule("two", "ask", tool_is("refund"), require=TWO))
    dana = administrator(world, "dana")
    agent = as_agent(proposals([{"amount": 5}]))
    (interrupt,) = open_interrupts(start(world, "go", agent=agent))
    approve(interrupt, dana)
    approve(interrupt, bob)
    call = ToolCall.objects.get(name="refund")

    row = row_of(reads_ana, call)

    assert row.count('class="av av-') == 2
    assert "Dana, Bob" in plain(row)
    for name in ("dana", "BOB"):
        assert str(call.pk) in reads_ana.get(f"/audit/?q={name}").content.decode()
    assert str(call.pk) not in reads_ana.get("/audit/?q=carol").content.decode()


def test_a_name_whose_decision_was_withdrawn_finds_nothing(reads_ana, world, bob):
    from inbox.actions.decisions.withdrawals import withdraw_decision
    from inbox.actions.people.members import change_team
    from inbox.rules.people.access import SEED

    change_team(team_id=world.team.pk, grace_seconds=60, actor=SEED)
    (interrupt,) = open_interrupts(start(world, "rehearse:tool_call"))
    deny(interrupt, bob)
    assert "call-" in reads_ana.get("/audit/?q=bob").content.decode()

    withdraw_decision(interrupt_id=interrupt.pk, actor=bob)

    assert "call-" not in reads_ana.get("/audit/?q=bob").content.decode()


def test_a_call_that_the_policy_allowed_ran_by_rule(reads_ana, world, as_agent):
    publish(world, rule("small", "allow", tool_is("refund"), up_to(50)))
    start(world, "go", agent=as_agent(proposals([{"amount": 35}])))
    call = ToolCall.objects.get(name="refund")

    assert "Ran by rule:" in plain(row_of(reads_ana, call))
    assert "The policy" in plain(row_of(reads_ana, call))
    counts = tool_calls.count_by_day(administrator(world), tool_calls.CallFilter(), [today()])
    assert counts.by_day[today()] == {"rule": 1}


def test_a_call_that_the_policy_denied_is_no_rejection(reads_ana, decided, world):
    ToolCall.objects.filter(pk=decided[-1].pk).update(decided_by="system:policy")

    row = row_of(reads_ana, decided[-1])
    page = reads_ana.get(f"/audit/calls/{decided[-1].pk}/")

    assert "Denied by rule:" in plain(row)
    assert "Rejected" not in plain(row)
    assert 'class="c-rule"' in row
    assert re.search(r'<td class="call-after">at once</td>', row)
    assert "Denied by rule" in words(page)
    assert not re.search(r"after \d+ m?s Started", words(page))
    assert "Rejected:" in plain(row_of(reads_ana, decided[-2]))


def test_a_result_is_words_and_not_json(reads_ana, decided):
    ToolCall.objects.filter(pk=decided[0].pk).update(
        state="settled",
        started_at=timezone.now(),
        settled_at=timezone.now(),
        result='{"id": "rf_9021", "status": "refunded"}',
    )

    row = row_of(reads_ana, decided[0])

    assert "Refunded, rf_9021" in row
    assert "{" not in plain(row)


def strip(reader, query=""):
    return reader.get(f"/audit/{query}").content.decode()


def test_the_strip_says_what_it_shows_and_has_a_link_for_each_day(reads_ana, decided, bob):
    page = strip(reads_ana)

    assert re.search(r'aria-label="5 calls in 30 days, most on \d+ \w+\."', page)
    assert page.count("f-approved") - page.count('class="f-approved" cx') == 1
    assert f'href="/audit/?since={today()}&amp;until={today()}"' in page
    assert "As a table" in page
    assert page.count('tabindex="-1" title=') == 30


def test_a_chosen_day_is_marked_counted_and_chosen_off_again(reads_ana, decided, world):
    (interrupt,) = open_interrupts(start(world, "rehearse:tool_call"))
    move(interrupt, 3)
    day = today() - timedelta(days=3)
    page = strip(reads_ana, f"?since={day}&until={day}")

    assert "f-chosen" in page
    assert "1 of 7 calls" in words(reads_ana.get(f"/audit/?since={day}&until={day}"))
    assert page.count('id="call-') == 1
    assert 'href="/audit/?"' in page


def test_the_strip_keeps_the_other_filters(reads_ana, decided):
    page = strip(reads_ana, "?agent=rehearsal")

    assert f'href="/audit/?agent=rehearsal&amp;since={today()}&amp;until={today()}"' in page
    assert "No calls in 30 days" not in strip(reads_ana, "?agent=rehearsal&decision=denied")


def test_fewer_than_five_calls_are_a_sentence(reads_ana, decided):
    page = reads_ana.get("/audit/?decision=denied")
    single = ToolCall.objects.filter(verdict="denied").first()
    ToolCall.objects.filter(pk=single.pk).update(verdict="edited")

    assert "3 calls in 30 days, most on" in words(page)
    assert "1 call in 30 days, on" in words(reads_ana.get("/audit/?decision=edited"))
    assert "<figure" not in page.content.decode()


def test_a_search_for_words_has_no_strip_of_other_calls(reads_ana, decided):
    assert "<figure" not in strip(reads_ana, "?q=mail")


def test_days_of_long_ago_and_long_spans_have_their_own_columns(reads_ana, decided):
    long_ago = strip(reads_ana, "?since=2020-01-01&until=2020-01-31")
    long = strip(reads_ana, f"?since={today() - timedelta(days=400)}")

    assert "No tool calls match." in long_ago
    assert long.count('tabindex="-1" title=') == 90
    assert strip(reads_ana, "?until=0001-01-02")
    assert strip(reads_ana, "?since=9999-12-31")


def test_of_too_many_calls_the_latest_whole_days_are_counted(reads_ana, decided, monkeypatch):
    for days in (2, 3, 4):
        move(decided[0].interrupts.get(), days)
    monkeypatch.setattr(tool_calls, "MAX_COUNTED", 6)

    page = words(reads_ana.get("/audit/"))

    assert "Only calls since" in page
    assert "6 calls in 30 days" in reads_ana.get("/audit/").content.decode()


@pytest.mark.parametrize("most", [1, 2, 5])
def test_later_calls_do_not_hide_the_counts_of_days_long_ago(reads_ana, decided, monkeypatch, most):
    move(decided[0].interrupts.get(), 100)
    monkeypatch.setattr(tool_calls, "MAX_COUNTED", most)
    day = today() - timedelta(days=100)

    text = words(reads_ana.get(f"/audit/?since={day}&until={day}"))

    assert "1 of 1 call" in text
    assert "Only calls since" not in text


@pytest.mark.parametrize("path", ["/audit/", "/audit/metrics/"])
def test_days_are_those_of_the_reader_on_every_page(reads_ana, decided, path):
    # A zone in which the day is another one than in UTC.
    name = "Pacific/Kiritimati" if datetime.now(UTC).hour >= 11 else "Pacific/Pago_Pago"
    reads_ana.client.cookies["zone"] = name
    day = decided[0].proposed_at.astimezone(ZoneInfo(name)).date()
    assert day != decided[0].proposed_at.date()
    only, other = (f"?since={on}&until={on}" for on in (day, decided[0].proposed_at.date()))

    page = reads_ana.get(path).content.decode().replace("&amp;", "&")

    assert re.search(rf'href="/audit/{re.escape(only)}".*title="[^"]+: 5"', page)
    assert "UTC" not in plain(page)
    assert "5 of 5 calls" in words(reads_ana.get(f"/audit/{only}"))
    assert len(re.findall('id="call-', strip(reads_ana, only))) == 5
    assert "call-" not in strip(reads_ana, other)


def test_chosen_days_are_in_words(reads_ana, decided):
    text = words(reads_ana.get("/audit/?since=2020-03-05&until=2020-11-09"))

    assert "From: 5 Mar 2020" in text
    assert "To: 9 Nov 2020" in text


def test_nobody_gets_counts_of_another_team(decided, carol, bob):
    filters = tool_calls.CallFilter()

    assert not tool_calls.count_by_day(carol, filters, [today()]).by_day[today()]
    assert tool_calls.count_by_day(bob, filters, [today()]).by_day[today()] == {
        "approved": 2,
        "denied": 3,
    }


def test_more_rows_cost_no_more_queries(
    reads_ana, decided, world, bob, django_assert_max_num_queries
):
    with django_assert_max_num_queries(60) as first:
        reads_ana.get("/audit/")
    (interrupt,) = open_interrupts(start(world, "rehearse:tool_call"))
    approve(interrupt, bob)

    with django_assert_max_num_queries(len(first)):
        reads_ana.get("/audit/")
