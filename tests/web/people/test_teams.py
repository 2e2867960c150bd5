"""The pages of teams: members, keys whose token is shown once, and who can do what."""

import re

import pytest
from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator

from inbox.actions.people.api_keys import make_key, revoke_key
from inbox.actions.people.groups import add_to_group, create_group
from inbox.actions.people.members import make_team
from inbox.models import ApiKey, Membership, Team
from inbox.queries.people.api_keys import actor_of_key
from inbox.rules.people.access import SEED, Permission, Role
from inbox.web.people.teams import PERMISSIONS, ROLES
from tests.support.audit.entries import make_admin
from tests.support.steps import reread
from tests.support.web.pages import err, words

KEY = {"name": "ci", "scopes": ["read", "run"], "agent": "", "days": "90"}


def token_in(answer):
    (token,) = re.findall(r'id="token">([^<]*)<', answer.content.decode())
    return token


@pytest.fixture
def key(world):
    row, _ = make_key(
        team_id=world.team.pk, name="nightly", scopes={Permission.READ}, actor=SEED, days=3
    )
    return row


# -- members --------------------------------------------------------------------------------------


def test_members_see_their_team_and_change_nothing(reads_bob, reads_carol):
    page = reads_bob.get("/teams/")

    assert "Alice" in words(page)
    assert "Viewer" in words(page)
    for action in ("/role", "/save", "/keys/"):
        assert action not in page.content.decode()
    assert reads_bob.get("/teams/tests/keys/").status_code == 403
    assert reads_carol.get("/teams/tests/").status_code == 404
    assert 'href="/teams/"' in reads_bob.get("/").content.decode()


def test_only_administrators_see_mail_second_factor_and_last_activity(reads_ana, reads_bob, world):
    EmailAddress.objects.create(user=world.alice, email="alice@example.com", primary=True)
    Authenticator.objects.create(user=world.alice, type="totp", data={})
    create_group(team_id=world.team.pk, name="finance", actor=SEED)
    add_to_group(team_id=world.team.pk, name="finance", user_id=world.alice.pk, actor=SEED)

    seen, hidden = (
        words(reader.get("/teams/tests/")).partition("Alice")[2][:80]
        for reader in (reads_ana, reads_bob)
    )

    assert seen.startswith(" alice@example.com")
    assert "finance App Never" in seen
    assert hidden.startswith(" alice Viewer finance")
    for text in ("alice@example.com", "App", "Never", "Not set up"):
        assert text not in hidden


def test_who_belongs_to_no_team_is_told_so(reads_bob, world):
    Membership.objects.all().delete()

    assert "You're not in a team yet." in words(reads_bob.get("/teams/"))


def test_an_administrator_changes_roles_and_removes_people(reads_ana, world):
    path = f"/teams/tests/members/{world.alice.pk}"
    changed = reads_ana.client.post(f"{path}/role", {"role": "reviewer"})
    assert Membership.objects.get(user=world.alice).role == "reviewer"

    removed = reads_ana.client.post(f"{path}/remove")
    assert (changed.status_code, removed.status_code) == (303, 303)
    assert "Alice" not in words(reads_ana.get("/teams/tests/"))


@pytest.mark.parametrize("what", ["role", "remove"])
def test_the_last_administrator_is_told_why_they_stay(reads_ana, ana, what):
    refused = reads_ana.client.post(f"/teams/tests/members/{ana.pk}/{what}", {"role": "viewer"})

    assert refused.status_code == 409
    assert "A team needs at least one admin" in words(refused)


def test_the_page_of_a_removal_lists_keys_and_hands_them_over(reads_ana, world, ana):
    eve = make_admin(world, "eve")
    stays, _ = make_key(team_id=world.team.pk, name="stays", scopes={Permission.READ}, actor=eve)
    ends, _ = make_key(team_id=world.team.pk, name="ends", scopes={Permission.READ}, actor=eve)
    path = f"/teams/tests/members/{eve.user_id}/remove"
    page = reads_ana.get(f"{path}/")

    assert "Remove Eve" in words(page)
    assert "stays" in words(page)
    removed = reads_ana.client.post(path, {f"owner.{stays.pk}": ana.pk, f"owner.{ends.pk}": ""})

    assert removed.status_code == 303
    assert reread(stays).owner_id == ana.pk
    assert (reread(stays).revoked_at, bool(reread(ends).revoked_at)) == (None, True)


