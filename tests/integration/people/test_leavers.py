"""Keys, webhooks and invitations of people who leave."""

import pytest
from allauth.account.models import EmailAddress
from django.test import Client

from inbox.actions import team_lock
from inbox.actions.people.accounts import set_active
from inbox.actions.people.api_keys import make_key, rotate_key
from inbox.actions.people.credentials import hand_over
from inbox.actions.people.invitations import invite
from inbox.actions.people.members import add_membership, remove_member
from inbox.actions.webhooks.endpoints import add_webhook, change_webhook
from inbox.models import ApiKey, Invitation, Team, User
from inbox.platform.clock import database_now
from inbox.queries.people.api_keys import actor_of_key, actor_of_user
from inbox.queries.people.credentials import CredentialKind, credentials_of
from inbox.queries.people.invitations import open_invitation
from inbox.rules.errors import Forbidden, InvalidValue, InvitationEnded, NotFound, Unauthenticated
from inbox.rules.people.access import SEED, Permission, Role
from inbox.rules.webhooks.delivery_rules import DisabledReason
from tests.support.audit.entries import audited, make_admin
from tests.support.http.rest_client import Caller
from tests.support.steps import reread
from tests.support.web.fresh_sign_in import sign_in


@pytest.fixture
def ana(world):
    return make_admin(world)


@pytest.fixture
def eve(world):
    """An administrator who is about to leave."""
    return make_admin(world, "eve")


@pytest.fixture
def key(world, eve):
    return make_key(team_id=world.team.pk, name="ci", scopes={Permission.READ}, actor=eve)


def status_with(token):
    return Caller(token).get("/api/threads").status_code


def webhook_of(world, actor):
    endpoint, _ = add_webhook(
        team_id=world.team.pk,
        url="https://hooks.example.com/x",
        event_types=["run.finished"],
        actor=actor,
    )
    return endpoint


def invitation_of(world, actor):
    row, link = invite(
        team_id=world.team.pk,
        email="nora@example.com",
        role=Role.VIEWER,
        actor=actor,
        site="http://x",
    )
    return row, link.rstrip("/").rpartition("/")[2]


def remove(world, leaver, actor, **more):
    remove_member(team_id=world.team.pk, user_id=leaver.user_id, actor=actor, **more)


def deactivate(leaver):
    set_active(user_id=leaver.user_id, is_active=False, actor=SEED)


@pytest.mark.parametrize("how", ["removed", "left", "deactivated"])
def test_a_leavers_key_works_before_and_gets_401_afterwards(world, ana, eve, key, how):
    _, token = key
    assert status_with(token) == 200

    if how == "deactivated":
        deactivate(eve)
    else:
        remove(world, eve, ana if how == "removed" else eve)

    assert status_with(token) == 401
    assert ("key.revoked", "owner_left") in [
        (action, detail.get("reason")) for action, detail in audited("key.")
    ]


def test_a_leavers_webhook_is_disabled_and_their_invitation_ends(world, ana, eve):
    webhook = webhook_of(world, eve)
    _, link = invitation_of(world, eve)

    remove(world, eve, ana)

    webhook = reread(webhook)
    assert (webhook.disabled_reason, webhook.removed_at) == (DisabledReason.OWNER_LEFT, None)
    with pytest.raises(InvitationEnded):
        open_invitation(link)
    assert audited("webhook.disabled")[-1][1]["reason"] == "owner_left"
    assert audited("invitation.withdrawn")[-1][1]["reason"] == "owner_left"


@pytest.mark.parametrize("how", ["removed", "deactivated"])
def test_nobody_comes_back_by_an_invitation_from_before(world, ana, eve, how):
    EmailAddress.objects.create(user=User.objects.get(pk=eve.user_id), email="nora@example.com")
    _, token = invitation_of(world, ana)
    assert open_invitation(token)

    remove(world, eve, ana) if how == "removed" else deactivate(eve)

    with pytest.raises(InvitationEnded):
        open_invitation(token)
    assert audited("invitation.withdrawn")[-1][1]["reason"] == "invited_left"


def test_invitations_to_a_leaver_end_in_the_team_that_they_leave_only(world, ana, eve):
    EmailAddress.objects.create(user=User.objects.get(pk=eve.user_id), email="nora@example.com")
    others = Team.objects.get(slug="others")
    row, _ = invite(
        team_id=others.pk, email="nora@example.com", role=Role.VIEWER, actor=SEED, site="http://x"
    )

    remove(world, eve, ana)
    assert reread(row).withdrawn_at is None
    deactivate(eve)

    assert reread(row).withdrawn_at is not None


def test_keys_of_others_and_of_commands_stay(world, ana, eve):
    _, of_ana = make_key(team_id=world.team.pk, name="anas", scopes={Permission.READ}, actor=ana)

    remove(world, eve, ana)

    assert (status_with(of_ana), status_with(world.key)) == (200, 200)


def test_keys_in_other_teams_end_only_on_deactivation(world, ana, eve):
    others = User.objects.get(username="carol").memberships.get().team
    add_membership(others.pk, User.objects.get(pk=eve.user_id), Role.ADMIN, SEED)
    _, token = make_key(team_id=others.pk, name="there", scopes={Permission.READ}, actor=eve)

    remove(world, eve, SEED)
    assert status_with(token) == 200

    deactivate(eve)
    assert status_with(token) == 401


