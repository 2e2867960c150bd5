"""Keys: what they may be given, how they end, and that an agent's own never decides."""

import json
from dataclasses import replace
from datetime import timedelta

import pytest
from django.db import IntegrityError, OperationalError, transaction

from inbox.actions.people import api_key_usage
from inbox.actions.people.api_keys import make_key, revoke_key, rotate_key
from inbox.models import ApiKey, AuditEntry, Decision
from inbox.platform.clock import database_now
from inbox.queries.decisions.inbox_lists import full_list_for
from inbox.queries.people.api_keys import actor_of_key
from inbox.queries.people.live_access import live_access_of
from inbox.queries.runs.threads import (
    run_for,
    runs_for,
    thread_for,
    threads_for,
)
from inbox.rules.errors import (
    Forbidden,
    InvalidValue,
    KeyEnded,
    MoreThanOwn,
    NotFound,
)
from inbox.rules.people import api_keys as rules
from inbox.rules.people.access import SEED, Permission
from tests.support.audit.entries import audited, make_admin
from tests.support.steps import (
    approve,
    open_interrupts,
    request,
    start,
)

READ_AND_RUN = {Permission.READ, Permission.RUN}


def make(world, *scopes, actor=SEED, **more):
    fields = {"team_id": world.team.pk, "name": "ci", "actor": actor}
    return make_key(scopes={Permission(scope) for scope in scopes}, **fields, **more)


@pytest.fixture
def ana(world):
    return make_admin(world)


@pytest.fixture
def own(world):
    """The key of the rehearsal agent itself, as an actor."""
    _, token = make(world, "read", "run", agent="rehearsal")
    return actor_of_key(token)


# -- making ---------------------------------------------------------------------------------------


def test_a_key_says_who_made_it_and_until_when_it_works(world, ana):
    key, token = make(world, "read", actor=ana, days=30)

    assert (key.created_by, key.scopes) == ("Ana", ["read"])
    assert key.expires_at - key.created_at == timedelta(days=30)
    assert token.startswith(key.prefix)
    assert token not in str(ApiKey.objects.values().get(pk=key.pk))
    assert audited("key.")[-1][0] == "key.created"


def test_without_an_end_a_key_never_ends(world, later):
    key, token = make(world, "read")
    later(days=10_000)

    assert key.expires_at is None
    assert actor_of_key(token) is not None


@pytest.mark.parametrize(
    ("wrong", "field"),
    [
        ({"name": ""}, "name"),
        ({"name": "x" * 81}, "name"),
        ({"name": "a\u202eb"}, "name"),
        ({"scopes": set()}, "scopes"),
        ({"days": 0}, "expires_in_days"),
        ({"days": rules.MAX_DAYS + 1}, "expires_in_days"),
        ({"agent": "nobody"}, "agent"),
        ({"agent": "rehearsal", "scopes": {Permission.READ, Permission.DECIDE}}, "scopes"),
        ({"agent": "rehearsal", "scopes": {Permission.ADMIN}}, "scopes"),
    ],
)
def test_what_makes_no_key_is_said_by_field(world, wrong, field):
    fields = {"name": "ci", "scopes": {Permission.READ}} | wrong
    with pytest.raises(InvalidValue) as refused:
        make_key(team_id=world.team.pk, actor=SEED, **fields)

    assert list(refused.value.detail["problems"]) == [field]


def test_the_agent_of_another_team_gets_no_key_here(world):
    from inbox.queries.people.teams import team_by_slug

    with pytest.raises(InvalidValue):
        make_key(
            team_id=team_by_slug("others").pk,
            name="ci",
            scopes={Permission.READ},
            agent="rehearsal",
            actor=SEED,
        )


@pytest.mark.parametrize("who", ["alice", "bob"])
def test_only_administrators_make_keys(world, who, request):
    with pytest.raises(Forbidden):
        make(world, "read", actor=request.getfixturevalue(who))


def test_a_stranger_finds_no_team_to_make_keys_for(world, carol):
    with pytest.raises(NotFound):
        make(world, "read", actor=carol)


def test_a_key_gives_no_key_more_than_it_has(world):
    _, token = make(world, "admin", "read")
    machine = actor_of_key(token)
    before = ApiKey.objects.count()

    with pytest.raises(MoreThanOwn) as refused:
        make(world, "read", "decide", actor=machine)

    assert refused.value.detail["beyond"] == ["decide"]
    assert ApiKey.objects.count() == before
    assert audited("key.refused")[-1][1]["beyond"] == ["decide"]
    make(world, "read", actor=machine)


def test_a_key_gives_no_key_a_longer_life_than_its_own(world):
    _, token = make(world, "admin", "read", days=10)
    machine = actor_of_key(token)

    for days in (11, None):
        with pytest.raises(MoreThanOwn):
            make(world, "read", actor=machine, days=days)
    make(world, "read", actor=machine, days=9)


