import html
import re

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from agents import registry
from inbox.actions.people.provisioning import ensure_agent
from inbox.rules.people.access import SEED
from tests.support.forms.form_page import Page
from tests.support.steps import approve, open_interrupts, resumed_run, start
from tests.support.web.pages import decision_form, words


def runs_of(world):
    from inbox.queries.runs.threads import runs_for

    return runs_for(world.actor(world.alice))


def approved(run, actor):
    """The run that resumes this one after the approval of its request."""
    (interrupt,) = open_interrupts(run)
    approve(interrupt, actor)
    return resumed_run(run)


@pytest.fixture
def talker(world, as_agent):
    """An agent that is started with a message only."""

    async def play(run_input, ctx):
        return
        yield

    return as_agent(play)


def test_the_runs_are_listed_with_their_state_the_latest_first(world, reads_bob):
    start(world, "rehearse:echo")
    start(world, "rehearse:error")

    page = words(reads_bob.get("/runs/"))

    assert page.index("rehearse:error") < page.index("rehearse:echo")
    assert "AGENT_ERROR" in page
    assert "Finished" in page


def test_the_runs_can_be_narrowed_to_those_that_failed(world, reads_bob):
    start(world, "rehearse:echo")
    start(world, "rehearse:error")

    page = words(reads_bob.get("/runs/?state=failed"))

    assert "rehearse:error" in page
    assert "rehearse:echo" not in page


def test_runs_of_a_thread_are_one_row_in_the_place_of_the_latest(world, bob, reads_bob):
    asking = start(world, "rehearse:tool_call")
    start(world, "rehearse:echo")
    approved(asking, bob)

    page = reads_bob.get("/runs/")

    text = words(page)
    assert page.content.decode().count('class="row"') == 2
    assert text.index("rehearse:tool_call") < text.index("rehearse:echo")
    assert text.index("Resumed after the decision") < text.index("Asked for a decision")


def test_a_thread_is_on_the_page_of_its_latest_run_only(world, bob, reads_bob):
    asking = start(world, "rehearse:tool_call")
    start(world, "rehearse:echo")
    resume = approved(asking, bob)

    page = words(reads_bob.get(f"/runs/?after={resume.pk}"))

    assert "rehearse:echo" in page
    assert "rehearse:tool_call" not in page


def test_runs_that_wait_do_not_include_those_that_were_resumed(world, bob, reads_bob):
    asking = start(world, "rehearse:tool_call")
    start(world, "rehearse:confirmation")
    approved(asking, bob)

    page = words(reads_bob.get("/runs/?state=interrupted"))

    assert "rehearse:confirmation" in page
    assert "rehearse:tool_call" not in page


def test_a_long_thread_shows_its_latest_runs_and_counts_the_others(world, reads_bob):
    run = start(world, "rehearse:echo")
    for _ in range(6):
        start(world, "rehearse:echo", thread_id=run.thread.external_id)

    page = reads_bob.get("/runs/")

    assert page.content.decode().count('class="row-run"') == 5
    assert "2 earlier runs" in words(page)


def test_the_list_of_runs_makes_as_many_queries_for_many_threads(world, reads_bob):
    start(world, "rehearse:echo")
    with CaptureQueriesContext(connection) as first:
        reads_bob.get("/runs/")
    for _ in range(3):
        start(world, "rehearse:echo")

    with CaptureQueriesContext(connection) as several:
        reads_bob.get("/runs/")

    assert len(several) <= len(first)


def test_a_list_without_runs_says_how_to_start_one(reads_bob):
    page = reads_bob.get("/runs/")

    assert "No agent has run yet." in words(page)
    assert 'href="/runs/new/"' in page.content.decode()


def test_more_runs_than_fit_are_on_the_next_page(world, reads_bob):
    runs = [start(world, "rehearse:echo") for _ in range(51)]

    first = reads_bob.get("/runs/").content.decode()
    second = reads_bob.get(f"/runs/?after={runs[1].pk}").content.decode()

    assert first.count('class="row"') == 50
    assert f"after={runs[1].pk}" in first
    assert second.count('class="row"') == 1


def test_strangers_see_no_runs(world, reads_carol):
    start(world, "rehearse:echo")

    assert "rehearse:echo" not in words(reads_carol.get("/runs/"))


def test_the_only_agent_is_chosen_already(reads_alice):
    assert "Start rehearsal" in words(reads_alice.get("/runs/new/"))


def test_of_several_agents_one_is_chosen_first(world, talker, reads_alice):
    page = words(reads_alice.get("/runs/new/"))

    assert "Choose an agent." in page
    assert "Start rehearsal" in words(reads_alice.get("/runs/new/?agent=rehearsal"))


def test_a_run_is_started_with_the_form_of_its_agent(world, reads_alice):
    form = decision_form(reads_alice.get("/runs/new/").content.decode())
    scenario = form.control("input/scenario")
    value = scenario.options[1][0]

    response = _send(reads_alice, "rehearsal", form.choose("input/scenario", value))

    (run,) = runs_of(world)
    assert (response.status_code, response.url) == (303, f"/threads/{run.thread_id}/")
    assert '"input": {"scenario": "tool_call"}' in run.input
    assert run.thread.title == "scenario: tool_call"