@pytest.mark.parametrize(
    ("field", "status"), [("owner.{key}", 422), ("owner.nonsense", 404), ("owner.", 404)]
)
def test_a_wrong_owner_removes_nobody(reads_ana, world, field, status):
    eve = make_admin(world, "eve")
    key, _ = make_key(team_id=world.team.pk, name="ci", scopes={Permission.READ}, actor=eve)
    path = f"/teams/tests/members/{eve.user_id}/remove"

    answer = reads_ana.client.post(path, {field.format(key=key.pk): world.carol.pk})

    assert answer.status_code == status
    assert Membership.objects.filter(user=eve.user_id).exists()


def test_a_member_who_leaves_sees_what_ends_and_hands_nothing_over(reads_bob, world):
    page = reads_bob.get(f"/teams/tests/members/{world.bob.pk}/remove/")

    assert "Leave the team" in words(page)
    assert "<select" not in page.content.decode().partition('id="detail"')[2]


def test_who_leaves_is_led_out(reads_bob, world):
    left = reads_bob.client.post(f"/teams/tests/members/{world.bob.pk}/remove")

    assert (left.status_code, left.url) == (303, "/teams/")
    assert reads_bob.get("/teams/tests/").status_code == 404


def test_a_role_that_is_none_is_not_found(reads_ana, world):
    path = f"/teams/tests/members/{world.alice.pk}/role"

    assert reads_ana.client.post(path, {"role": "king"}).status_code == 404


def test_a_team_is_renamed_and_gets_a_grace_period(reads_ana, world):
    saved = reads_ana.client.post("/teams/tests/save", {"name": "Testers", "grace_seconds": "30"})
    refused = reads_ana.client.post("/teams/tests/save", {"name": "T", "grace_seconds": "soon"})

    team = Team.objects.get(pk=world.team.pk)
    assert (saved.status_code, refused.status_code) == (303, 422)
    assert (team.name, team.grace_seconds) == ("Testers", 30)


def test_reasons_to_reject_are_written_one_per_line(reads_ana, world):
    form = {"name": "Tests", "grace_seconds": "0"}
    saved = reads_ana.client.post(
        "/teams/tests/save", {**form, "reject_reasons": " Too expensive \r\n\r\nNot now"}
    )
    refused = reads_ana.client.post(
        "/teams/tests/save", {**form, "reject_reasons": "\n".join("abcdefghi")}
    )

    assert (saved.status_code, refused.status_code) == (303, 422)
    assert "A team has at most 8 reasons." in words(refused)
    assert Team.objects.get(pk=world.team.pk).reject_reasons == ["Too expensive", "Not now"]


def test_administrators_set_after_how_many_days_files_are_erased(reads_ana, world):
    form = {"name": "Tests", "grace_seconds": "0"}
    days = []
    for typed in ("90", "soon", "0", ""):
        page = reads_ana.client.post("/teams/tests/save", {**form, "file_days": typed})
        days.append((page.status_code, Team.objects.get(pk=world.team.pk).file_days))
    reads_ana.client.post("/teams/tests/save", {**form, "file_days": "7"})
    reads_ana.client.post("/teams/tests/save", form)

    assert days == [(303, 90), (422, 90), (422, 90), (303, None)]
    assert Team.objects.get(pk=world.team.pk).file_days == 7


def test_administrators_set_after_how_many_days_threads_are_deleted(reads_ana, world, settings):
    form = {"name": "Tests", "grace_seconds": "0"}
    days = []
    for typed in ("90", "soon", "0", ""):
        page = reads_ana.client.post("/teams/tests/save", {**form, "thread_days": typed})
        days.append((page.status_code, Team.objects.get(pk=world.team.pk).thread_days))

    assert days == [(303, 90), (422, 90), (303, 0), (303, None)]
    assert "Empty: they are kept." in words(reads_ana.get("/teams/tests/"))
    settings.THREAD_DAYS = 365
    assert "the setting of the installation, which is 365." in words(reads_ana.get("/teams/tests/"))


# -- keys -----------------------------------------------------------------------------------------


def test_a_key_is_made_and_its_token_is_shown_once(reads_ana):
    response = reads_ana.client.post("/teams/tests/keys/add", KEY)

    token, row = token_in(response), ApiKey.objects.get(name="ci")
    assert actor_of_key(token).key_id == row.pk
    assert "no-store" in response.headers["Cache-Control"]
    assert (row.created_by, (row.expires_at - row.created_at).days) == ("Ana", 90)
    for address in (f"/keys/{row.pk}/", "/teams/tests/keys/", "/teams/tests/who/"):
        assert token not in reads_ana.get(address).content.decode()


