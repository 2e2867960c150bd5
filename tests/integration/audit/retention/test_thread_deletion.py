"""Threads that are deleted by their age, and the trail that stays of them."""

import json

import pytest
from django.apps import apps
from django.core.management import CommandError, call_command
from django.db import DatabaseError, connection, models, transaction

from inbox import sweeper, transparency_log
from inbox.actions.audit import thread_deletion
from inbox.actions.audit.erasure import erase_expired, erase_thread, set_retention
from inbox.actions.audit.rejections import count_rejection
from inbox.actions.audit.thread_deletion import delete_if_old, keep_thread
from inbox.actions.decisions.claims_and_comments import add_comment
from inbox.actions.decisions.decide import decide
from inbox.actions.idempotency import created_row, delete_old_records
from inbox.actions.limits.count_use import count_use_of_teams
from inbox.actions.people.members import change_team
from inbox.models import (
    AuditEntry,
    AuditPayload,
    Comment,
    Event,
    File,
    IdempotencyRecord,
    Interrupt,
    RejectionCount,
    Run,
    StoredBlob,
    TeamUse,
    Thread,
    ToolCall,
)
from inbox.queries.audit.audit_entries import export_scope
from inbox.queries.audit.deleted_threads import deletion_behind, deletion_of
from inbox.queries.decisions.masked_values import bodies_of_entry, interrupt_bodies_by_id
from inbox.rules.audit.audit_filters import EntryFilter
from inbox.rules.decisions.gate import Entrance
from inbox.rules.errors import Forbidden, NotFound
from inbox.rules.people.access import SEED
from inbox.rules.runs.states import EntryStatus
from inbox.rules.schema.mask_agui import masked_detail
from inbox.rules.schema.secrets import MASK
from inbox.transparency_log.reconciliation import reconcile
from inbox.transparency_log.verification import verify_chain
from tests.support import steps
from tests.support.audit.logs import verify
from tools.audit_verifier import Key


@pytest.fixture
def keeps_30_days(world):
    change_team(team_id=world.team.pk, thread_days=30, actor=SEED)


def finished(world, scenario="rehearse:tool_call"):
    """Return a run whose interrupts were approved and whose resume has ended."""
    run = steps.start(world, scenario)
    for interrupt in steps.open_interrupts(run):
        steps.approve(interrupt, world.actor(world.bob))
    steps.resumed_run(run)
    return run


def test_old_threads_are_deleted_and_the_trail_still_verifies(
    log, auditor, world, keeps_30_days, later
):
    for run in Run.objects.filter(status="interrupted", resumed_by=None):
        steps.resumed_run(run)
    finished(world)
    threads = set(Thread.objects.filter(team=world.team).values_list("pk", flat=True))
    entries = AuditEntry.objects.count()

    later(days=31)
    sweeper.delete_old_threads()

    left = Thread.objects.filter(team=world.team, pk__in=threads)
    assert len(left) < len(threads)
    assert not reconcile()
    deleted = AuditEntry.objects.filter(action="thread.deleted", actor_id="system:retention")
    assert len(deleted) == len(threads) - len(left)
    assert AuditEntry.objects.count() > entries
    transparency_log.append_and_sign()
    assert (verify(auditor)["verdict"], verify(auditor)["findings"]) == ("intact", [])
    chain = verify_chain(Key(auditor.key), auditor.notes, chain=deleted[0].chain)
    assert (chain["verdict"], chain["findings"]) == ("intact", [])


def test_the_entry_says_when_and_by_which_rule(world, later, settings):
    settings.THREAD_DAYS = 60
    run = finished(world)
    later(days=61)

    assert delete_if_old(thread_id=run.thread_id)

    entry = AuditEntry.objects.get(chain=run.thread_id, action="thread.deleted")
    detail = entry.content["detail"]
    assert (detail["days"], detail["rule"], detail["runs"]) == (60, "installation", 2)
    assert detail["agent"] == world.agent.slug
    deletion = deletion_of(run.thread_id)
    assert (deletion.days, deletion.team_id) == (60, world.team.pk)


def test_no_row_of_a_deleted_thread_is_left(world, bob, keeps_30_days, later):
    run = steps.start(world, "rehearse:tool_call")
    (interrupt,) = steps.open_interrupts(run)
    for subject in (run.thread_id, run.pk, interrupt.pk):
        count_rejection(subject, bob, "decide", "FORBIDDEN")
    add_comment(interrupt_id=interrupt.pk, text="Looks right", actor=bob)
    steps.approve(interrupt, bob)
    steps.resumed_run(run)
    later(days=31)
    before = {model for model in thread_deletion.ROWS if _rows_of(model, run.thread_id)}
    assert {Thread, Run, Event, Interrupt, ToolCall, Comment} <= before

    assert delete_if_old(thread_id=run.thread_id)

    assert not [model for model in thread_deletion.ROWS if _rows_of(model, run.thread_id)]
    assert not RejectionCount.objects.exists()
    connection.check_constraints()