def test_a_key_gives_itself_no_power_by_a_new_token_for_another_one(world):
    strong, _ = make(world, "read", "decide", days=5)
    lasting, _ = make(world, "read")
    _, token = make(world, "admin", "read", days=10)
    machine = actor_of_key(token)

    for key in (strong, lasting):
        with pytest.raises(MoreThanOwn):
            rotate_key(key_id=key.pk, actor=machine)
    assert len(audited("key.refused")) == 2
    assert not audited("key.rotated")


def test_a_team_has_so_many_keys_and_no_more(world, monkeypatch):
    monkeypatch.setattr("inbox.actions.people.api_keys.MAX_KEYS", 2)  # the world has one
    key, _ = make(world, "read")

    with pytest.raises(InvalidValue):
        make(world, "read")
    revoke_key(key_id=key.pk, actor=SEED)
    make(world, "read")


# -- ending ---------------------------------------------------------------------------------------


def test_an_expired_key_is_let_in_nowhere_also_in_the_middle_of_a_stream(world, later):
    key, token = make(world, "read", days=1)
    actor = actor_of_key(token)
    later(hours=23)
    assert live_access_of([actor]) != [None]
    later(hours=25)

    assert actor_of_key(token) is None
    assert live_access_of([actor]) == [None]
    with pytest.raises(KeyEnded):
        rotate_key(key_id=key.pk, actor=SEED)


def test_a_revoked_key_is_let_in_nowhere_also_in_the_middle_of_a_stream(world, ana):
    key, token = make(world, "read")
    actor = actor_of_key(token)

    revoke_key(key_id=key.pk, actor=ana)
    revoke_key(key_id=key.pk, actor=ana)

    assert actor_of_key(token) is None
    assert live_access_of([actor]) == [None]
    assert [action for action, _ in audited("key.revoked")] == ["key.revoked"]
    with pytest.raises(KeyEnded):
        rotate_key(key_id=key.pk, actor=ana)


def test_the_token_before_works_on_for_a_day_and_its_streams_end_with_it(world, ana, later):
    key, old = make(world, "read")
    follower = actor_of_key(old)
    changed, new = rotate_key(key_id=key.pk, actor=ana)

    assert changed.pk == key.pk
    assert actor_of_key(old).key_id == actor_of_key(new).key_id == key.pk
    later(hours=23)
    assert actor_of_key(old) is not None
    later(hours=25)
    assert actor_of_key(old) is None
    assert live_access_of([follower]) == [None]
    assert live_access_of([actor_of_key(new)]) != [None]


def test_the_token_before_can_be_ended_at_once(world, ana):
    key, old = make(world, "read")
    follower = actor_of_key(old)

    _, new = rotate_key(key_id=key.pk, actor=ana, overlap_hours=0)

    assert actor_of_key(old) is None
    assert live_access_of([follower]) == [None]
    assert actor_of_key(new) is not None


def test_of_three_tokens_the_first_has_ended(world, ana):
    key, first = make(world, "read")
    _, second = rotate_key(key_id=key.pk, actor=ana)
    _, third = rotate_key(key_id=key.pk, actor=ana)

    assert actor_of_key(first) is None
    assert actor_of_key(second).key_id == actor_of_key(third).key_id == key.pk


def test_a_new_token_can_come_with_a_new_end(world, ana):
    key, _ = make(world, "read", days=5)

    rotated, _ = rotate_key(key_id=key.pk, actor=ana)
    later, _ = rotate_key(key_id=key.pk, actor=ana, days=90)
    never, _ = rotate_key(key_id=key.pk, actor=ana, days=None)

    assert rotated.expires_at == key.expires_at
    assert later.expires_at - later.rotated_at == timedelta(days=90)
    assert never.expires_at is None


@pytest.mark.parametrize("hours", [-1, rules.MAX_OVERLAP_HOURS + 1])
def test_the_token_before_lives_no_longer_than_a_week(world, hours):
    key, _ = make(world, "read")

    with pytest.raises(InvalidValue):
        rotate_key(key_id=key.pk, actor=SEED, overlap_hours=hours)


# -- the key of an agent --------------------------------------------------------------------------


def test_the_key_of_an_agent_runs_and_reads_that_agent(world, own):
    run = start(world, "rehearse:tool_call", actor=own)

    assert run_for(own, run.pk) == run
    assert runs_for(own) == [run]
    assert threads_for(own) == [run.thread]
    assert len(full_list_for(own, _everything(), now=database_now()).rows) == 1


