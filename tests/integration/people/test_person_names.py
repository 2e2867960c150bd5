"""Names of people: what they may not have, and whose they may not look like."""

import pytest

from inbox.actions.people.accept_invitation import join_by_provider
from inbox.actions.people.accounts import change_own_name
from inbox.models import User
from inbox.rules.errors import InvalidValue
from inbox.rules.people.access import Role
from inbox.rules.people.person_names import is_valid_name
from tests.support.audit.entries import audited
from tests.support.steps import approve, open_interrupts, reread, start


@pytest.mark.parametrize(
    "name",
    [
        *("Ana Kovač", "Иван Петров", "José García", "O\u2019Brien", "王小明", "Keyla Smith"),
        *("Νίκος Παπαδόπουλος", "محمد علي", "Müller-Lüdenscheidt", "Sam Ó Dálaigh"),
    ],
)
def test_names_of_many_languages_are_accepted(name):
    assert is_valid_name(name, ["Somebody Else"])


@pytest.mark.parametrize(
    "name",
    [
        *("", "x" * 151, "Ana\u200b Kovač", "\u202eAna", "Ana\u2066", "Ana\u00ad", "A\x07na"),
        *(
            "\u0410na Kovač",
            "An\u0430",
            "\u0440\u0430\u0443\u0440\u0430l",
            "\uff2aohn",
            "\U0001d400na",
        ),
        *("key ci", "Key: ci", "KEY", "\u212aey ci", "system:policy", "agent mailer", "Signoff"),
    ],
)
def test_deceptive_and_reserved_names_are_refused(name):
    assert not is_valid_name(name)


@pytest.mark.parametrize("name", ["Alice", "ALICE", "AIice", "A1ice", "Alicé", "alice"])
def test_nobody_takes_the_name_of_a_colleague(world, bob, name):
    with pytest.raises(InvalidValue):
        change_own_name(full_name=name, actor=bob)

    assert reread(world.bob).get_full_name() == "Bob"


def test_people_of_different_teams_may_have_one_name(world, carol):
    change_own_name(full_name="Alice", actor=carol)

    assert reread(world.carol).get_full_name() == "Alice"


def test_a_rename_is_in_the_trail_with_the_name_before(world, bob):
    change_own_name(full_name="Robert  Fisher", actor=bob)
    change_own_name(full_name="Robert Fisher", actor=bob)

    assert audited("person.renamed") == [
        ("person.renamed", {"before": "Bob", "name": "Robert Fisher"})
    ]


def test_a_deceptive_name_of_a_provider_is_not_taken_over(world):
    user = join_by_provider(
        email="x@example.com",
        full_name="key ci",
        provider_id="corp",
        team_slug="tests",
        role=Role.VIEWER,
    )

    assert User.objects.get(pk=user.pk).display_name == "x@example.com"


def test_a_decision_has_the_id_of_its_person_after_a_rename(world, bob, client):
    run = start(world, "rehearse:tool_call")
    interrupt = open_interrupts(run)[0]
    approve(interrupt, bob)
    change_own_name(full_name="Robert", actor=bob)
    client.force_login(world.bob)

    stored = client.get(f"/api/interrupts/{interrupt.pk}").json()["decision"]
    listed = client.get(f"/api/runs/{run.pk}").json()

    assert (stored["by"], stored["user_id"], stored["key_id"]) == ("Bob", world.bob.pk, None)
    assert listed["started_by_user"] == run.requester_user_id
