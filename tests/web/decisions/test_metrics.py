"""The figures of the audit trail: by day, by tool, and how long answers took."""

import json
import re
from datetime import UTC, date, datetime, timedelta
from uuid import UUID
from zoneinfo import ZoneInfo

import pytest
from django.utils import translation

from inbox.models import Interrupt, ToolCall
from inbox.queries.decisions import metrics
from inbox.queries.decisions.metrics import metrics_for
from inbox.rules.decisions.metrics import OutcomeCounts, days_ending, decision_times
from inbox.web.base.numbers import number_text, percent_text
from tests.support.steps import (
    approve,
    deny,
    open_interrupts,
    reread,
    resumed_run,
    start,
)
from tests.support.web.pages import words


def last_days(count):
    """Asked for in the test itself: the tests may have been collected yesterday."""
    return days_ending(datetime.now(UTC).date(), count)


@pytest.fixture
def five(world, bob):
    """Two calls approved, one of them with changes, one rejected, one expired, one that waits."""
    from inbox.rules.runs.states import ToolCallOutcome

    def ask():
        (interrupt,) = open_interrupts(start(world, "rehearse:tool_call"))
        return interrupt

    approved, edited, denied, expired, waiting = (ask() for _ in range(5))
    approve(approved, bob)
    approve(edited, bob, editedArgs={**json.loads(edited.args), "subject": "Another"})
    deny(denied, bob)
    for interrupt in (approved, edited, denied):
        resumed_run(interrupt.run)
    ToolCall.objects.filter(pk=expired.tool_call_id).update(verdict=ToolCallOutcome.EXPIRED)
    Interrupt.objects.filter(pk=expired.pk).update(status="expired", closed_at=datetime.now(UTC))
    for interrupt, seconds in ((approved, 10), (edited, 20), (denied, 60)):
        closed = reread(interrupt).created_at + timedelta(seconds=seconds)
        Interrupt.objects.filter(pk=interrupt.pk).update(closed_at=closed)
    return approved, edited, denied, expired, waiting


def move(interrupt, days):
    """Let a call have been proposed so many days ago: its key says when."""
    call = ToolCall.objects.get(pk=interrupt.tool_call_id)
    old = call.pk
    milliseconds = (old.int >> 80) - days * 86_400_000
    call.pk = UUID(int=(milliseconds << 80) | (old.int & ((1 << 80) - 1)))
    call.tool_call_id = f"{call.tool_call_id}-{days}"
    call.save(force_insert=True)


def test_the_figures_say_what_came_of_the_calls(five, bob):
    metrics = metrics_for(bob, last_days(7))

    assert metrics.counts.by_outcome == {
        "approved": 1,
        "edited": 1,
        "denied": 1,
        "expired": 1,
        "": 1,
    }
    assert (metrics.counts.approval_rate, metrics.counts.edit_rate) == (2 / 3, 1 / 2)
    assert (metrics.times.count, metrics.times.median, metrics.times.p90) == (3, 20, 60)
    assert (metrics.expired, metrics.pending, metrics.oldest) == (1, 1, five[-1])
    assert [counts.all for _, counts in metrics.by_day] == [0, 0, 0, 0, 0, 0, 5]
    ((tool, (counts, times)),) = metrics.by_tool.items()
    assert (tool, counts.all, times.median) == ("send_email", 5, 20)


def test_each_call_counts_on_the_day_on_which_it_was_proposed(five, bob):
    for days in (1, 6, 7, 29, 30):
        move(five[0], days)

    week = metrics_for(bob, last_days(7))
    month = metrics_for(bob, last_days(30))

    assert [counts.all for _, counts in week.by_day] == [1, 0, 0, 0, 0, 1, 5]
    assert month.counts.all == 9
    assert month.by_day[0][1].approved == 1


def test_nobody_gets_figures_of_another_team(five, carol, bob):
    assert metrics_for(carol, last_days(7)).counts.all == 0
    assert metrics_for(carol, last_days(7), team="tests").counts.all == 0
    assert metrics_for(carol, last_days(7)).oldest is None
    assert metrics_for(bob, last_days(7), team="others").counts.all == 0
    assert metrics_for(bob, last_days(7), team="tests").counts.all == 5


def test_of_too_many_calls_the_latest_whole_days_are_counted(five, bob, monkeypatch):
    for days in (1, 2, 3):
        move(five[0], days)
    monkeypatch.setattr(metrics, "MAX_CALLS", 6)

    figures = metrics_for(bob, last_days(7))

    assert figures.since == last_days(7)[-2]
    assert [counts.all for _, counts in figures.by_day] == [0, 0, 0, 0, 0, 1, 5]