def test_a_form_that_is_not_filled_in_starts_nothing(world, reads_alice):
    form = decision_form(reads_alice.get("/runs/new/").content.decode())

    response = _send(reads_alice, "rehearsal", form)

    assert response.status_code == 422
    assert 'href="#f-input-scenario"' in response.content.decode()
    assert list(runs_of(world)) == []


def test_an_agent_without_a_form_is_started_with_a_message(world, talker, reads_alice):
    form = decision_form(reads_alice.get(f"/runs/new/?agent={talker.slug}").content.decode())

    refused = _send(reads_alice, talker.slug, form)
    started = _send(reads_alice, talker.slug, form.fill("message", "Dear agent"))

    assert refused.status_code == 422
    assert started.status_code == 303
    assert [run.thread.title for run in runs_of(world)] == ["Dear agent"]


def test_the_same_form_sent_twice_starts_one_run(world, talker, reads_alice):
    form = decision_form(reads_alice.get(f"/runs/new/?agent={talker.slug}").content.decode())
    form.fill("message", "Dear agent")

    first, second = (_send(reads_alice, talker.slug, form) for _ in range(2))

    assert first.url == second.url
    assert len(runs_of(world)) == 1


def test_a_form_that_was_changed_and_sent_again_starts_another_run(world, talker, reads_alice):
    form = decision_form(reads_alice.get(f"/runs/new/?agent={talker.slug}").content.decode())

    for text in ("Dear agent", "Dear other agent"):
        _send(reads_alice, talker.slug, form.fill("message", text))

    assert len(runs_of(world)) == 2


def test_an_agent_of_another_team_cannot_be_started(world, reads_carol):
    assert reads_carol.get("/runs/new/?agent=rehearsal").status_code == 404
    assert reads_carol.client.post("/runs/new/rehearsal", {}).status_code == 404


def test_an_agent_that_is_not_installed_can_still_be_asked(world, reads_alice):
    ensure_agent(team=world.team, slug="gone", implementation="gone", description="", actor=SEED)

    assert reads_alice.get("/runs/new/?agent=gone").status_code == 200


def test_a_thread_takes_another_message(world, reads_alice):
    run = start(world, "rehearse:echo")

    response = _say(reads_alice, run.thread_id, "rehearse:stream:2")

    latest, _ = runs_of(world)
    assert response.status_code == 303
    assert latest.thread_id == run.thread_id
    assert "rehearse:stream:2" in latest.input


@pytest.mark.parametrize(
    ("text", "error", "status"),
    [("rehearse:echo", "waits for answers", 409), (" ", "Enter a message for the agent", 422)],
)
def test_a_message_that_is_not_taken_is_kept_and_explained(world, reads_alice, text, error, status):
    (interrupt,) = open_interrupts(start(world, "rehearse:tool_call"))

    response = _say(reads_alice, interrupt.thread_id, text)

    assert response.status_code == status
    assert error in words(response)
    assert Page(response.content.decode()).control("message").value == text


def _send(reader, slug, form):
    post = form.post().urlencode()
    content_type = "application/x-www-form-urlencoded"
    return reader.client.post(f"/runs/new/{slug}", post, content_type=content_type)


def _say(reader, thread_id, text):
    return reader.client.post(f"/threads/{thread_id}/message", {"message": text, "key": "1"})


@pytest.mark.parametrize(
    ("path", "form"),
    [
        ("/runs/new/rehearsal", {}),
        ("/threads/{thread}/message", {"message": " "}),
        ("/runs/{run}/retry", {}),
        ("/runs/{run}/cancel", {}),
    ],
)
def test_a_page_that_explains_a_refusal_can_read_itself_again(world, reads_bob, path, form):
    run = start(world, "rehearse:echo")

    path = path.format(thread=run.thread_id, run=run.pk)
    refused = reads_bob.client.post(path, form)
    address = re.search(r'data-url="([^"]*)"', refused.content.decode()).group(1)

    assert refused.status_code in (409, 422)
    assert reads_bob.get(html.unescape(address), live=True).status_code == 200


def test_a_message_that_no_database_keeps_starts_nothing(world, talker, reads_alice):
    response = reads_alice.client.post(f"/runs/new/{talker.slug}", {"message": "a\0b"})

    assert response.status_code == 400
    assert list(runs_of(world)) == []


def test_the_message_of_a_form_says_values_as_json_does(world, talker, reads_alice):
    name = talker.implementation
    flag = {"type": "object", "properties": {"urgent": {"type": "boolean"}}}
    registry.get(name).input_schema = flag
    form = decision_form(reads_alice.get(f"/runs/new/?agent={talker.slug}").content.decode())

    _send(reads_alice, talker.slug, form.choose("input/urgent", "0"))

    (run,) = runs_of(world)
    assert run.thread.title == "urgent: true"


def test_a_form_of_which_nothing_is_required_starts_a_run_as_it_is(world, reads_alice):
    ensure_agent(
        team=world.team,
        slug="refund-desk",
        implementation="refund-desk",
        description="",
        actor=SEED,
    )
    form = decision_form(reads_alice.get("/runs/new/?agent=refund-desk").content.decode())

    response = _send(reads_alice, "refund-desk", form)

    (run,) = runs_of(world)
    assert response.status_code == 303
    assert '"forwardedProps": null' in run.input
    assert '"messages": []' in run.input
