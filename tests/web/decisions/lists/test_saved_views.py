"""Views: lists that people keep under a name, and share with a team."""

import html
import re

import pytest

from inbox.actions.decisions.saved_views import (
    MAX_VIEWS,
    delete_view,
    save_view,
    share_view,
)
from inbox.actions.people.provisioning import add_member
from inbox.models import AuditEntry, SavedView
from inbox.queries.decisions.saved_views import views_for
from inbox.rules import errors
from inbox.rules.decisions.list_filters import InterruptFilter, ListState
from inbox.rules.people.access import SEED, Role
from tests.support.web.pages import words
from tests.web.text.test_hostile_text_in_fields import PAYLOADS, Markup

MINE = InterruptFilter(mine=True, text="rent")


@pytest.fixture
def admin(world):
    user = add_member(
        team=world.team,
        username="adam",
        full_name="Adam",
        password="a",
        role=Role.ADMIN,
        actor=SEED,
    )
    return world.actor(user)


def save(actor, name="Rent", query=MINE, team=None):
    return save_view(name=name, list_filter=query, actor=actor, team_id=team and team.pk)


def names(actor):
    return [view.name for view in views_for(actor)]


def audited():
    entries = AuditEntry.objects.filter(action__startswith="view.").order_by("pk")
    return [(entry.action, entry.content["actor"]) for entry in entries]


# -- keeping and sharing --------------------------------------------------------------------------


def test_a_view_is_private_until_it_is_shared(world, bob, alice, carol):
    view = save(bob)
    assert (names(bob), names(alice), names(carol)) == (["Rent"], [], [])

    share_view(view_id=view.pk, team_id=world.team.pk, actor=bob)
    assert (names(bob), names(alice), names(carol)) == (["Rent"], ["Rent"], [])

    share_view(view_id=view.pk, team_id=None, actor=bob)
    assert (names(bob), names(alice)) == (["Rent"], [])
    assert audited() == [("view.saved", "Bob"), ("view.shared", "Bob"), ("view.unshared", "Bob")]


def test_saving_under_the_same_name_replaces_the_view_of_that_name(bob, dora):
    first = save(bob)
    save(dora)

    again = save(bob, query=InterruptFilter(state=ListState.DECIDED, tool="pay"))

    assert again.pk == first.pk
    assert InterruptFilter.from_text(again.query) == InterruptFilter(
        state=ListState.DECIDED, tool="pay"
    )
    assert SavedView.objects.count() == 2


def test_who_looks_on_keeps_views_and_shares_none(world, alice):
    view = save(alice)

    with pytest.raises(errors.Forbidden):
        save(alice, name="Ours", team=world.team)
    with pytest.raises(errors.Forbidden):
        share_view(view_id=view.pk, team_id=world.team.pk, actor=alice)
    assert names(alice) == ["Rent"]


def test_nobody_shares_with_a_team_that_is_not_theirs(world, carol):
    with pytest.raises(errors.NotFound):
        save(carol, team=world.team)
    with pytest.raises(errors.NotFound):
        share_view(view_id=save(carol).pk, team_id=world.team.pk, actor=carol)


def test_only_the_owner_or_an_admin_of_the_team_changes_a_view(world, bob, dora, carol, admin):
    private, shared = save(bob, name="private"), save(bob, name="shared", team=world.team)

    for view, actor, error in (
        (private, admin, errors.NotFound),
        (private, dora, errors.NotFound),
        (shared, dora, errors.Forbidden),
        (shared, carol, errors.NotFound),
    ):
        with pytest.raises(error):
            delete_view(view_id=view.pk, actor=actor)
        with pytest.raises(error):
            share_view(view_id=view.pk, team_id=None, actor=actor)
    with pytest.raises(errors.Forbidden):
        share_view(view_id=shared.pk, team_id=world.team.pk, actor=admin)
    share_view(view_id=shared.pk, team_id=None, actor=admin)
    assert names(dora) == []
    delete_view(view_id=shared.pk, actor=bob)
    assert names(bob) == ["private"]


def test_whoever_left_the_team_loses_its_views(world, bob, dora):
    save(bob, team=world.team)

    world.bob.memberships.all().delete()

    assert names(dora) == ["Rent"]
    with pytest.raises(errors.Forbidden):
        save(bob, name="more")


