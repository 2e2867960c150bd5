"""A database or a Redis that cannot be used is one line, which says what to change."""

import subprocess
import sys
from pathlib import Path

import psycopg
import pytest
import structlog
from django.core.management import CommandError

from inbox.management.services import check_services
from inbox.platform.deployment.connection_errors import database_problem
from tests.support.children import free_port
from tests.support.postgres import PostgresServer
from tests.support.processes import REPOSITORY, scaled_environment
from tests.support.valkey import ValkeyServer

USERS = "user default off\nuser signoff on >right ~* &* +@all\n"
ROLES = ["--web", "--worker", "--signer"]


@pytest.fixture(scope="module")
def postgres():
    with PostgresServer() as server:
        with psycopg.connect(server.url, autocommit=True) as connection:
            connection.execute("CREATE ROLE bob LOGIN PASSWORD 'right'")
            (rules,) = connection.execute("SHOW hba_file").fetchone()
            Path(rules).write_text(
                "host all bob 127.0.0.1/32 scram-sha-256\n"
                "host all carol 127.0.0.1/32 reject\n"
                "host all all 127.0.0.1/32 trust\n"
            )
            connection.execute("SELECT pg_reload_conf()")
            connection.execute("CREATE ROLE carol LOGIN")
        yield server


@pytest.fixture(scope="module")
def valkey():
    with ValkeyServer(users=USERS, user="signoff", password="right") as server:
        yield server


def run(directory, *command, database_url, redis_url, **more):
    """Run a command that ends by itself; return its exit code and the lines that it wrote."""
    environment = scaled_environment(
        directory, database_url=database_url, redis_url=redis_url, SIGNOFF_SEPARATE_SIGNER="1"
    )
    done = subprocess.run(
        [sys.executable, "manage.py", *command],
        env={**environment, "SIGNOFF_STATIC_ROOT": str(directory), **more},
        cwd=REPOSITORY,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=120,
        check=False,
    )
    return done.returncode, done.stdout.splitlines()


def address(server, *, user="signoff", host="", database="postgres"):
    place = server.url.partition("@")[2].rpartition("/")[0]
    return f"postgresql://{user}@{host or place}/{database}"


#: What is wrong with the address, the cause and the cure.
ADDRESSES = {
    "password": (
        {"user": "bob:wrong"},
        'password authentication failed for user "bob"',
        "correct the user or the password, in DATABASE_URL or SIGNOFF_DATABASE_PASSWORD",
    ),
    "database": (
        {"database": "nothing"},
        'database "nothing" does not exist',
        "create the database, or correct its name in DATABASE_URL",
    ),
    "role": ({"user": "nobody"}, 'role "nobody" does not exist', "create the role with LOGIN"),
    "host": ({"host": "nowhere.invalid"}, "nowhere.invalid", "correct the host in DATABASE_URL"),
    "port": (
        {"host": "127.0.0.1:{free}"},
        "Connection refused",
        "start PostgreSQL, or correct the host and the port in DATABASE_URL",
    ),
    "rules": ({"user": "carol"}, "pg_hba.conf", "allow this user and this machine in pg_hba.conf"),
    "encryption": (
        {"database": "postgres?sslmode=require"},
        "server does not support SSL",
        "correct sslmode and sslrootcert in DATABASE_URL",
    ),
}


@pytest.mark.services
@pytest.mark.parametrize(("parts", "cause", "cure"), ADDRESSES.values(), ids=ADDRESSES.keys())
def test_database_that_cannot_be_used_has_a_cause_and_a_cure(postgres, parts, cause, cure):
    parts = {name: text.replace("{free}", str(free_port())) for name, text in parts.items()}
    with pytest.raises(psycopg.OperationalError) as raised:
        psycopg.connect(address(postgres, **parts))

    line = database_problem(raised.value)

    assert "\n" not in line
    assert cause in line
    assert cure in line
    assert "wrong" not in line


@pytest.mark.services
@pytest.mark.parametrize(
    "command",
    [["migrate"], *(["serve", role] for role in ROLES), ["set_grace", "t", "10"]],
    ids=" ".join,
)
def test_wrong_password_is_one_line_for_every_command(tmp_path, postgres, valkey, command):
    url = address(postgres, user="bob:wrong")

    code, lines = run(tmp_path, *command, database_url=url, redis_url=valkey.url)

    port = url.rpartition(":")[2].partition("/")[0]
    assert code == 1
    assert "\n".join(lines) == (
        f'The database cannot be used: connection to server at "127.0.0.1", port {port} failed: '
        'password authentication failed for user "bob". To start, correct the user or the '
        "password, in DATABASE_URL or SIGNOFF_DATABASE_PASSWORD."
    )


@pytest.mark.services
def test_database_that_is_away_is_one_line(tmp_path, postgres, valkey):
    url = address(postgres, host=f"127.0.0.1:{free_port()}")

    code, lines = run(tmp_path, "serve", "--web", database_url=url, redis_url=valkey.url)

    assert (code, len(lines)) == (1, 1), lines
    assert "start PostgreSQL, or correct the host and the port" in lines[0]


@pytest.mark.services
@pytest.mark.parametrize("role", ["--web", "--worker"])
def test_wrong_password_of_redis_is_one_line(tmp_path, postgres, valkey, role):
    url = valkey.url.replace(":right@", ":wrong@")

    code, lines = run(tmp_path, "serve", role, database_url=address(postgres), redis_url=url)

    assert code == 1
    assert "\n".join(lines) == (
        "CommandError: Redis cannot be used: invalid username-password pair or user is disabled. "
        "To start, correct the user or the password, in REDIS_URL or SIGNOFF_REDIS_PASSWORD."
    )


@pytest.mark.services
@pytest.mark.parametrize(
    ("wrong", "cure"),
    [
        ("redis://{place}/0", "correct the user or the password"),
        ("redis://nowhere.invalid:6379/0", "correct the host in REDIS_URL"),
        ("redis://signoff:right@{place}/99", "correct the number at the end of REDIS_URL"),
    ],
    ids=["no-password", "host", "number"],
)
def test_redis_that_rejects_stops_the_start(settings, valkey, world, wrong, cure):
    place = valkey.url.partition("@")[2].partition("/")[0]
    settings.EMBEDDED, settings.REDIS_URL = False, wrong.replace("{place}", place)

    with pytest.raises(CommandError, match=f"^Redis cannot be used: .*{cure}"):
        check_services()


def test_redis_that_is_down_stops_no_start(settings, world):
    settings.EMBEDDED, settings.REDIS_URL = False, f"redis://127.0.0.1:{free_port()}/0"

    with structlog.testing.capture_logs() as logs:
        check_services()

    (line,) = logs
    assert line["event"] == "redis is down"
    assert "start Redis, or correct the host and the port in REDIS_URL" in line["error"]
