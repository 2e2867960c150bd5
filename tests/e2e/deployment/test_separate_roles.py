"""A deployment as docker-compose.yml makes it: an owner, an application role, and a signer."""

from contextlib import contextmanager

import psycopg
import pytest

from tests.support.postgres import PostgresServer
from tests.support.processes import (
    StartFailed,
    manage,
    scaled_environment,
    start_signer,
    start_web,
    start_worker,
)
from tests.support.product_client import APPROVE, Client, wait_for
from tests.support.valkey import ValkeyServer

pytestmark = pytest.mark.services

SCOPES = [part for scope in ("run", "read", "decide", "admin") for part in ("--scope", scope)]


@contextmanager
def deployment(directory):
    """Migrate as the owner, and yield the environments of the application and of the signer."""
    for name in ("data", "signer"):
        (directory / name).mkdir()
    (directory / "application-password").write_text("a password of the application\n")
    with PostgresServer() as database, ValkeyServer() as valkey:
        owner = database.create_database("signoff")
        shared = {
            "redis_url": valkey.url,
            "SIGNOFF_SEPARATE_SIGNER": "1",
            "SIGNOFF_ENCRYPTION_KEYS": "a key that encrypts in tests only",
            "SIGNOFF_APPLICATION_PASSWORD_FILE": str(directory / "application-password"),
        }
        migration = scaled_environment(directory / "data", database_url=owner, **shared)
        manage(migration, "migrate", "--no-input")
        manage(migration, "grant_application", "signoff_app")
        application = {
            **migration,
            "DATABASE_URL": owner.replace("//signoff@", "//signoff_app@"),
            "SIGNOFF_DATABASE_PASSWORD_FILE": str(directory / "application-password"),
        }
        yield application, {**application, "SIGNOFF_DATA_DIR": str(directory / "signer")}


def test_each_process_has_only_the_rights_of_its_task(tmp_path):
    with deployment(tmp_path) as (application, signer):
        log = tmp_path / "signer.log"
        with (
            start_signer(signer, log=log),
            start_web(application, log=tmp_path / "web.log", demo=True) as web,
            start_worker(application, log=tmp_path / "worker.log"),
        ):
            key = manage(application, "create_api_key", "--name", "tests", *SCOPES)
            with Client(web.url, key) as client:
                run = client.start("rehearse:effect:once").json()
                assert wait_for(lambda: bool(requests_of(client, run)), seconds=60)
                client.decide(requests_of(client, run)[0], APPROVE).raise_for_status()
                assert wait_for(lambda: client.run(run["id"])["status"] != "running", seconds=60)
                assert wait_for(lambda: export(client).status_code == 200, seconds=90)
                lines = export(client).text
        (tmp_path / "export.jsonl").write_text(lines)
        public = manage(signer, "audit_key")
        checked = manage(
            *(application, "audit_verify", "--export", str(tmp_path / "export.jsonl")),
            *("--key", public),
        )
        refused = [statement_refused(application, text) for text in FORBIDDEN]
        warnings = warnings_of(application)

    assert checked.startswith("intact")
    assert (tmp_path / "signer" / "audit-key").exists()
    assert not (tmp_path / "data" / "audit-key").exists()
    assert refused == [True] * len(FORBIDDEN)
    assert "signoff.W001" not in warnings
    assert "signoff.W030" not in warnings
    assert "signoff.W033" in warnings  # the demo of this test
    assert "signoff.E021" in warnings  # the secret key of all tests is a known one


#: What the application's role may not do.
FORBIDDEN = [
    "UPDATE inbox_auditentry SET action = 'x'",
    "DELETE FROM inbox_auditentry",
    "TRUNCATE inbox_event",
    "UPDATE inbox_event SET body = 'x'",
    "ALTER TABLE inbox_auditentry DISABLE TRIGGER ALL",
    "DROP TABLE inbox_auditcheckpoint",
    "CREATE TABLE other (id int)",
    "ALTER ROLE signoff_app SUPERUSER",
    "SET ROLE signoff",
    "SET session_replication_role = replica",
]


def statement_refused(environment, statement):
    with (
        psycopg.connect(environment["DATABASE_URL"], password="unused") as connection,
        pytest.raises((psycopg.errors.InsufficientPrivilege, psycopg.errors.RaiseException)),
    ):
        connection.execute(statement)
    return True


def warnings_of(environment):
    """Return what the checks of the deployment report."""
    try:
        manage(
            *(environment, "check", "--deploy", "--database", "default"),
            *("--fail-level", "WARNING"),
        )
    except StartFailed as failure:
        return str(failure)
    return ""


def requests_of(client, run):
    return [row for row in client.pending() if row["thread"] == run["thread"]]


def export(client):
    return client.http.post("/api/audit/export", json={"format": "jsonl", "team": "demo"})