def test_machines_keep_no_views(world):
    from inbox.queries.people.api_keys import actor_of_key

    with pytest.raises(errors.Forbidden):
        save(actor_of_key(world.key))


@pytest.mark.parametrize("name", ["", " ", " x", "x" * 61, "a\0b", "a\u202eb", "a\nb"])
def test_a_name_that_cannot_be_read_is_refused(bob, name):
    with pytest.raises(errors.InvalidValue):
        save(bob, name=name)
    assert names(bob) == []


def test_there_is_an_end_to_the_views_of_one_person(bob):
    for number in range(MAX_VIEWS):
        save(bob, name=str(number))

    with pytest.raises(errors.InvalidValue):
        save(bob, name="one more")
    save(bob, name="1", query=InterruptFilter())
    assert SavedView.objects.count() == MAX_VIEWS


# -- pages ----------------------------------------------------------------------------------------


def test_the_views_of_a_team_do_not_crowd_out_my_own(world, bob, dora):
    for number in range(MAX_VIEWS):
        save(dora, f"A{number}", team=world.team)

    save(bob, "My own")

    assert names(bob)[-1] == "My own"


def test_a_saved_view_is_in_the_rail_and_marked_where_it_is_shown(
    world, ask, reads_bob, reads_alice
):
    ask("tool_call")
    sent = {"name": " E-mails ", "list": "state=open&tool=send_email", "team": "tests"}

    saved = reads_bob.client.post("/views/save", sent)
    page = reads_bob.get(saved["Location"]).content.decode()

    assert saved["Location"] == "/?tool=send_email"
    assert re.search(r'href="/\?tool=send_email" aria-current="page" title="E-mails"', page)
    assert page.count('aria-current="page"') == 1
    assert "Your view “E-mails”." in words(reads_bob.get(saved["Location"]))
    assert "Bob shares this view as “E-mails”." in words(reads_alice.get(saved["Location"]))
    assert 'aria-current="page" title="E-mails"' not in reads_bob.get("/").content.decode()


def test_the_view_of_what_is_decided_stays_one(bob, reads_bob):
    reads_bob.client.post("/views/save", {"name": "Done", "list": "state=decided"})

    assert (
        'href="/decided/" aria-current="page" title="Done"'
        in reads_bob.get("/decided/").content.decode()
    )


def test_a_view_is_deleted_and_given_back_on_its_page(world, bob, reads_bob, admin):
    view = save(bob, team=world.team)

    gone = reads_bob.client.post(f"/views/{view.pk}/delete", {"list": "state=open&mine=1&q=rent"})

    assert gone["Location"] == "/?mine=1&q=rent"
    assert names(bob) == []


def test_a_name_that_is_refused_comes_back_to_be_corrected(reads_bob):
    sent = {"name": "x" * 61, "list": "state=open&tool=pay"}

    back = reads_bob.client.post("/views/save", sent)

    assert back.status_code == 422
    assert "1 to 60 visible characters" in words(back)
    assert 'name="list" value="state=open&amp;tool=pay"' in back.content.decode()


@pytest.mark.parametrize("text", [*PAYLOADS.values(), "%", "x" * 10_000])
def test_whatever_a_view_is_called_or_holds_is_text(bob, reads_bob, text):
    for sent in ({"name": text[:60].strip(), "list": ""}, {"name": "n", "list": text}):
        answer = reads_bob.client.post("/views/save", {**sent, "team": ""})
        assert answer.status_code in (303, 422)
        assert Markup(answer.content.decode()).found == []
    assert reads_bob.client.post("/views/save", {"name": "n", "team": text}).status_code == 404
    page = reads_bob.get("/")
    assert page.status_code == 200
    assert Markup(page.content.decode()).found == []


@pytest.mark.parametrize("field", ["name", "list", "team"])
def test_what_no_database_can_keep_is_not_understood(reads_bob, field):
    sent = {"name": "n", "list": "", "team": "", field: "a\0b"}

    assert reads_bob.client.post("/views/save", sent).status_code == 400


def test_what_a_view_holds_is_read_anew_and_never_trusted(bob, reads_bob):
    view = save(bob)
    SavedView.objects.filter(pk=view.pk).update(query="//evil.example/?state=%00&q=<b>&agent=x")

    page = html.unescape(reads_bob.get("/").content.decode())

    assert "evil.example" not in page
    assert 'href="/?agent=x&q=%3Cb%3E"' in page