def test_of_too_many_answers_the_latest_are_timed(five, bob, monkeypatch):
    monkeypatch.setattr(metrics, "MAX_ANSWERS", 2)

    figures = metrics_for(bob, last_days(7))

    assert figures.is_sampled
    assert figures.times.count == 2


def test_more_rows_cost_no_more_queries(five, bob, django_assert_num_queries, world):
    with django_assert_num_queries(7):
        metrics_for(bob, last_days(7))
    move(five[0], 3)
    start(world, "rehearse:tool_call")

    with django_assert_num_queries(7):
        metrics_for(bob, last_days(90))


@pytest.mark.parametrize(
    ("seconds", "median", "p90"),
    [
        ([], None, None),
        ([5], 5, 5),
        ([3, 1, 2], 2, 3),
        (range(1, 11), 5, 9),
        (range(1, 101), 50, 90),
    ],
)
def test_a_percentile_is_one_of_the_values(seconds, median, p90):
    times = decision_times(list(seconds))

    assert (times.median, times.p90) == (median, p90)


def test_without_a_decision_there_is_no_rate():
    counts = OutcomeCounts({"": 3, "answered": 1, "cancelled": 1})

    assert (counts.approval_rate, counts.edit_rate) == (None, None)
    assert counts.all == 5


def test_days_end_today():
    assert days_ending(date(2026, 3, 1), 3) == [
        date(2026, 2, 27),
        date(2026, 2, 28),
        date(2026, 3, 1),
    ]


# -- the page -------------------------------------------------------------------------------------


def test_the_page_has_the_figures_in_words(five, reads_bob):
    page = reads_bob.get("/audit/metrics/?days=7")
    text = words(page)

    assert "Tool calls 5" in text
    assert "Approval rate 67 %" in text
    assert "Edited before approval 50 %" in text
    assert "Median response time 20 s" in text
    assert "Expired requests 1" in text
    assert f'href="/interrupts/{five[-1].pk}/"' in page.content.decode()
    assert re.search(r"\d+ \w+ 0 1 1 1 1 1", text)
    assert f'href="/audit/?tool=send_email&amp;since={last_days(7)[0]}"' in page.content.decode()
    assert "1 edited" in text
    assert "90\N{NO-BREAK SPACE}% within 1 min" in page.content.decode()
    assert not re.search(r"\d{4}-\d\d-\d\d", text)


def test_no_person_is_named_or_ranked(five, reads_bob):
    page = reads_bob.get("/audit/metrics/?days=7").content.decode()
    main = page[page.index('id="detail"') :]

    assert "Bob" not in main
    assert not re.search(r"[?;]by=(?!system)", main)


def test_calls_that_the_policy_allowed_are_apart_from_those_of_people(five, reads_bob, bob):
    ToolCall.objects.filter(verdict="approved").update(decided_by="system:policy")

    figures = metrics_for(bob, last_days(7))

    assert (figures.counts.by_rule, figures.counts.approved) == (1, 1)
    assert "Ran by rule 1" in words(reads_bob.get("/audit/metrics/?days=7"))


def test_denials_by_rule_are_not_in_the_approval_rate(five, reads_bob, bob, world):
    for _ in range(3):
        (interrupt,) = open_interrupts(start(world, "rehearse:tool_call"))
        ToolCall.objects.filter(pk=interrupt.tool_call_id).update(
            verdict="denied", decided_by="system:policy"
        )
    ToolCall.objects.filter(pk=five[2].tool_call_id).update(verdict="")

    figures = metrics_for(bob, last_days(7))
    text = words(reads_bob.get("/audit/metrics/?days=7"))

    assert figures.counts.by_outcome["denied by rule"] == 3
    assert (figures.counts.approval_rate, figures.counts.denied) == (1, 0)
    assert "Approval rate 100 %" in text
    assert re.search(r"\d+ \w+ 3 1 1 0 1 2", text), "the series of what a rule decided"
    assert "Decided by rule" in text


@pytest.mark.parametrize(
    ("approved", "denied", "text"),
    [(1, 299, "under 1 %"), (1, 200, "under 1 %"), (1, 99, "1 %"), (0, 5, "0 %"), (5, 0, "100 %")],
)
def test_a_small_share_is_not_none(approved, denied, text):
    rate = OutcomeCounts({"approved": approved, "denied": denied}).approval_rate

    with translation.override("en"):
        assert percent_text(rate) == text.replace(" %", "\N{NO-BREAK SPACE}%")


