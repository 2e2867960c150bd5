"""The waterfall of a thread: what happened when, with a link to each."""

import re

import pytest
from ag_ui.core import RunFinishedEvent
from django.db import connection
from django.test.utils import CaptureQueriesContext

from inbox.actions.runs.start_run import start_run
from tests.support.agents.agent_events import about, asking, proposed
from tests.support.steps import approve, deny, open_interrupts, request, resumed_run, start
from tests.support.web.pages import words

#: The units of a bar's width.
WIDTH = 500


def html_of(reader, thread_id, query=""):
    page = reader.get(f"/threads/{thread_id}/{query}").content.decode()
    return page.partition('id="waterfall"')[2].partition("</section>")[0]


def text_of(html):
    return words(type("Part", (), {"content": html.encode()}))


def bars_of(html, phase):
    """The (x, width) of the bars of this kind."""
    bars = re.findall(rf'<rect class="is-{phase}" x="([\d.]+)" width="([\d.]+)"', html)
    return [(float(x), float(width)) for x, width in bars]


def covered(bars):
    """The width that bars cover together."""
    total, end = 0.0, 0.0
    for x, width in sorted(bars):
        total += max(0.0, x + width - max(x, end))
        end = max(end, x + width)
    return total


def percent_of(html, name):
    match = re.search(rf"<dt>{name}</dt><dd>[^<]*<span class=\"quiet\">(\d+)", html)
    return int(match.group(1))


def test_a_thread_shows_runs_requests_decisions_and_calls_in_order(ask, bob, reads_bob, later):
    interrupt = ask("tool_call")
    later(minutes=5)
    approve(interrupt, bob)
    resumed_run(interrupt.run)

    html = html_of(reads_bob, interrupt.thread_id)

    text = text_of(html).partition("Steps")[2]
    parts = ["Run 1 started by Alice", interrupt.title, "You approved", "Run 2 resumed after"]
    places = [text.index(part) for part in parts]
    assert places == sorted(places)
    assert text.index(interrupt.title, places[-1]) > places[-1]  # the call, in the run that made it
    call = interrupt.tool_call_id
    for link in (
        f"/interrupts/{interrupt.pk}/",
        f"/audit/calls/{call}/",
        f"#run-{interrupt.run_id}",
    ):
        assert f'href="{link}"' in html


def test_waits_add_up_to_the_share_of_the_page(world, bob, reads_bob, later):
    first, second, third = open_interrupts(start(world, "rehearse:parallel3"))
    later(minutes=10)
    approve(first, bob)
    later(minutes=30)
    deny(second, bob)
    later(minutes=45)
    approve(third, bob)
    resumed_run(third.run)
    later(minutes=60)
    start(world, "rehearse:echo", thread_id=third.thread.external_id)

    html = html_of(reads_bob, third.thread_id)

    starts = [x for x, _ in bars_of(html, "ran")]
    assert len(bars_of(html, "waited")) == 3
    assert percent_of(html, "waited for people") == 75
    assert covered(bars_of(html, "waited")) / (starts[-1] - starts[0]) == pytest.approx(
        0.75, abs=0.01
    )


def test_time_in_which_nothing_ran_is_a_share_of_its_own(world, bob, reads_bob, later):
    run = start(world, "rehearse:tool_call")
    later(minutes=15)
    approve(open_interrupts(run)[0], bob)
    resumed_run(run)
    later(minutes=60)
    start(world, "rehearse:echo", thread_id=run.thread.external_id)

    html = html_of(reads_bob, run.thread_id)

    assert percent_of(html, "waited for people") == 25
    assert percent_of(html, "nothing ran") == 75
    starts = [x for x, _ in bars_of(html, "ran")]
    wait, everything = covered(bars_of(html, "waited")), starts[-1] - starts[0]
    assert wait / everything == pytest.approx(0.25, abs=0.01)


def test_open_request_is_linked_and_says_that_it_waits(ask, reads_bob, reads_alice):
    interrupt = ask("tool_call")
    address = f'href="/interrupts/{interrupt.pk}/"'

    html = html_of(reads_bob, interrupt.thread_id)

    (line,) = re.findall(r'<li class="fall-line is-waiting">.*?</li>', html, re.DOTALL)
    assert address in line
    page = reads_bob.get(f"/threads/{interrupt.thread_id}/").content.decode()
    assert "Decide 1 request" in page.partition('id="waterfall"')[0]
    assert "Decide 1 request" not in words(reads_alice.get(f"/threads/{interrupt.thread_id}/"))


