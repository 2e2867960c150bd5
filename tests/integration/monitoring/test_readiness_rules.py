"""Readiness: which part is in which state, and what makes a process unready."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from uuid import uuid4

import pytest

from inbox.actions.monitoring.heartbeats import KEPT, delete_heartbeat, record_heartbeat
from inbox.actions.runs.start_run import start_run
from inbox.models import Run, WorkerHeartbeat
from inbox.platform.clock import database_now
from inbox.platform.monitoring.parts import PartStatus, disk
from inbox.queries.monitoring import readiness
from inbox.queries.monitoring.readiness import (
    Readiness,
    ReadinessCheck,
    needed_parts,
    worker_state,
)
from tests.support.steps import request

pytestmark = pytest.mark.django_db


def status_of(part):
    return ReadinessCheck()().parts[part].status


def age(pk, **columns):
    now = database_now()
    WorkerHeartbeat.objects.filter(pk=pk).update(
        **{name: now - timedelta(seconds=seconds) for name, seconds in columns.items()}
    )


def test_without_a_heartbeat_nobody_takes_runs_or_sweeps():
    assert status_of("workers") is PartStatus.FAILING
    assert status_of("sweeper") is PartStatus.FAILING


def test_a_worker_counts_while_it_is_heard_and_receives_messages():
    worker = uuid4()

    record_heartbeat(worker_id=worker, is_consuming=True, has_swept=True)
    assert (status_of("workers"), status_of("sweeper")) == (PartStatus.OK, PartStatus.OK)

    record_heartbeat(worker_id=worker, is_consuming=False, has_swept=False)
    assert status_of("workers") is PartStatus.FAILING

    record_heartbeat(worker_id=worker, is_consuming=True, has_swept=False)
    age(worker, seen_at=21)
    assert status_of("workers") is PartStatus.FAILING

    record_heartbeat(worker_id=worker, is_consuming=True, has_swept=False)
    age(worker, swept_at=31)
    assert (status_of("workers"), status_of("sweeper")) == (PartStatus.OK, PartStatus.FAILING)


def test_a_stopped_worker_leaves_no_heartbeat():
    worker = uuid4()
    record_heartbeat(worker_id=worker, is_consuming=True, has_swept=False)

    delete_heartbeat(worker_id=worker)

    assert not WorkerHeartbeat.objects.exists()


def test_heartbeats_of_crashed_workers_are_deleted_after_an_hour():
    crashed, new = uuid4(), uuid4()
    record_heartbeat(worker_id=crashed, is_consuming=True, has_swept=False)
    age(crashed, seen_at=KEPT.total_seconds() + 1)

    record_heartbeat(worker_id=new, is_consuming=True, has_swept=False)

    assert list(WorkerHeartbeat.objects.values_list("pk", flat=True)) == [new]


def test_a_run_that_waits_for_long_means_too_few_workers(world):
    record_heartbeat(worker_id=uuid4(), is_consuming=True, has_swept=True)
    run = start_run(
        agent=world.agent, request=request("rehearse:echo"), actor=world.actor(world.alice)
    ).run
    Run.objects.filter(pk=run.pk).update(queued_at=database_now() - timedelta(seconds=61))

    assert status_of("workers") is PartStatus.DEGRADED
    assert worker_state().oldest_queued_seconds >= 61


def test_only_needed_parts_make_a_process_unready():
    parts = ReadinessCheck()().parts
    readiness = Readiness(parts)

    assert readiness.status(needed_parts(is_worker=False)) is PartStatus.DEGRADED
    assert readiness.status(["workers"]) is PartStatus.FAILING


def test_a_data_directory_without_writes_fails_and_a_full_one_is_degraded(settings, tmp_path):
    settings.DATA_DIR = tmp_path
    assert disk().status is PartStatus.OK

    settings.FREE_DISK_BYTES = disk().detail["free_bytes"] * 2
    assert disk().status is PartStatus.DEGRADED

    settings.DATA_DIR = Path("/proc")  # takes no files, not even of root
    assert disk().status is PartStatus.FAILING


def test_scaled_processes_with_a_bucket_need_no_disk(settings):
    settings.EMBEDDED, settings.FILES_URL = False, "s3://bucket"
    assert needed_parts(is_worker=False) == {"database"}
    assert needed_parts(is_worker=True) == {"database", "broker"}

    settings.FILES_URL = ""
    assert "disk" in needed_parts(is_worker=False)


def test_while_one_request_checks_others_get_the_last_result(monkeypatch):
    check = ReadinessCheck()
    monkeypatch.setattr(readiness, "_parts", dict)
    first = check()
    monkeypatch.setattr(readiness, "CACHE_SECONDS", 0)
    check._until = 0
    others = []

    def ask_meanwhile():
        with ThreadPoolExecutor(1) as pool:
            others.append(pool.submit(check).result(timeout=10))
        return {}

    monkeypatch.setattr(readiness, "_parts", ask_meanwhile)

    check()

    assert others == [first]
