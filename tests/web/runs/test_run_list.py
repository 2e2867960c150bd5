"""The list of runs: a row for each thread, with its bar on the axis of its day."""

import re
from datetime import timedelta
from zoneinfo import ZoneInfo

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from inbox.actions.runs.start_run import start_run
from inbox.models import Thread
from tests.support.steps import approve, deny, open_interrupts, request, resumed_run, start
from tests.support.web.pages import words


def approved(run, actor):
    """The run that resumes this one after the approval of its request."""
    (interrupt,) = open_interrupts(run)
    approve(interrupt, actor)
    return resumed_run(run)


def rows_of(page):
    """The words of each row."""
    text = page.content.decode()
    rows = re.findall(r'<li class="runs-row".*?</li>', text, re.DOTALL)
    return [words(type("Row", (), {"content": row.encode()})) for row in rows]


def bars_of(page):
    """The bars of each row, as (phase, x, width)."""
    text = page.content.decode()
    rows = re.findall(r'<li class="runs-row".*?</li>', text, re.DOTALL)
    pattern = r'<rect class="is-(\w+)" x="([\d.]+)" width="([\d.]+)"'
    return [
        [(phase, float(x), float(width)) for phase, x, width in re.findall(pattern, row)]
        for row in rows
    ]


def test_the_runs_are_listed_with_their_state_the_latest_first(world, reads_bob):
    start(world, "rehearse:echo")
    start(world, "rehearse:error")

    failed, finished = rows_of(reads_bob.get("/runs/"))

    assert failed.startswith("Failed. rehearse:error")
    assert "AGENT_ERROR" in failed
    assert finished.startswith("Finished. rehearse:echo")


@pytest.mark.parametrize(
    ("query", "titles"),
    [
        ("state=failed", ["rehearse:error"]),
        ("state=succeeded", ["rehearse:echo"]),
        ("state=interrupted", ["rehearse:tool_call"]),
        ("state=active", []),
        ("state=everything", ["rehearse:tool_call", "rehearse:error", "rehearse:echo"]),
        ("q=ECHO", ["rehearse:echo"]),
        ("q=rehearse+echo", ["rehearse:echo"]),
        ("q=%25", []),
        ("agent=rehearsal&q=error", ["rehearse:error"]),
        ("agent=nobody", []),
        ("since=9999-12-31", []),
        ("until=0001-01-01", []),
        ("since=0001-01-01&until=9999-12-31&q=echo", ["rehearse:echo"]),
        ("since=tomorrow&q=echo", ["rehearse:echo"]),
    ],
)
def test_the_list_is_narrowed_by_its_address(world, reads_bob, query, titles):
    for scenario in ("echo", "error", "tool_call"):
        start(world, f"rehearse:{scenario}")

    page = reads_bob.get(f"/runs/?{query}")

    assert page.status_code == 200
    assert [re.search(r"rehearse:\w+", row).group() for row in rows_of(page)] == titles


def test_search_finds_a_thread_by_each_of_its_ids(world, reads_bob, reads_carol):
    run = start(world, "rehearse:echo")
    start(world, "rehearse:echo")

    for name in (run.pk, run.thread_id, run.external_id, run.thread.external_id):
        (row,) = re.findall(r'id="runs-([\w-]+)-link"', _html(reads_bob, f"/runs/?q={name}"))
        assert row == str(run.thread_id)
        assert rows_of(reads_carol.get(f"/runs/?q={name}")) == []


def test_days_of_the_filter_are_those_of_the_reader(world, reads_bob, later):
    run = start(world, "rehearse:echo")
    reads_bob.client.cookies["zone"] = "Pacific/Kiritimati"
    local = run.queued_at.astimezone(ZoneInfo("Pacific/Kiritimati"))
    day, next_day = local.date(), local.date() + timedelta(days=1)

    assert len(rows_of(reads_bob.get(f"/runs/?since={day}&until={day}"))) == 1
    assert rows_of(reads_bob.get(f"/runs/?since={next_day}")) == []
    assert f'id="day-{day}"' in _html(reads_bob, "/runs/")


@pytest.mark.parametrize(
    ("day", "label"), [("2020-03-05", "5 Mar 2020"), ("2024-12-31", "31 Dec 2024")]
)
def test_chosen_days_are_in_words(reads_bob, world, day, label):
    text = words(reads_bob.get(f"/runs/?since={day}&until={day}"))

    assert f"From: {label}" in text
    assert f"To: {label}" in text


def test_links_of_the_filters_keep_the_others(world, reads_bob):
    page = _html(reads_bob, "/runs/?agent=rehearsal&state=failed&q=a+b")

    assert 'href="/runs/?q=a+b&amp;state=active&amp;agent=rehearsal"' in page
    assert 'href="/runs/?state=failed&amp;agent=rehearsal"' in page
    assert 'name="state" value="failed"' in page


