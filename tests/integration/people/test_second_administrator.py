"""One administrator alone weakens no setting about decisions, where the team asks for two."""

from dataclasses import replace

import pytest

from inbox.actions.people.api_keys import make_key, rotate_key
from inbox.actions.people.credentials import hand_over
from inbox.actions.people.members import change_team
from inbox.actions.policies.versions import publish_draft, save_draft
from inbox.models import AuditEntry, Membership, PolicyDraft, Team, User
from inbox.platform.clock import database_now
from inbox.queries.people.api_keys import actor_of_key
from inbox.rules import errors
from inbox.rules.people.access import SEED, Permission
from tests.support.policies.published import administrator

#: A setting, its strict value, and a weaker one.
WEAKER = [
    ("self_approval", False, True),
    ("self_approval", False, None),
    ("self_approval", None, True),
    ("two_administrators", True, False),
    ("inbox_only", True, False),
    ("requires_view_digest", True, False),
    ("override_group", "", "friends"),
    ("override_group", "board", "friends"),
    ("required_sign_in", "second_factor", "any"),
    ("required_sign_in", "provider", "second_factor"),
    ("required_sign_in", "second_factor", "provider"),  # neither asks for the other
]
#: A setting, a weaker value, and a stricter one.
STRICTER = [
    ("self_approval", True, False),
    ("self_approval", None, False),
    ("self_approval", True, None),
    ("two_administrators", False, True),
    ("inbox_only", False, True),
    ("requires_view_digest", False, True),
    ("override_group", "friends", ""),
    ("required_sign_in", "any", "second_factor"),
    ("required_sign_in", "any", "provider"),
]


@pytest.fixture
def eva(world):
    return replace(administrator(world), signed_in_at=database_now())


@pytest.fixture
def abe(world):
    user = User.objects.create_user("abe", password="kolibri-sehr-geheim")
    Membership.objects.create(team=world.team, user=user, role="admin")
    return replace(world.actor(user), signed_in_at=database_now())


@pytest.fixture
def team(world, settings):
    settings.OIDC_PROVIDERS = [{"name": "Company"}]
    Team.objects.filter(pk=world.team.pk).update(two_administrators=True, self_approval=False)
    return world.team.pk


def value_of(team, setting):
    return Team.objects.values_list(setting, flat=True).get(pk=team)


def refuses(team, actor, **changes):
    with pytest.raises(errors.SecondAdministratorRequired):
        change_team(team_id=team, actor=actor, **changes)


@pytest.mark.parametrize(("setting", "strict", "weak"), WEAKER)
def test_two_administrators_weaken_a_setting_together(team, eva, abe, setting, strict, weak):
    Team.objects.filter(pk=team).update(**{setting: strict})

    for _ in range(2):
        refuses(team, eva, **{setting: weak})
    assert value_of(team, setting) == strict
    change_team(team_id=team, actor=abe, **{setting: weak})

    assert value_of(team, setting) == weak
    assert AuditEntry.objects.filter(action="team.setting_proposed").count() == 1


@pytest.mark.parametrize(("setting", "weak", "strict"), STRICTER)
def test_one_administrator_makes_a_setting_stricter(team, eva, setting, weak, strict):
    Team.objects.filter(pk=team).update(**{setting: weak})

    change_team(team_id=team, actor=eva, **{setting: strict})

    assert value_of(team, setting) == strict
    with pytest.raises(errors.SecondAdministratorRequired):
        change_team(team_id=team, actor=eva, **{setting: weak})


def test_a_weaker_setting_beside_others_changes_none(team, eva):
    refuses(team, eva, self_approval=True, grace_seconds=5, name="Other")

    assert value_of(team, "grace_seconds") == 0
    assert value_of(team, "name") != "Other"


def test_another_value_is_no_confirmation(team, eva, abe):
    refuses(team, eva, self_approval=None)
    refuses(team, abe, self_approval=True)


def test_a_proposal_ends(team, eva, abe, later):
    refuses(team, eva, self_approval=True)
    later(days=8)

    refuses(team, replace(abe, signed_in_at=database_now()), self_approval=True)


def test_a_proposal_counts_once(team, eva, abe):
    refuses(team, eva, self_approval=True)
    change_team(team_id=team, actor=abe, self_approval=True)
    change_team(team_id=team, actor=abe, self_approval=False)

    refuses(team, abe, self_approval=True)


def test_a_proposal_of_a_former_administrator_counts_no_more(team, eva, abe):
    refuses(team, eva, self_approval=True)
    Membership.objects.filter(user=eva.user_id).update(role="reviewer")

    refuses(team, abe, self_approval=True)


def test_a_key_neither_proposes_nor_confirms(team, eva, abe):
    _, token = make_key(team_id=team, name="k", scopes={Permission.ADMIN}, actor=SEED)
    key = actor_of_key(token)

    refuses(team, key, self_approval=True)
    refuses(team, eva, self_approval=True)
    refuses(team, key, self_approval=True)


def test_other_teams_need_no_second_administrator(team, eva):
    Team.objects.filter(pk=team).update(two_administrators=False)

    change_team(team_id=team, actor=eva, self_approval=True)

    assert value_of(team, "self_approval") is True


def test_a_change_by_a_command_ends_proposals_too(team, eva, abe):
    refuses(team, eva, self_approval=True)
    change_team(team_id=team, actor=SEED, self_approval=True)
    change_team(team_id=team, actor=SEED, self_approval=False)

    refuses(team, abe, self_approval=True)


def draft_with_key_of(team, maker, change):
    """Save a draft with a key of its maker, after a change of the key."""
    key, token = make_key(team_id=team, name="ci", scopes={Permission.ADMIN}, actor=maker)
    actor = actor_of_key(change(key) or token)
    save_draft(team_id=team, body={"rules": []}, actor=actor)
    return key


def refuses_to_publish(team, actor):
    with pytest.raises(errors.SecondAdministratorRequired):
        publish_draft(team_id=team, actor=actor)


def test_a_key_that_was_handed_over_drafts_for_both(team, eva, abe):
    def hand_to_abe(key):
        hand_over(
            team_id=team,
            owner_id=eva.user_id,
            credential_id=key.pk,
            heir_id=abe.user_id,
            actor=abe,
        )

    draft_with_key_of(team, eva, hand_to_abe)

    refuses_to_publish(team, eva)
    refuses_to_publish(team, abe)


def test_a_rotated_key_drafts_for_who_has_its_tokens(team, eva, abe):
    draft_with_key_of(team, eva, lambda key: rotate_key(key_id=key.pk, actor=abe)[1])

    refuses_to_publish(team, eva)
    refuses_to_publish(team, abe)


def test_a_key_that_is_handed_over_later_drafted_for_its_maker(team, eva, abe):
    key = draft_with_key_of(team, eva, lambda key: None)
    hand_over(
        team_id=team, owner_id=eva.user_id, credential_id=key.pk, heir_id=abe.user_id, actor=abe
    )

    refuses_to_publish(team, eva)
    assert publish_draft(team_id=team, actor=abe).number == 1


def test_a_draft_of_before_keeps_its_author(team, eva, abe):
    save_draft(team_id=team, body={"rules": []}, actor=eva)
    PolicyDraft.objects.update(author_people=[])

    refuses_to_publish(team, eva)
    assert publish_draft(team_id=team, actor=abe).number == 1