def _rows_of(model, thread_id):
    return sum(
        model._default_manager.filter(**{path: thread_id}).count()
        for path in thread_deletion.ROWS[model]
    )


def test_every_table_with_rows_of_a_thread_is_deleted():
    of_thread, grows = {Thread}, True
    while grows:
        related = {
            model
            for model in apps.get_app_config("inbox").get_models()
            for field in model._meta.get_fields()
            if isinstance(field, models.ForeignKey)
            and field.db_constraint
            and field.related_model in of_thread
        }
        grows = not related <= of_thread
        of_thread |= related

    assert of_thread == set(thread_deletion.ROWS)


@pytest.mark.parametrize("days", [None, 0])
def test_threads_are_kept_by_default(world, later, days):
    change_team(team_id=world.team.pk, thread_days=days, actor=SEED)
    run = finished(world)
    later(days=4_000)

    sweeper.delete_old_threads()

    assert Thread.objects.filter(pk=run.thread_id).exists()


def test_a_team_may_keep_what_the_installation_deletes(world, later, settings):
    settings.THREAD_DAYS = 30
    change_team(team_id=world.team.pk, thread_days=0, actor=SEED)
    run = finished(world)
    later(days=31)

    sweeper.delete_old_threads()

    assert Thread.objects.filter(pk=run.thread_id).exists()


def test_younger_threads_and_those_with_work_under_way_stay(world, bob, keeps_30_days, later):
    young_by_an_hour = finished(world)
    later(days=30, hours=-1)
    sweeper.delete_old_threads()
    assert Thread.objects.filter(pk=young_by_an_hour.thread_id).exists()
    later(days=0)
    asks = steps.start(world, "rehearse:tool_call")
    change_team(team_id=world.team.pk, grace_seconds=3_000, actor=SEED)
    in_grace = steps.start(world, "rehearse:tool_call")
    (interrupt,) = steps.open_interrupts(in_grace)
    decide(
        interrupt_id=interrupt.pk,
        status=EntryStatus.RESOLVED,
        payload=steps.APPROVE,
        view_digest=interrupt.shown_digest,
        actor=bob,
        entrance=Entrance.PAGE,
        unseen=True,
    )
    assert steps.reread(in_grace).resume_at
    doubt = finished(world)
    calls = ToolCall.objects.filter(thread=doubt.thread_id)
    calls.update(state="in_doubt", started_at=doubt.queued_at)
    later(days=31)

    sweeper.delete_old_threads()

    for run in (asks, in_grace, doubt):
        assert Thread.objects.filter(pk=run.thread_id).exists(), run
    assert not Thread.objects.filter(pk=young_by_an_hour.thread_id).exists()


def test_a_kept_thread_stays_until_it_is_released(world, dora, keeps_30_days, later):
    run = finished(world)
    with pytest.raises(Forbidden):
        keep_thread(thread_id=run.thread_id, is_kept=True, actor=dora)
    for _ in range(2):
        keep_thread(thread_id=run.thread_id, is_kept=True, actor=SEED)
    later(days=31)
    sweeper.delete_old_threads()
    assert Thread.objects.filter(pk=run.thread_id).exists()

    keep_thread(thread_id=run.thread_id, is_kept=False, actor=SEED)
    sweeper.delete_old_threads()

    assert not Thread.objects.filter(pk=run.thread_id).exists()
    actions = AuditEntry.objects.filter(chain=run.thread_id).order_by("seq")
    actions = list(actions.values_list("action", flat=True))
    assert actions[-3:] == ["thread.kept", "thread.released", "thread.deleted"]


def test_events_and_comments_are_deleted_with_their_thread_only(world, bob):
    run = steps.start(world, "rehearse:tool_call")
    add_comment(interrupt_id=steps.open_interrupts(run)[0].pk, text="?", actor=bob)
    for rows in (Event.objects.filter(thread=run.thread_id), Comment.objects.all()):
        with pytest.raises(DatabaseError, match="append-only"), transaction.atomic():
            rows._raw_delete("default")


def test_a_thread_that_vanishes_without_an_entry_is_a_finding(world, unprotected_rows):
    run = finished(world, "rehearse:echo")
    Event.objects.filter(thread=run.thread_id)._raw_delete("default")
    Run.objects.filter(thread=run.thread_id)._raw_delete("default")
    Thread.objects.filter(pk=run.thread_id)._raw_delete("default")

    assert ("chain", "thread_gone") in [(item.place, item.code) for item in reconcile()]