def test_keys_from_before_owners_were_stored_end_by_their_maker(world, ana, eve, key):
    ApiKey.objects.filter(pk=key[0].pk).update(owner=None)

    remove(world, eve, ana)

    assert status_with(key[1]) == 401


def test_a_key_that_is_handed_over_stays_and_ends_with_its_new_owner(world, ana, eve, key):
    row, token = key

    remove(world, eve, ana, heirs={row.pk: ana.user_id})

    assert status_with(token) == 200
    assert reread(row).owner_id == ana.user_id
    assert audited("key.handed_over")[-1][1]["owner"] == "ana"
    deactivate(ana)
    assert status_with(token) == 401


def test_whoever_rotates_a_key_owns_it(world, ana, eve, key):
    _, token = rotate_key(key_id=key[0].pk, actor=ana)

    remove(world, eve, ana)

    assert status_with(token) == 200


@pytest.mark.parametrize("kind", list(CredentialKind))
def test_each_kind_is_listed_and_handed_over(world, ana, eve, key, kind):
    webhook, (invitation, _) = webhook_of(world, eve), invitation_of(world, eve)
    listed = {row.kind: row for row in credentials_of(ana, world.team.pk, eve.user_id)}
    assert [row.name for row in listed.values()] == ["ci", "hooks.example.com", "nora@example.com"]

    hand_over(
        team_id=world.team.pk,
        owner_id=eve.user_id,
        credential_id=listed[kind].id,
        heir_id=world.bob.pk,
        actor=ana,
    )
    remove(world, eve, ana)

    assert (reread(key[0]).revoked_at is None) is (kind == "key")
    assert (reread(webhook).disabled_at is None) is (kind == "webhook")
    assert (reread(invitation).withdrawn_at is None) is (kind == "invitation")
    assert audited(f"{kind}.handed_over")[-1][1]["owner_id"] == str(world.bob.pk)


@pytest.mark.parametrize("heir", ["carol", "eve", "inactive"])
def test_only_another_active_member_can_become_the_owner(world, ana, eve, key, heir):
    User.objects.filter(pk=world.bob.pk).update(is_active=False)
    ids = {"carol": world.carol.pk, "eve": eve.user_id, "inactive": world.bob.pk}

    with pytest.raises(InvalidValue):
        remove(world, eve, ana, heirs={key[0].pk: ids[heir]})

    assert status_with(key[1]) == 200


def test_members_who_leave_hand_over_only_as_administrators(world, ana, bob):
    with pytest.raises(Forbidden):
        remove(world, bob, bob, heirs={world.team.pk: ana.user_id})


def test_only_administrators_hand_over_and_only_what_the_person_owns(world, ana, eve, bob, key):
    about = {"team_id": world.team.pk, "heir_id": world.bob.pk}
    with pytest.raises(Forbidden):
        hand_over(owner_id=eve.user_id, credential_id=key[0].pk, actor=bob, **about)
    with pytest.raises(NotFound):
        hand_over(owner_id=ana.user_id, credential_id=key[0].pk, actor=ana, **about)


def test_only_administrators_and_the_person_see_what_they_own(world, eve, bob, carol):
    assert credentials_of(bob, world.team.pk, world.bob.pk) == []
    with pytest.raises(Forbidden):
        credentials_of(bob, world.team.pk, eve.user_id)
    with pytest.raises(NotFound):
        credentials_of(carol, world.team.pk, eve.user_id)


def test_an_accepted_invitation_does_not_change_when_its_sender_leaves(world, ana, eve):
    row, _ = invitation_of(world, eve)
    Invitation.objects.filter(pk=row.pk).update(accepted_at=row.created_at)

    remove(world, eve, ana)

    assert reread(row).withdrawn_at is None


def test_an_administrator_who_enables_a_leavers_webhook_owns_it(world, ana, eve):
    webhook = webhook_of(world, eve)
    remove_member(team_id=world.team.pk, user_id=eve.user_id, actor=ana)

    change_webhook(endpoint_id=webhook.pk, enabled=True, actor=ana)

    assert reread(webhook).owner_id == ana.user_id


def revoke(world, eve):
    row, token = make_key(
        team_id=world.team.pk, name="admin", scopes={Permission.READ, Permission.ADMIN}, actor=eve
    )
    actor = actor_of_key(token)
    return actor, lambda: ApiKey.objects.filter(pk=row.pk).update(revoked_at=database_now())


def sign_out(world, eve):
    browser = Client()
    sign_in(browser, User.objects.get(pk=eve.user_id))
    actor = actor_of_user(User.objects.get(pk=eve.user_id), browser.session)
    return actor, browser.session.flush


@pytest.mark.parametrize("end_of", [revoke, sign_out])
def test_a_key_or_session_that_ends_while_it_waits_changes_nothing(world, eve, monkeypatch, end_of):
    actor, end = end_of(world, eve)
    lock_team = team_lock.lock_team

    def lock_after_the_end(team_id):
        end()  # as a transaction that holds the lock does
        return lock_team(team_id)

    monkeypatch.setattr(team_lock, "lock_team", lock_after_the_end)

    with pytest.raises(Unauthenticated):
        make_key(team_id=world.team.pk, name="more", scopes={Permission.READ}, actor=actor)

    assert not ApiKey.objects.filter(name="more").exists()
