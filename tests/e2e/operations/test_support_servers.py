import shutil
import socket
import subprocess
import sys
import time
from pathlib import Path

import psutil
import psycopg
import pytest
import redis

from tests.support import postgres, valkey
from tests.support.children import StartFailed, free_port, start_child, wait_until
from tests.support.postgres import PostgresServer
from tests.support.valkey import ValkeyServer

REPOSITORY = Path(__file__).parents[3]


@pytest.fixture
def no_given_servers(monkeypatch):
    monkeypatch.delenv(postgres.URL_VARIABLE, raising=False)
    monkeypatch.delenv(valkey.URL_VARIABLE, raising=False)


@pytest.mark.services
@pytest.mark.usefixtures("no_given_servers")
@pytest.mark.parametrize("mode", ["fast", "immediate", "kill"])
def test_committed_rows_survive_every_way_to_restart_postgres(mode):
    with PostgresServer() as server:
        with psycopg.connect(server.url) as connection:
            connection.execute("CREATE TABLE kept AS SELECT 7 AS value")

        server.restart(mode)

        with psycopg.connect(server.url) as connection:
            assert connection.execute("SELECT value FROM kept").fetchall() == [(7,)]


@pytest.mark.services
@pytest.mark.usefixtures("no_given_servers")
@pytest.mark.parametrize(("durable", "fsync"), [(False, "off"), (True, "on")])
def test_postgres_takes_200_connections_and_syncs_only_when_durable(durable, fsync):
    with (
        PostgresServer(durable=durable) as server,
        psycopg.connect(server.url) as connection,
    ):
        settings = connection.execute(
            "SELECT current_setting('max_connections'), current_setting('fsync')"
        ).fetchone()

    assert settings == ("200", fsync)


@pytest.mark.services
def test_a_new_database_is_empty_although_one_of_its_name_was_in_use():
    with PostgresServer() as server:
        url = server.create_database("signoff_support_test")
        with psycopg.connect(url, autocommit=True) as in_use:
            in_use.execute("CREATE TABLE old (value integer)")

            server.create_database("signoff_support_test")

        with psycopg.connect(url) as connection:
            assert connection.execute("SELECT to_regclass('old')").fetchone() == (None,)


@pytest.mark.services
@pytest.mark.usefixtures("no_given_servers")
def test_nothing_listens_once_the_servers_are_stopped():
    with PostgresServer() as database, ValkeyServer() as rings:
        ports = [psycopg.conninfo.conninfo_to_dict(database.url)["port"], rings.url[-7:-2]]

    for port in ports:
        with socket.socket() as probe, pytest.raises(ConnectionRefusedError):
            probe.connect(("127.0.0.1", int(port)))


@pytest.mark.services
@pytest.mark.usefixtures("no_given_servers")
@pytest.mark.parametrize(("durable", "expected"), [(False, None), (True, b"7")])
def test_valkey_forgets_over_a_restart_unless_it_is_durable(durable, expected):
    with ValkeyServer(durable=durable) as server:
        redis.Redis.from_url(server.url).set("value", 7)

        server.restart()

        assert redis.Redis.from_url(server.url).get("value") == expected


def test_a_server_given_by_url_is_used_and_left_alone(monkeypatch):
    monkeypatch.setenv(valkey.URL_VARIABLE, "redis://somewhere:6379/3")

    with ValkeyServer() as server:
        assert server.url == "redis://somewhere:6379/3"
        with pytest.raises(RuntimeError, match="not ours"):
            server.restart()


def test_a_child_that_ends_early_is_reported_with_the_end_of_its_log(tmp_path):
    log = tmp_path / "log"
    child = start_child(["sh", "-c", "echo out of luck; exit 3"], log=log)

    with pytest.raises(StartFailed, match=r"(?s)code 3.*out of luck"):
        wait_until(lambda: False, process=child, log=log, what="It", timeout_seconds=10)


def test_a_free_port_can_be_bound():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", free_port()))


KILLED_RUN = """
import os, signal
from tests.support.postgres import PostgresServer
from tests.support.valkey import ValkeyServer

for server in (PostgresServer(), ValkeyServer()):
    print(server.pid, server.log, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.services
@pytest.mark.usefixtures("no_given_servers")
@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells a child that its parent died")
def test_a_killed_test_run_leaves_no_server_behind():
    killed = subprocess.run(
        [sys.executable, "-c", KILLED_RUN],
        cwd=REPOSITORY,
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )

    servers = [line.split() for line in killed.stdout.splitlines()]
    assert len(servers) == 2
    for pid, log in servers:
        _wait_for_end(int(pid))
        shutil.rmtree(Path(log).parent)


def _wait_for_end(pid):
    deadline = time.monotonic() + 10
    while _is_running(pid):
        assert time.monotonic() < deadline, f"process {pid} still runs"
        time.sleep(0.01)


def _is_running(pid):
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