def test_a_thread_that_comes_back_is_a_finding(world, keeps_30_days, later):
    run = finished(world, "rehearse:echo")
    row = Thread.objects.get(pk=run.thread_id)
    later(days=31)
    delete_if_old(thread_id=run.thread_id)

    row.save(force_insert=True)

    assert [item.code for item in reconcile()] == ["thread_not_deleted"]


@pytest.fixture
def unprotected_rows(world):
    from inbox.platform import append_only_triggers

    append_only_triggers.remove(connection)


def test_payloads_of_deleted_threads_are_erased_by_age_and_by_hand(
    log, auditor, world, keeps_30_days, later
):
    first, second = finished(world), finished(world)
    later(days=31)
    for run in (first, second):
        assert delete_if_old(thread_id=run.thread_id)

    assert erase_thread(thread_id=first.thread_id, reason="asked for", actor=SEED) > 3
    set_retention(team_id=world.team.pk, days=20, actor=SEED)
    later(days=60)
    erase_expired(team_id=world.team.pk)

    texts = AuditPayload.objects.filter(entry__chain__in=(first.thread_id, second.thread_id))
    assert set(texts.values_list("entry__action", flat=True)) == {"audit.erased"}
    transparency_log.append_and_sign()
    assert verify(auditor)["findings"] == []
    assert deletion_of(first.thread_id).days is None


def test_storage_of_a_team_shrinks(world, keeps_30_days, later):
    run = finished(world)
    count_use_of_teams()
    assert TeamUse.objects.get(team=world.team).event_bytes > 0

    later(days=31)
    delete_if_old(thread_id=run.thread_id)
    count_use_of_teams()

    use = TeamUse.objects.get(team=world.team)
    assert (use.threads, use.event_bytes) == (0, 0)


def test_only_members_learn_that_a_thread_was_deleted(world, bob, carol, keeps_30_days, later):
    run = finished(world)
    interrupt = Interrupt.objects.get(thread=run.thread_id)
    later(days=31)
    delete_if_old(thread_id=run.thread_id)

    for pk in (run.thread_id, run.pk, interrupt.pk, interrupt.tool_call_id):
        assert deletion_behind(bob, [pk]).thread_id == run.thread_id
        assert deletion_behind(carol, [pk]) is None
    with pytest.raises(NotFound):
        export_scope(carol, EntryFilter(thread=run.thread_id))


def test_answers_and_arguments_of_deleted_threads_are_masked(world, keeps_30_days, later):
    run = finished(world)
    later(days=31)
    delete_if_old(thread_id=run.thread_id)
    entries = AuditEntry.objects.filter(chain=run.thread_id, tool_call__isnull=False)
    entries = list(entries.select_related("payload"))
    bodies = interrupt_bodies_by_id(entries)

    details = [
        masked_detail(
            {"args": json.dumps({"note": "private"}), "payload": {"reason": "private"}},
            *bodies_of_entry(entry, bodies),
        )
        for entry in entries
    ]

    assert details
    for detail in details:
        assert "private" not in json.dumps(detail)
        assert MASK in json.dumps(detail, ensure_ascii=False)


def test_an_idempotency_key_of_a_deleted_run_says_so(world, keeps_30_days, later):
    run = finished(world)
    later(days=31)
    delete_if_old(thread_id=run.thread_id)

    with pytest.raises(NotFound, match="new key"):
        created_row(Run, run.pk)


def test_idempotency_keys_are_deleted_after_thirty_days(world, later):
    from inbox.actions.idempotency import IdempotencyKey, existing_result
    from inbox.platform.clock import database_now

    actor = world.actor(world.alice)
    existing_result(IdempotencyKey("k", "request"), actor=actor, now=database_now())
    later(days=29)
    assert delete_old_records() == 0

    later(days=31)

    assert delete_old_records() == 1
    assert not IdempotencyRecord.objects.exists()


def test_stored_bytes_of_a_deleted_thread_are_erased(
    world, keeps_30_days, later, django_capture_on_commit_callbacks
):
    run = finished(world)
    stored = {"team": world.team, "sha256": "0" * 64, "size": 3, "created_at": run.queued_at}
    blob = StoredBlob.objects.create(key="k", state="stored", **stored)
    File.objects.create(thread_id=run.thread_id, blob=blob, name="a.txt", **stored)
    later(days=31)

    with django_capture_on_commit_callbacks(execute=True):
        assert delete_if_old(thread_id=run.thread_id)

    assert not File.objects.exists()
    assert not StoredBlob.objects.exists()


def test_the_command_sets_days_never_and_the_default(world):
    for text, stored in (("30", 30), ("never", 0), ("default", None)):
        call_command("set_retention", "tests", "threads", text)
        world.team.refresh_from_db()
        assert world.team.thread_days == stored
    for wrong in (("nobody", "30"), ("tests", "soon"), ("tests", "100000")):
        with pytest.raises(CommandError):
            call_command("set_retention", wrong[0], "threads", wrong[1])