def test_the_form_suggests_ninety_days_and_calls_for_ever_by_its_name(reads_ana):
    page = reads_ana.get("/teams/tests/keys/new/").content.decode()

    assert '<option value="90" selected>' in page
    assert "No expiry, until revoked" in page


@pytest.mark.parametrize(
    ("wrong", "field"),
    [
        ({"name": ""}, "name"),
        ({"scopes": []}, "scopes"),
        ({"agent": "rehearsal", "scopes": ["decide"]}, "scopes"),
        ({"agent": "nobody"}, "agent"),
        ({"days": "4000"}, "expires_in_days"),
        ({"days": "soon"}, "expires_in_days"),
    ],
)
def test_what_makes_no_key_is_said_beside_its_field(reads_ana, wrong, field):
    before = ApiKey.objects.count()

    refused = reads_ana.client.post("/teams/tests/keys/add", {**KEY, **wrong})

    assert refused.status_code == 422
    assert 'class="err"' in refused.content.decode()
    if field != "scopes":
        assert err(refused, f"f-{field}")
    assert ApiKey.objects.count() == before


def test_an_agent_gets_a_key_of_its_own(reads_ana):
    response = reads_ana.client.post("/teams/tests/keys/add", {**KEY, "agent": "rehearsal"})

    assert actor_of_key(token_in(response)).agent_id is not None
    assert "The key can read and run this agent only. It cannot decide." in words(response)


def test_a_new_token_is_shown_once_and_the_one_before_is_named(reads_ana, key):
    rotated = reads_ana.client.post(f"/keys/{key.pk}/rotate", {"overlap": "24", "days": "90"})

    token = token_in(rotated)
    page = reads_ana.get(f"/keys/{key.pk}/")
    assert actor_of_key(token).key_id == key.pk
    assert "Old token" in words(page)
    assert token not in page.content.decode()


def test_a_key_is_revoked_and_says_so(reads_ana, key):
    revoked = reads_ana.client.post(f"/keys/{key.pk}/revoke")
    page = reads_ana.get(f"/keys/{key.pk}/")
    again = reads_ana.client.post(f"/keys/{key.pk}/rotate", {"overlap": "0"})

    assert (revoked.status_code, again.status_code) == (303, 409)
    assert "Revoked" in words(page)
    assert "/rotate" not in page.content.decode()


def test_what_ends_soon_or_was_never_used_is_pointed_out(reads_ana, key):
    text = words(reads_ana.get("/teams/tests/keys/"))

    assert "Expires soon" in text  # in three days
    assert "Never used" in text  # the key of the world


def test_a_name_cannot_hide_what_it_is(reads_ana, key):
    ApiKey.objects.filter(pk=key.pk).update(name="a\u202eb", created_by="<b>x")

    page = reads_ana.get("/teams/tests/keys/").content.decode()

    assert "\u202e" not in page
    assert "<b>x" not in page


# -- who can do what ------------------------------------------------------------------------------


def test_every_permission_and_every_role_has_words():
    assert set(PERMISSIONS) == set(Permission)
    assert set(ROLES) == set(type(next(iter(ROLES))))


def sections(page):
    """Who stands under which permission."""
    parts = re.split(r'<h2 class="may"[^>]*>', page.content.decode())[1:]
    return {part.partition("<")[0]: part for part in parts}


def test_it_says_who_can_do_what(reads_bob, ana, world, key):
    revoked, _ = make_key(
        team_id=world.team.pk, name="revoked", scopes={Permission.READ}, actor=SEED
    )
    revoke_key(key_id=revoked.pk, actor=SEED)
    make_key(
        team_id=world.team.pk,
        name="its own",
        scopes={Permission.READ},
        agent="rehearsal",
        actor=SEED,
    )

    may = sections(reads_bob.get("/teams/tests/who/"))

    assert list(may) == ["Read", "Run", "Decide", "Administer"]
    for name, people in (("Read", "Alice Bob Ana"), ("Decide", "Bob Ana"), ("Administer", "Ana")):
        for person in ("Alice", "Bob", "Ana"):
            assert (f">{person}<" in may[name]) is (person in people), (name, person)
    assert ">nightly<" in may["Read"]
    assert ">nightly<" not in may["Decide"]
    assert "only rehearsal" in may["Read"]
    assert ">revoked<" not in may["Read"]