def test_the_key_of_an_agent_sees_and_starts_nothing_of_another_agent(world, own, as_agent):
    from inbox.actions.people.provisioning import ensure_agent
    from inbox.actions.runs.cancel_run import cancel_run
    from inbox.actions.runs.start_run import start_run
    from inbox.queries.agents.agents import agent_for, agents_for
    from inbox.queries.decisions.interrupts import detail_for

    other = ensure_agent(
        team=world.team, slug="other", implementation="rehearsal", description="", actor=SEED
    )
    run = start(world, "rehearse:tool_call", agent=other)
    (interrupt,) = open_interrupts(run)

    assert [agent.slug for agent in agents_for(own)] == ["rehearsal"]
    assert (runs_for(own), threads_for(own)) == ([], [])
    assert full_list_for(own, _everything(), now=database_now()).rows == []
    for look in (
        lambda: agent_for(own, "other"),
        lambda: run_for(own, run.pk),
        lambda: thread_for(own, run.thread_id),
        lambda: detail_for(own, interrupt.pk),
        lambda: cancel_run(run_id=run.pk, actor=own),
        lambda: start_run(agent=other, request=request("rehearse:echo"), actor=own),
        lambda: approve(interrupt, own),
    ):
        with pytest.raises(NotFound):
            look()


def _everything():
    from inbox.rules.decisions.list_filters import InterruptFilter, ListState

    return InterruptFilter(state=ListState.ALL)


def test_the_key_of_an_agent_has_nothing_of_its_team(world, own):
    from inbox.queries.people.teams import team_for
    from inbox.queries.webhooks.endpoints import webhooks_for

    with pytest.raises(NotFound):
        team_for(own, "tests")
    assert webhooks_for(own) == []


def test_the_database_keeps_the_key_of_an_agent_from_deciding(world):
    key, _ = make(world, "read", agent="rehearsal")

    for scopes in (["decide"], ["decide", "read"], ["admin"], ["read", "run", "decide"]):
        with pytest.raises(IntegrityError), transaction.atomic():
            ApiKey.objects.filter(pk=key.pk).update(scopes=scopes)


def test_whatever_its_row_says_the_key_of_an_agent_may_not_decide(world):
    for scopes in ("decide", "admin"):
        assert rules.permissions_of_key([scopes, "read"], of_agent=True) == {Permission.READ}
    key, _ = make(world, "read", agent="rehearsal")
    key.scopes = ["decide"]

    assert key.permissions() == frozenset()


def test_deciding_itself_takes_no_answer_from_an_agent(world, monkeypatch):
    """As if domain and database had let the scope through."""
    monkeypatch.setattr(rules, "AGENT_KEY_PERMISSIONS", frozenset(Permission))
    monkeypatch.setattr(ApiKey, "permissions", lambda key: frozenset(Permission))
    _, token = make(world, "read")
    forged = replace(actor_of_key(token), agent_id=world.agent.pk)
    (interrupt,) = open_interrupts(start(world, "rehearse:tool_call"))

    with pytest.raises(Forbidden, match="cannot decide"):
        approve(interrupt, forged)
    assert not Decision.objects.exists()


# -- use ------------------------------------------------------------------------------------------


def test_when_a_key_was_last_used_is_written_beside_the_requests(world, later):
    key, token = make(world, "read")
    actor_of_key(token)
    assert _reread(key).last_used_at is None

    api_key_usage.flush_usage()
    first = _reread(key).last_used_at
    later(seconds=30)
    actor_of_key(token)
    api_key_usage.flush_usage()
    assert _reread(key).last_used_at == first

    later(seconds=90)
    actor_of_key(token)
    api_key_usage.flush_usage()
    assert _reread(key).last_used_at > first


def test_a_process_that_is_late_does_not_write_what_another_has_written(world):
    key, token = make(world, "read")
    actor_of_key(token)
    ahead = database_now() + timedelta(seconds=30)
    ApiKey.objects.filter(pk=key.pk).update(last_used_at=ahead)

    api_key_usage.flush_usage()

    assert _reread(key).last_used_at == ahead


def test_a_use_that_cannot_be_written_now_is_written_later(world, monkeypatch):
    key, token = make(world, "read")

    def broken(*_):
        raise OperationalError("the disk is full")

    with monkeypatch.context() as patched:
        patched.setattr(api_key_usage, "_due", broken)
        assert actor_of_key(token) is not None
        api_key_usage.flush_usage()
    api_key_usage.flush_usage()

    assert _reread(key).last_used_at is not None


def test_a_token_that_has_ended_is_written_down_once_an_hour(world, later):
    key, token = make(world, "read")
    revoke_key(key_id=key.pk, actor=SEED)

    for minutes in (0, 10, 70):
        later(minutes=minutes)
        actor_of_key(token)
        api_key_usage.flush_usage()

    assert [detail["key"] for _, detail in audited("key.refused")] == [str(key.pk)] * 2
    assert token not in json.dumps(list(AuditEntry.objects.values_list("payload__text", flat=True)))


def _reread(key):
    return ApiKey.objects.get(pk=key.pk)
