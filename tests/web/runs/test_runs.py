import html
import re

import pytest

from agents import registry
from inbox.actions.people.provisioning import ensure_agent
from inbox.rules.people.access import SEED
from tests.support.forms.form_page import Page
from tests.support.steps import open_interrupts, start
from tests.support.web.pages import decision_form, words


def runs_of(world):
    from inbox.queries.runs.threads import runs_for

    return runs_for(world.actor(world.alice))


@pytest.fixture
def talker(world, as_agent):
    """An agent that is started with a message only."""

    async def play(run_input, ctx):
        return
        yield

    return as_agent(play)


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