def test_without_answers_there_is_no_time_of_most_of_them(world, reads_bob):
    start(world, "rehearse:tool_call")

    text = words(reads_bob.get("/audit/metrics/?days=7"))

    assert "Median response time \N{EN DASH}" in text
    assert "within" not in text


def test_waits_are_by_weekday_and_hour_of_the_zone(five, bob):
    opened = datetime(2026, 3, 2, 23, 30, tzinfo=UTC)
    for number, interrupt in enumerate(five[:3]):
        times = {"created_at": opened, "closed_at": opened + timedelta(minutes=number + 1)}
        Interrupt.objects.filter(pk=interrupt.pk).update(**times)
    days = days_ending(date(2026, 3, 8), 7)

    for zone, hour in ((UTC, (0, 23)), (ZoneInfo("Europe/Berlin"), (1, 0))):
        ((when, times),) = metrics_for(bob, days, zone=zone).by_hour.items()
        assert (when, times.count, times.median) == (hour, 3, 120)


def test_few_answers_are_a_sentence_and_many_a_picture(five, world, bob, reads_bob):
    page = reads_bob.get("/audit/metrics/").content.decode()
    assert "Most requests come on" in page
    assert 'class="heat"' not in page
    for _ in range(2):
        (interrupt,) = open_interrupts(start(world, "rehearse:tool_call"))
        approve(interrupt, bob)

    page = reads_bob.get("/audit/metrics/").content.decode()

    assert 'class="heat"' in page
    assert page.count("As a table") == 2
    assert re.findall(r'"level-(\d)" width="10"', page) == ["0", "1", "2", "3", "4"]
    assert "Days and hours are in your time zone." in page


@pytest.mark.parametrize(
    ("language", "text"),
    [("en", "4,212"), ("de", "4.212"), ("it", "4.212")],
)
def test_counts_are_in_the_format_of_the_reader(language, text):
    with translation.override(language):
        assert number_text(4212) == text


def test_counts_of_charts_and_tables_are_grouped(five, world, client, monkeypatch):
    (call,) = ToolCall.objects.filter(pk=five[0].tool_call_id)
    calls = []
    for number in range(1, 1200):
        fields = {field.attname: getattr(call, field.attname) for field in call._meta.fields}
        fields |= {"id": UUID(int=call.pk.int + number), "tool_call_id": f"call-{number}"}
        calls.append(ToolCall(**fields))
    ToolCall.objects.bulk_create(calls)
    client.force_login(world.bob)
    pages = ["/audit/metrics/?days=7", "/audit/", f"/audit/?since={last_days(1)[0]}"]

    for language, text in (("en", "1,204"), ("de", "1.204")):
        client.cookies["django_language"] = language
        for page in pages:
            markup = client.get(page).content.decode()
            assert text in markup
            assert not re.search(r"\b120[0-4]\b", re.sub(r"#icon|[xyd]=\"[^\"]*\"", "", markup))


def test_more_pending_requests_than_a_badge_shows_are_counted(world, reads_bob):
    start(world, "rehearse:parallel:120")

    assert "Pending requests 120" in words(reads_bob.get("/audit/metrics/?days=7"))


def test_german_writes_the_chart_in_the_numbers_of_svg(five, world, client):
    client.force_login(world.bob)
    client.cookies["django_language"] = "de"

    text = client.get("/audit/metrics/?days=7").content.decode()

    assert '<rect class="f-approved" x="61" y="80.0" width="8" height="20.0"/>' in text
    assert 'viewBox="0 0 70 100"' in text


def test_without_anything_the_page_says_so(world, reads_bob):
    page = reads_bob.get("/audit/metrics/")

    assert "No tool calls or decisions in this period." in words(page)
    assert "<table" not in page.content.decode()


@pytest.mark.parametrize(
    "query", ["days=5", "days=-1", "days=x", "days=%D9%A7", "team=%00x", "team=no"]
)
def test_nonsense_in_the_address_is_no_error(five, reads_bob, query):
    page = reads_bob.get(f"/audit/metrics/?{query}")

    assert page.status_code == 200
    assert "30 days" in words(page)


def test_a_hostile_name_of_a_tool_is_text(five, reads_bob):
    ToolCall.objects.update(name='<b onclick="x">')

    page = reads_bob.get("/audit/metrics/").content.decode()

    assert "<b onclick" not in page
    assert "?tool=%3Cb+onclick%3D%22x%22%3E" in page


