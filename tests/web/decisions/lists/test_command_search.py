"""The command bar finds what the reader's teams have, and nothing else."""

import pytest

from inbox.actions.people.groups import add_to_group, create_group
from inbox.models import Team
from inbox.rules.people.access import SEED
from tests.support.steps import open_interrupts, start


@pytest.fixture
def interrupt(world):
    create_group(team_id=world.team.pk, name="finance", actor=SEED)
    add_to_group(team_id=world.team.pk, name="finance", user_id=world.alice.pk, actor=SEED)
    (interrupt,) = open_interrupts(start(world, "rehearse:tool_call"))
    return interrupt


def labels_for(reader, text):
    """Return the labels of the results by the heading of their group."""
    groups = reader.get(f"/search/?q={text}").json()["groups"]
    return {group["label"]: [row["label"] for row in group["results"]] for group in groups}


@pytest.mark.parametrize(
    ("text", "groups"),
    [
        ("DANA@example", {"Requests"}),
        ("send_email", {"Requests"}),
        ("tool_call", {"Runs"}),
        ("rehearsal", {"Requests", "Runs", "Agents"}),
        ("alice", {"People"}),
        ("fina", {"Groups"}),
        ("nothing-like-it", set()),
        ("", set()),
    ],
)
def test_command_bar_finds_by_words_of_each_kind(reads_bob, interrupt, text, groups):
    assert set(labels_for(reads_bob, text)) == groups


def test_command_bar_finds_a_request_and_a_run_by_id(reads_bob, interrupt):
    assert labels_for(reads_bob, interrupt.pk) == {"Requests": [interrupt.title]}
    assert labels_for(reads_bob, interrupt.run_id) == {"Runs": ["rehearse:tool_call"]}


def test_command_bar_finds_a_run_by_the_id_that_its_page_shows(world, reads_bob, reads_carol):
    for thread_id in ("6f1c9a52-8a0b-4c55-9d52-0f3a4a1f7c11", "Invoice-2026/7"):
        start(world, "rehearse:tool_call", thread_id=thread_id)

        assert labels_for(reads_bob, thread_id) == {"Runs": ["rehearse:tool_call"]}
        assert labels_for(reads_carol, thread_id) == {}


def test_each_result_of_the_command_bar_leads_to_its_page(reads_bob, interrupt):
    for text in ("rehearsal", "alice", "finance"):
        for group in reads_bob.get(f"/search/?q={text}").json()["groups"]:
            for row in group["results"]:
                assert reads_bob.get(row["url"].partition("#")[0]).status_code == 200, row


WORDS = ("dana", "rehears", "alice", "finance", "{interrupt.pk}", "{interrupt.run_id}")


@pytest.mark.parametrize("words", WORDS)
def test_command_bar_finds_nothing_of_other_teams(reads_bob, reads_carol, interrupt, words):
    text = words.format(interrupt=interrupt)

    assert labels_for(reads_bob, text)
    assert labels_for(reads_carol, text) == {}


def test_command_bar_finds_nothing_of_a_team_whose_sign_in_is_missing(world, reads_bob, interrupt):
    Team.objects.filter(pk=world.team.pk).update(required_sign_in="second_factor")

    for words in WORDS:
        response = reads_bob.client.get(f"/search/?q={words.format(interrupt=interrupt)}")
        assert response.status_code == 302
