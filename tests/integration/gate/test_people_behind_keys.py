"""People who could act with a key when it asked approve nothing of its run afterwards."""

from dataclasses import replace
from typing import Any

import pytest

from inbox import engine
from inbox.actions.people.api_keys import make_key, rotate_key
from inbox.actions.people.credentials import hand_over
from inbox.actions.people.members import change_team
from inbox.models import ApiKey, Membership, User
from inbox.platform.clock import database_now
from inbox.queries.people.api_keys import actor_of_key
from inbox.queries.policies.quorum import current_quorum
from inbox.rules import errors
from inbox.rules.people.access import SEED
from tests.integration.gate.test_self_approval import SCOPES, requesters, run_of, team
from tests.support.requests.programs import Program, decide
from tests.support.steps import approve, open_interrupts, reread, resumed_run

__all__ = ["run_of", "team"]


@pytest.fixture
def abe(team):
    """Another administrator, who decides as well."""
    user = User.objects.create_user("abe", password="kolibri-sehr-geheim")
    Membership.objects.create(team=team.team, user=user, role="admin")
    return signed_in(team.actor(user))


def signed_in(actor: Any) -> Any:
    return replace(actor, signed_in_at=database_now())


@pytest.fixture
def bea(team):
    """The administrator who made the key of the team, as `team` calls her: Erin."""
    return signed_in(requesters(team)["person"])


@pytest.fixture
def key(team):
    return ApiKey.objects.get(name="erin")


def refuses(interrupt: Any, actor: Any) -> None:
    with pytest.raises(errors.SelfApproval):
        approve(interrupt, actor)
    assert reread(interrupt).status == "open"


def test_a_rotation_does_not_change_who_requested_an_open_run(team, run_of, abe, bea, key):
    (interrupt,) = open_interrupts(run_of("propose", actor=actor_of_key(team.key)))
    rotate_key(key_id=key.pk, actor=abe)

    refuses(interrupt, bea)
    refuses(interrupt, abe)
    approve(interrupt, team.actor(team.alice))


def test_two_rotations_do_not_either(team, run_of, abe, bea, key):
    (interrupt,) = open_interrupts(run_of("propose", actor=actor_of_key(team.key)))
    for _ in range(2):
        rotate_key(key_id=key.pk, actor=abe, overlap_hours=0)

    refuses(interrupt, bea)


def test_a_former_token_asks_for_the_person_who_has_it(team, run_of, abe, bea, key):
    rotate_key(key_id=key.pk, actor=abe)
    former = actor_of_key(team.key)
    (interrupt,) = open_interrupts(run_of("propose", actor=former))

    assert former.person_id == bea.user_id
    refuses(interrupt, bea)


def test_a_former_token_decides_for_the_person_who_has_it(team, run_of, abe, bea, key):
    (interrupt,) = open_interrupts(run_of("propose", actor=bea))
    rotate_key(key_id=key.pk, actor=abe)

    refuses(interrupt, actor_of_key(team.key))


def test_who_had_an_ended_token_approves_later_runs(team, run_of, abe, bea, key, later):
    _, token = rotate_key(key_id=key.pk, actor=abe, overlap_hours=1)
    later(hours=2)
    (interrupt,) = open_interrupts(run_of("propose", actor=actor_of_key(token)))

    approve(interrupt, bea)

    assert reread(interrupt).status == "resolved"


def handed_to(heir: Any, key: Any, abe: Any) -> None:
    owner = ApiKey.objects.get(pk=key.pk).owner_id
    hand_over(
        team_id=key.team_id, owner_id=owner, credential_id=key.pk, heir_id=heir.user_id, actor=abe
    )


def test_each_owner_of_a_handed_over_key_counts(team, run_of, abe, bea):
    key, token = make_key(team_id=team.team.pk, name="abes", scopes=SCOPES, actor=abe)
    bob = team.actor(team.alice)
    for heir in (bea, bob):
        handed_to(heir, key, abe)
    (interrupt,) = open_interrupts(run_of("propose", actor=actor_of_key(token)))

    for actor in (abe, bea, bob):
        refuses(interrupt, actor)


def test_an_owner_does_not_decide_with_the_key_handed_over(team, run_of, abe, bea):
    key, token = make_key(team_id=team.team.pk, name="abes", scopes=SCOPES, actor=abe)
    handed_to(bea, key, abe)
    (interrupt,) = open_interrupts(run_of("propose", actor=bea))

    refuses(interrupt, actor_of_key(token))


def test_resumes_and_retries_keep_the_people(team, run_of, abe, bea, key):
    run = run_of("fail", "propose", "propose", actor=actor_of_key(team.key))
    rotate_key(key_id=key.pk, actor=abe)
    run = engine.retry_run(run.pk, team.actor(team.alice)).run
    engine.execute_run(run.pk)
    refuses(*open_interrupts(run), bea)
    change_team(team_id=team.team.pk, actor=bea, self_approval=True)
    approve(*open_interrupts(run), team.actor(team.alice))
    change_team(team_id=team.team.pk, actor=bea, self_approval=False)

    refuses(*open_interrupts(resumed_run(reread(run))), bea)


def test_a_request_of_a_program_keeps_the_people(team, abe, bea):
    from inbox.actions.agents.external_agents import set_external_agent

    set_external_agent(team_id=team.team.pk, slug="ci", actor=SEED)
    key, token = make_key(team_id=team.team.pk, name="ci", scopes={"run"}, agent="ci", actor=bea)
    request = Program(token).ask()
    rotate_key(key_id=key.pk, actor=abe)

    with pytest.raises(errors.SelfApproval):
        decide(request, bea, {"approved": True})


def test_who_rotates_a_key_and_joins_its_request_counts(team, abe, bea):
    from inbox.actions.agents.external_agents import set_external_agent

    set_external_agent(team_id=team.team.pk, slug="ci", actor=SEED)
    key, token = make_key(team_id=team.team.pk, name="ci", scopes={"run"}, agent="ci", actor=bea)
    ask = {"session": {"id": "s"}, "attach": True}
    request = Program(token).ask(**ask)
    _, token = rotate_key(key_id=key.pk, actor=abe)
    assert Program(token).ask(status=200, **ask)["attached"]
    rotate_key(key_id=key.pk, actor=bea, overlap_hours=0)

    with pytest.raises(errors.SelfApproval):
        decide(request, abe, {"approved": True})


def test_the_quorum_counts_as_the_gate_decides(team, run_of, abe, bea, key):
    (interrupt,) = open_interrupts(run_of("propose", actor=actor_of_key(team.key)))
    rotate_key(key_id=key.pk, actor=abe)

    people = current_quorum(reread(interrupt), database_now()).eligible_people()

    assert {int(person.id) for person in people} == {team.alice.pk}