def test_a_name_that_turns_the_page_around_shows_what_does_it(five, world, client):
    from inbox.models import Membership, Team

    ToolCall.objects.update(name="pay\u202edne")
    others = Team.objects.get(slug="others")
    Team.objects.filter(pk=others.pk).update(name="Oth\u202eers")
    Membership.objects.create(team=others, user=world.bob, role="viewer")
    client.force_login(world.bob)

    page = client.get("/audit/metrics/").content.decode()

    assert "\u202e" not in page


def test_of_many_tools_the_most_called_are_listed_and_the_rest_is_counted(five, reads_bob):
    (call,) = ToolCall.objects.filter(pk=five[0].tool_call_id)
    for number in range(30):
        call.pk = UUID(int=call.pk.int + 1)
        call.name, call.tool_call_id = f"tool-{number}", f"call-{number}"
        call.save(force_insert=True)

    page = reads_bob.get("/audit/metrics/?days=7")

    assert page.content.decode().count('href="/audit/?tool=') == 25
    assert "and 6 more tools with fewer calls" in words(page)


def test_more_calls_than_are_counted_in_one_day_are_said_and_no_error(five, reads_bob, monkeypatch):
    monkeypatch.setattr(metrics, "MAX_CALLS", 1)

    page = reads_bob.get("/audit/metrics/?days=7")

    assert "Only calls since" in words(page)
    assert "Pending requests 1" in words(page)


def test_days_that_are_not_counted_have_no_row(five, reads_bob, monkeypatch):
    for days in (1, 2, 3):
        move(five[0], days)
    monkeypatch.setattr(metrics, "MAX_CALLS", 6)

    page = reads_bob.get("/audit/metrics/?days=7").content.decode()

    assert page.count('<th scope="row"><a href="/audit/?since=') == 2


def test_an_answer_from_before_its_question_took_no_time(five, reads_bob):
    for interrupt in five[:3]:
        closed = reread(interrupt).created_at - timedelta(days=2)
        Interrupt.objects.filter(pk=interrupt.pk).update(closed_at=closed)

    assert "Median response time 0 ms" in words(reads_bob.get("/audit/metrics/"))


def test_who_is_in_two_teams_chooses_one(five, world, client):
    from inbox.models import Membership, Team

    others = Team.objects.get(slug="others")
    Membership.objects.create(team=others, user=world.bob, role="viewer")
    client.force_login(world.bob)

    page = client.get("/audit/metrics/?team=others&days=7")

    assert "No tool calls or decisions" in words(page)
    assert '<option value="others" selected>' in page.content.decode()
    assert "Which teams decide" in words(client.get("/audit/metrics/?days=7"))
    assert "/audit/metrics/?days=90&amp;team=others" in page.content.decode()


# -- beside the days before -----------------------------------------------------------------------


def test_figures_are_compared_with_the_days_before(five, reads_bob, bob):
    assert "than before" not in words(reads_bob.get("/audit/metrics/?days=7"))
    for days in (8, 9):
        move(five[0], days)
    move(five[2], 13)
    before = days_ending(last_days(7)[0] - timedelta(days=1), 7)

    earlier = metrics.earlier_figures(bob, before)
    text = words(reads_bob.get("/audit/metrics/?days=7"))

    assert (earlier.counts.all, earlier.counts.approved, earlier.times.count) == (3, 2, 0)
    assert "Tool calls 5 2 more than before" in text
    assert "Approval rate 67 % as before" in text
    assert "Edited before approval 50 % 50 points more" in text
    assert "Expired requests 1 1 more than before" in text


def test_the_days_before_are_those_of_the_same_team(five, carol):
    assert metrics.earlier_figures(carol, last_days(7)).is_empty


def test_too_many_calls_before_are_not_compared(five, bob, monkeypatch):
    monkeypatch.setattr(metrics, "MAX_CALLS", 1)
    move(five[0], 1)

    assert metrics.earlier_figures(bob, last_days(7)) is None


def test_the_first_month_begins_with_its_first_call(five, reads_bob):
    move(five[0], 10)

    first = reads_bob.get("/audit/metrics/").content.decode()
    move(five[0], 40)
    later = reads_bob.get("/audit/metrics/").content.decode()

    assert 'viewBox="0 0 110 100"' in first
    assert 'viewBox="0 0 300 100"' in later