def test_bars_of_a_day_share_an_axis(world, bob, reads_bob, later):
    asking = start(world, "rehearse:tool_call")
    later(minutes=20)
    approved(asking, bob)
    later(minutes=30)
    start(world, "rehearse:error")

    (failed,), bars = bars_of(reads_bob.get("/runs/"))

    assert [phase for phase, _, _ in bars] == ["ran", "waited", "ran"]
    (_, wait_x, wait_width), (_, resume_x, _) = bars[1:]
    assert failed[0] == "failed"
    assert wait_x + wait_width == pytest.approx(resume_x, abs=3)
    # 20 minutes of waiting, and 30 to the failure, on the same axis.
    assert (failed[1] - bars[0][1]) / wait_width == pytest.approx(1.5, abs=0.1)


def test_row_says_how_long_people_were_waited_for(world, bob, reads_bob, later):
    asking = start(world, "rehearse:tool_call")
    later(minutes=24)
    approved(asking, bob)

    (row,) = rows_of(reads_bob.get("/runs/"))

    assert re.search(r"Bob waited 24 min( \d s)? Took 24 min", row), row


def test_row_says_how_many_requests_wait_and_the_head_counts_threads(world, alice, reads_bob):
    start(world, "rehearse:parallel3")
    start_run(agent=world.agent, request=request("go"), actor=alice)

    page = reads_bob.get("/runs/")

    assert "3 requests wait" in rows_of(page)[1]
    assert "1 running, 1 waits for people" in words(page)


def test_request_that_expired_was_answered_by_nobody_in_time(world, reads_bob, later):
    from inbox import sweeper

    start(world, "rehearse:tool_call")
    later(days=8)
    sweeper.sweep()

    assert "nobody in time" in rows_of(reads_bob.get("/runs/"))[0]


def test_runs_of_a_thread_are_one_row_in_the_place_of_the_latest(world, bob, reads_bob):
    asking = start(world, "rehearse:tool_call")
    start(world, "rehearse:echo")
    approved(asking, bob)

    first, second = rows_of(reads_bob.get("/runs/"))

    assert first.startswith("Finished. rehearse:tool_call")
    assert "rehearse:echo" in second


def test_a_thread_is_on_the_page_of_its_latest_run_only(world, bob, reads_bob):
    asking = start(world, "rehearse:tool_call")
    start(world, "rehearse:echo")
    resume = approved(asking, bob)

    (row,) = rows_of(reads_bob.get(f"/runs/?after={resume.pk}"))

    assert "rehearse:echo" in row


def test_runs_that_wait_do_not_include_those_that_were_resumed(world, bob, reads_bob):
    asking = start(world, "rehearse:tool_call")
    start(world, "rehearse:confirmation")
    approved(asking, bob)

    (row,) = rows_of(reads_bob.get("/runs/?state=interrupted"))

    assert "rehearse:confirmation" in row


def test_run_that_failed_and_was_followed_by_a_good_one_is_no_failure(world, reads_bob):
    run = start(world, "rehearse:error")
    start(world, "rehearse:echo", thread_id=run.thread.external_id)

    assert rows_of(reads_bob.get("/runs/?state=failed")) == []
    (bars,) = bars_of(reads_bob.get("/runs/"))
    assert [phase for phase, _, _ in bars] == ["failed", "ran"]


def test_the_list_of_runs_makes_as_many_queries_for_many_threads(world, bob, reads_bob):
    approved(start(world, "rehearse:tool_call"), bob)
    with CaptureQueriesContext(connection) as first:
        reads_bob.get("/runs/")
    for scenario in ("echo", "parallel3", "error", "confirmation"):
        start(world, f"rehearse:{scenario}")
    deny(open_interrupts(start(world, "rehearse:tool_call"))[0], bob)

    with CaptureQueriesContext(connection) as several:
        reads_bob.get("/runs/")

    assert len(several) <= len(first)


def test_a_list_without_runs_says_how_to_start_one(reads_bob):
    page = reads_bob.get("/runs/")

    assert "No agent has run yet." in words(page)
    assert 'href="/runs/new/"' in page.content.decode()


def test_a_list_without_a_match_leads_to_all_runs(world, reads_bob):
    start(world, "rehearse:echo")

    page = words(reads_bob.get("/runs/?q=nothing"))

    assert "No runs match. Show all runs" in page


def test_more_runs_than_fit_are_on_the_next_page(world, reads_bob):
    runs = [start(world, "rehearse:echo") for _ in range(51)]

    first = reads_bob.get("/runs/?agent=rehearsal")
    second = reads_bob.get(f"/runs/?agent=rehearsal&after={runs[1].pk}")

    assert len(rows_of(first)) == 50
    assert f"?agent=rehearsal&amp;after={runs[1].pk}" in first.content.decode()
    assert len(rows_of(second)) == 1


def test_strangers_see_no_runs(world, reads_carol):
    start(world, "rehearse:echo")

    assert "rehearse:echo" not in words(reads_carol.get("/runs/"))


def test_hostile_titles_are_text(world, reads_bob):
    start(world, "rehearse:echo")
    Thread.objects.update(title="<b>bold</b>\u202e")

    page = _html(reads_bob, "/runs/?q=bold")

    assert "&lt;b&gt;bold" in page
    assert "\u202e" not in page


def test_the_address_of_the_list_of_threads_leads_to_the_runs(reads_bob):
    response = reads_bob.get("/threads/")

    assert (response.status_code, response.url) == (303, "/runs/")


def _html(reader, path):
    return reader.get(path).content.decode()
