"""A backup of a running installation, its restoration, and what goes on afterwards."""

import functools
import io
import shutil
import sqlite3
import tarfile
import threading
from contextlib import closing, contextmanager
from pathlib import Path

import psycopg
import pytest

from tests.support.postgres import PostgresServer
from tests.support.processes import (
    StartFailed,
    embedded_environment,
    manage,
    migrated_database,
    start_embedded,
)
from tests.support.product_client import APPROVE, Client, wait_for

#: The working directory of the server is its data directory.
_ARCHIVED = {
    "archive_mode": "on",
    "archive_command": "test ! -f ../wal/%f && cp %p ../wal/%f",
}
_SCOPES = [part for scope in ("run", "read", "decide") for part in ("--scope", scope)]


@pytest.fixture
def installation(tmp_path):
    """The environment of an installation that executes one run at a time."""
    (tmp_path / "data").mkdir()
    return embedded_environment(tmp_path / "data", SIGNOFF_WORKER_CONCURRENCY="1")


@pytest.fixture
def empty(installation, tmp_path):
    """An installation that has only a migrated database."""
    shutil.copy(migrated_database(), tmp_path / "data" / "signoff.sqlite3")
    return installation


def restored(installation, tmp_path, archive):
    """Restore an archive beside the installation; both count executions in one ledger."""
    environment = {**installation, "SIGNOFF_DATA_DIR": str(tmp_path / "restored")}
    printed = manage(environment, "restore", str(archive))
    return environment, printed


def checkpoints_of(environment):
    """Return the checkpoint file: it is there once the trail was signed for the first time."""
    return Path(environment["SIGNOFF_DATA_DIR"]) / "checkpoints"


def counts(environment):
    """Return the number of executions of the charge, by key."""
    with closing(sqlite3.connect(environment["SIGNOFF_LEDGER"])) as ledger:
        if not ledger.execute("SELECT 1 FROM sqlite_master WHERE name = 'execution'").fetchone():
            return {}
        return dict(ledger.execute("SELECT key, count(*) FROM execution GROUP BY key"))


@contextmanager
def writes(client):
    """Start runs all the time."""
    stopped = threading.Event()

    def write():
        while not stopped.is_set():
            client.start("rehearse:echo")

    writer = threading.Thread(target=write)
    writer.start()
    try:
        yield
    finally:
        stopped.set()
        writer.join()


def is_open(client, run):
    return run["id"] in {row["run"] for row in client.pending()}


def interrupt_of(client, run):
    return next(row for row in client.pending() if row["run"] == run["id"])


def now_of(url):
    with psycopg.connect(url) as connection:
        return connection.execute("SELECT clock_timestamp()").fetchone()[0].isoformat()


def finish_archive(database):
    """Archive what is written, and shut the server down."""
    with psycopg.connect(database.url, autocommit=True) as connection:
        connection.execute("SELECT pg_switch_wal()")
    database.shut_down("fast")


def is_recovering(database):
    with psycopg.connect(database.url) as connection:
        return connection.execute("SELECT pg_is_in_recovery()").fetchone()[0]


def statuses(client, runs):
    return [client.run(run["id"])["status"] for run in runs]


def latest_run(client, run):
    runs = client.http.get(f"/api/threads/{run['thread']}/runs").json()["results"]
    return max(runs, key=lambda row: row["id"])


def test_restored_installation_goes_on_and_repeats_nothing_by_itself(installation, tmp_path):
    archive = tmp_path / "backup.tar.gz"
    with start_embedded(installation, log=tmp_path / "log", demo=True) as product:
        key = manage(installation, "create_api_key", "--name", "tests", *_SCOPES)
        with Client(product.url, key) as client:
            open_run = client.start("rehearse:effect:open").json()
            approved_run = client.start("rehearse:effect:approved").json()
            for run in (open_run, approved_run):
                assert wait_for(functools.partial(is_open, client, run), seconds=60)
            blockers = [client.start("rehearse:sleep:600").json() for _ in range(3)]
            assert wait_for(lambda: statuses(client, blockers).count("running") == 1, seconds=60)
            client.decide(interrupt_of(client, approved_run), APPROVE).raise_for_status()
            assert wait_for(checkpoints_of(installation).exists, seconds=60)
            with writes(client):
                manage(installation, "backup", str(archive))
            # The work of the backup is done after it.
            for run in blockers:
                client.http.post(f"/api/runs/{run['id']}/cancel")
            client.decide(interrupt_of(client, open_run), APPROVE).raise_for_status()
            done = {"open": 1, "approved": 1}
            assert wait_for(lambda: counts(installation) == done, seconds=60)

    environment, printed = restored(installation, tmp_path, archive)

    assert "RESTORED" in printed
    assert "intact" in manage(environment, "audit_verify")
    with (
        start_embedded(environment, log=tmp_path / "log2") as product,
        Client(product.url, key) as client,
    ):
        failed = latest_run(client, approved_run)
        assert (failed["status"], failed["error_code"]) == ("failed", "RESTORED")
        interrupt = interrupt_of(client, open_run)
        entries = client.http.get(f"/api/threads/{open_run['thread']}/audit").json()
        assert "thread.restored" in [entry["action"] for entry in entries["results"]]
        assert counts(installation) == done

        assert client.decide(interrupt, APPROVE).json()["code"] == "RESTORE_NOT_CHECKED"
        assert client.decide(interrupt, APPROVE).status_code == 409
        client.decide(interrupt, None, status="cancelled").raise_for_status()
        retried = client.http.post(f"/api/runs/{failed['id']}/retry")

        assert retried.status_code == 202
        assert wait_for(
            lambda: latest_run(client, approved_run)["status"] == "succeeded", seconds=60
        )
        assert wait_for(lambda: latest_run(client, open_run)["status"] == "succeeded", seconds=60)
        assert counts(installation) == {"open": 1, "approved": 2}  # a person has asked for it