@pytest.mark.parametrize(("count", "folded"), [(5, 0), (6, 3), (150, 147)])
def test_many_requests_of_a_run_are_folded(world, as_agent, reads_bob, count, folded):
    async def play(run_input, _context):
        for number in range(count):
            for event in proposed(call_id=f"c{number}", args='{"to": "Ada"}'):
                yield event
        yield asking(run_input, *(about(f"c{number}") for number in range(count)))

    run = start(world, "go", agent=as_agent(play))

    html = html_of(reads_bob, run.thread_id)
    visible = re.sub(r"<details.*?</details>", "", html, flags=re.DOTALL)
    assert html.count('class="fall-line is-waiting"') == count
    # The run, its requests and its calls; all of them are in the table, too.
    assert html.partition('id="fall-table"')[2].count('<tr><th scope="row">') >= 1 + count
    assert visible.count('class="fall-line is-waiting"') == count - folded
    assert (f"{folded} more requests" in html) == bool(folded)


@pytest.mark.parametrize(("count", "folded", "left_out"), [(9, 6, 0), (210, 207, 7)])
def test_many_calls_of_a_run_are_folded(world, as_agent, reads_bob, count, folded, left_out):
    async def play(run_input, _context):
        for number in range(count):
            for event in proposed(call_id=f"c{number}", args='{"to": "Ada"}'):
                yield event
        yield RunFinishedEvent(thread_id=run_input.thread_id, run_id=run_input.run_id)

    run = start(world, "go", agent=as_agent(play))

    html = html_of(reads_bob, run.thread_id)
    assert f"{folded} more tool calls" in html
    assert (f"and {left_out} more" in html) == bool(left_out)


def test_a_rejection_and_a_change_have_their_own_marks(world, bob, reads_bob):
    run = start(world, "rehearse:parallel3")
    first, second, _ = open_interrupts(run)
    approve(first, bob, editedArgs={"to": "eli@example.com"})
    deny(second, bob)

    html = html_of(reads_bob, run.thread_id)

    assert len(bars_of(html, "edited")) == len(bars_of(html, "rejected")) == 1
    assert not bars_of(html, "approved")


def test_a_failed_run_and_one_that_goes_on_have_bars(world, alice, reads_bob):
    failed = start(world, "rehearse:error")
    queued = start_run(agent=world.agent, request=request("go"), actor=alice).run

    assert len(bars_of(html_of(reads_bob, failed.thread_id), "failed")) == 1
    assert "Queued" in html_of(reads_bob, queued.thread_id)


def test_a_long_thread_shows_its_latest_runs_and_a_way_to_all(world, reads_bob):
    for _ in range(22):
        run = start(world, "rehearse:echo", thread_id="long")

    page, full = html_of(reads_bob, run.thread_id), html_of(reads_bob, run.thread_id, "?all=1")

    assert "Show 2 earlier runs" in text_of(page)
    assert "Run 2 started" not in text_of(page)
    assert "Run 3 started" in text_of(page)
    assert "Run 1 started" in text_of(full)


def test_waterfall_makes_as_many_queries_for_many_requests(world, bob, reads_bob):
    few, many = start(world, "rehearse:tool_call"), start(world, "rehearse:parallel3")
    counts = []
    for run in (few, many):
        for interrupt in open_interrupts(run):
            approve(interrupt, bob)
        with CaptureQueriesContext(connection) as queries:
            reads_bob.get(f"/threads/{run.thread_id}/")
        counts.append(len(queries))

    assert counts[1] <= counts[0]


def test_the_conversation_is_behind_a_button_and_the_last_message_is_not(ask, reads_bob):
    page = reads_bob.get(f"/threads/{ask('tool_call').thread_id}/").content.decode()

    before, conversation = page.split('<details class="fall-fold" id="conversation">')
    assert "I would like to send an e-mail." in before
    assert "<pre" not in before
    assert "<pre" in conversation


def test_secrets_are_masked_in_the_waterfall(world, as_agent, reads_bob):
    async def play(run_input, _context):
        for event in proposed(args='{"to": "Ada", "password": "hunter2"}'):
            yield event
        yield RunFinishedEvent(thread_id=run_input.thread_id, run_id=run_input.run_id)

    run = start(world, "go", agent=as_agent(play))

    assert "hunter2" not in html_of(reads_bob, run.thread_id)