def test_who_cannot_sign_in_can_do_nothing(reads_bob, world):
    type(world.alice).objects.filter(pk=world.alice.pk).update(is_active=False)

    assert ">Alice<" not in reads_bob.get("/teams/tests/who/").content.decode()
    assert "cannot sign in" in words(reads_bob.get("/teams/tests/"))


def test_a_switch_that_is_unticked_is_turned_off(world, reads_ana):
    form = {"name": "Tests", "grace_seconds": "0", "switch": "inbox_only"}
    reads_ana.client.post("/teams/tests/save", {**form, "inbox_only": "on"})
    assert reread(world.team).inbox_only

    reads_ana.client.post("/teams/tests/save", form)

    assert not reread(world.team).inbox_only


def test_an_administrator_ends_a_session_of_a_member(reads_ana, reads_bob, world):
    assert reads_bob.get("/account/").status_code == 200
    page = reads_ana.get("/teams/tests/sessions/")
    assert "Bob" in words(page)
    (path,) = {
        path
        for path, row in re.findall(
            r'action="(/teams/tests/sessions/\d+/end)"(.*?)</form>', page.content.decode(), re.S
        )
        if "Bob" in row
    }

    ended = reads_ana.client.post(path)

    assert (ended.status_code, reads_bob.get("/account/").status_code) == (303, 302)
    assert "Bob" not in words(reads_ana.get("/teams/tests/sessions/")).partition("signed in")[2]


@pytest.mark.parametrize(
    ("typed", "stored", "status"), [("30", 30, 303), ("", None, 303), ("4", None, 422)]
)
def test_a_team_limits_sessions_without_use(reads_ana, world, typed, stored, status):
    form = {"name": "Tests", "grace_seconds": "0", "session_idle_minutes": typed}

    saved = reads_ana.client.post("/teams/tests/save", form)

    assert saved.status_code == status
    assert Team.objects.get(slug="tests").session_idle_minutes == stored


def test_a_key_is_bound_to_networks_on_its_pages(reads_ana, world):
    form = {**KEY, "networks": "192.0.2.0/24\n198.51.100.7"}
    assert reads_ana.client.post("/teams/tests/keys/add", form).status_code == 200
    key = ApiKey.objects.get(name="ci")
    assert key.networks == ["192.0.2.0/24", "198.51.100.7/32"]
    assert "192.0.2.0/24" in words(reads_ana.get(f"/keys/{key.pk}/"))

    path = f"/keys/{key.pk}/networks"
    refused = reads_ana.client.post(path, {"networks": "nonsense"})
    saved = reads_ana.client.post(path, {"networks": ""})

    assert (refused.status_code, saved.status_code) == (422, 303)
    assert "nonsense" in refused.content.decode()
    assert reread(key).networks == []


def test_wrong_networks_of_a_new_key_are_said_beside_the_field(reads_ana, world):
    page = reads_ana.client.post("/teams/tests/keys/add", {**KEY, "networks": "nonsense"})

    assert page.status_code == 422
    assert 'id="f-networks-err"' in page.content.decode()
    assert not ApiKey.objects.filter(name="ci").exists()


@pytest.mark.parametrize(
    ("part", "elsewhere"),
    [("groups", "groups/"), ("grants", "grants/"), ("policy", "policy/"), ("invitations", "")],
)
def test_the_switch_keeps_the_page_where_it_may_be_opened(part, elsewhere, ana, reads_ana, world):
    other = make_team(slug="other", name="Other", actor=SEED)
    Membership.objects.create(team=other, user=ana, role=Role.VIEWER)

    page = reads_ana.get(f"/teams/{world.team.slug}/{part}/").content.decode()

    switch = page.partition('class="switch-menu"')[2].partition("</ul>")[0]
    assert f'href="/teams/{world.team.slug}/{part}/"' in switch
    assert f'href="/teams/other/{elsewhere}"' in switch
    other_page = reads_ana.get(f"/teams/other/{elsewhere}")
    assert other_page.status_code == 200
    # The rail stays with the team.
    rail = other_page.content.decode().partition('id="rail"')[2].partition("</nav>")[0]
    assert 'href="/teams/other/policy/"' in rail
    assert 'href="/teams/other/"' in rail


def test_one_team_needs_no_switch(reads_bob, world):
    page = reads_bob.get(f"/teams/{world.team.slug}/groups/").content.decode()

    assert "switch-menu" not in page
    assert 'aria-current="page"' in page.partition('class="list settings-nav"')[2]