def test_postgres_is_restored_to_a_moment(tmp_path):
    """The commands are those of docs/recovery.md."""
    with PostgresServer(settings=_ARCHIVED) as database:
        wal, base = database.create_folder("wal"), database.create_folder("base")
        environment = embedded_environment(
            tmp_path,
            DATABASE_URL=database.create_database("signoff"),
            SIGNOFF_SECRET_KEY="a key of the environment, which a backup does not have",
        )
        manage(environment, "migrate", "--verbosity=0")
        with start_embedded(environment, log=tmp_path / "log", demo=True) as product:
            key = manage(environment, "create_api_key", "--name", "tests", *_SCOPES)
            with Client(product.url, key) as client:
                before = client.start("rehearse:effect:before").json()
                assert wait_for(lambda: is_open(client, before), seconds=60)
                database.run_tool(
                    "pg_basebackup",
                    f"--pgdata={base}",
                    *("--format=tar", "--gzip", "--wal-method=none", "--checkpoint=fast"),
                )
                after = client.start("rehearse:effect:after").json()
                assert wait_for(lambda: is_open(client, after), seconds=60)
                assert wait_for(checkpoints_of(environment).exists, seconds=60)
                moment = now_of(environment["DATABASE_URL"])
                client.decide(interrupt_of(client, before), APPROVE).raise_for_status()
                assert wait_for(lambda: counts(environment) == {"before": 1}, seconds=60)
        finish_archive(database)

        database.restore(
            base / "base.tar.gz",
            settings={
                "restore_command": f"cp {wal}/%f %p",
                "recovery_target_time": moment,
                "recovery_target_action": "promote",
            },
        )
        assert wait_for(lambda: not is_recovering(database), seconds=60)
        manage(environment, "migrate", "--verbosity=0")
        manage(environment, "after_restore", "--made-at", moment)
        checkpoints_of(environment).rename(tmp_path / "checkpoints-before-restore")

        assert "intact" in manage(environment, "audit_verify")
        with (
            start_embedded(environment, log=tmp_path / "log2") as product,
            Client(product.url, key) as client,
        ):
            assert is_open(client, before)
            assert is_open(client, after)
            assert counts(environment) == {"before": 1}


def test_backup_does_not_replace_a_file(empty, tmp_path):
    target = tmp_path / "backup.tar.gz"
    target.write_text("Something else")

    with pytest.raises(StartFailed, match="exists"):
        manage(empty, "backup", str(target))

    assert target.read_text() == "Something else"


def test_backup_without_a_database_names_the_directory(installation, tmp_path):
    with pytest.raises(StartFailed, match="has no database"):
        manage(installation, "backup", str(tmp_path / "backup.tar.gz"))


def test_restore_does_not_replace_a_database(empty, tmp_path):
    archive = backup_of(empty, tmp_path)

    with pytest.raises(StartFailed, match="has a database"):
        manage(empty, "restore", str(archive))


def test_damaged_archives_restore_nothing(empty, tmp_path):
    archive = backup_of(empty, tmp_path)
    content = archive.read_bytes()
    damaged = {
        "cut": content[: len(content) // 2],
        "changed": content[:2_000] + b"\0" * 8 + content[2_008:],
        "empty": b"",
    }

    for name, broken in damaged.items():
        path = tmp_path / f"{name}.tar.gz"
        path.write_bytes(broken)
        with pytest.raises(StartFailed, match="Nothing was restored"):
            restored(empty, tmp_path, path)

    assert not (tmp_path / "restored" / "signoff.sqlite3").exists()
    restored(empty, tmp_path, archive)


def test_member_that_differs_from_the_manifest_is_rejected(empty, tmp_path):
    archive, other = backup_of(empty, tmp_path), tmp_path / "other.tar.gz"
    with tarfile.open(archive) as old, tarfile.open(other, "w:gz") as new:
        for member in old.getmembers():
            file = old.extractfile(member)
            if member.name == "secret-key":
                member.size, file = 3, io.BytesIO(b"abc")
            new.addfile(member, file)

    with pytest.raises(StartFailed, match="secret-key is missing or differs"):
        restored(empty, tmp_path, other)


def test_restore_asks_for_the_keys_of_the_environment(empty, tmp_path):
    own = {**empty, "SIGNOFF_SECRET_KEY": "a key that only the environment has"}
    archive = backup_of(own, tmp_path)

    with pytest.raises(StartFailed, match="set SIGNOFF_SECRET_KEY to the same key"):
        restored(empty, tmp_path, archive)


def backup_of(environment, tmp_path):
    archive = tmp_path / "backup.tar.gz"
    manage(environment, "backup", str(archive))
    return archive
