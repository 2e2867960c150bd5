"""The steps of docs/keys.md, with a product that goes on meanwhile."""

import json
from contextlib import ExitStack, contextmanager
from threading import Event, Thread

import httpx
import pytest

from tests.support.http.webhook_receiver import receiver
from tests.support.postgres import PostgresServer
from tests.support.processes import (
    StartFailed,
    embedded_environment,
    manage,
    scaled_environment,
    start_embedded,
    start_web,
    start_worker,
)
from tests.support.product_client import Client, wait_for
from tests.support.valkey import ValkeyServer

__all__ = ["receiver"]

OLD, NEW = "the old key of more than 32 characters", "the new key of more than 32 characters"
OLD_SESSIONS, NEW_SESSIONS = f"{OLD} of sessions", f"{NEW} of sessions"
SCOPES = [part for scope in ("run", "read", "decide") for part in ("--scope", scope)]


class Installation:
    """Web and worker on servers that stay, restarted with other keys."""

    def __init__(self, directory, database, valkey):
        self._directory, self._stack = directory, ExitStack()
        self._urls = {"database_url": database, "redis_url": valkey}
        self.environment = {}
        self.url = ""

    def start(self, *, encryption, sessions, decisions=()):
        """Start a second web process and worker with these keys, then end the first ones."""
        secret_key, *fallbacks = sessions
        self.environment = scaled_environment(
            self._directory,
            **self._urls,
            SIGNOFF_ENCRYPTION_KEYS=",".join(encryption),
            SIGNOFF_SECRET_KEY_FALLBACKS=",".join(fallbacks),
            SIGNOFF_DECISION_KEYS=",".join(decisions),
            SIGNOFF_PRIVATE_WEBHOOK_HOSTS="127.0.0.1",
        ) | {"SIGNOFF_SECRET_KEY": secret_key}
        former, self._stack = self._stack, ExitStack()
        if not self.url:
            manage(self.environment, "migrate", "--no-input")
        web = start_web(self.environment, log=self._directory / "web.log", demo=not self.url)
        self.url = self._stack.enter_context(web).url
        worker = start_worker(self.environment, log=self._directory / "worker.log")
        self._stack.enter_context(worker)
        former.close()

    def close(self):
        self._stack.close()


@pytest.fixture
def installation(tmp_path):
    with PostgresServer() as database, ValkeyServer() as valkey:
        product = Installation(tmp_path, database.create_database("signoff"), valkey.url)
        yield product
        product.close()


@contextmanager
def runs_going_on(url, key):
    """Start runs all the time; each sends a webhook."""
    started, stopped = [], Event()

    def work():
        with Client(url, key) as client:
            while not stopped.is_set():
                answer = client.start("rehearse:echo")
                answer.raise_for_status()
                started.append(answer.json()["id"])

    worker = Thread(target=work)
    worker.start()
    try:
        yield started
    finally:
        stopped.set()
        worker.join()


def signed_in(url, directory):
    """Return a browser of the demo's reviewer."""
    accounts = json.loads((directory / "demo-credentials.json").read_text())["accounts"]
    marco = next(account for account in accounts if account["username"] == "marco")
    browser = httpx.Client(base_url=url)
    token = browser.get("/login/").cookies["csrftoken"]
    form = {"username": "marco", "password": marco["password"], "csrfmiddlewaretoken": token}
    assert browser.post("/login/", data=form).status_code == 302
    return browser


def test_keys_are_rotated_under_a_running_product(installation, receiver, tmp_path):
    installation.start(encryption=[OLD], sessions=[OLD_SESSIONS])
    receiver.secret = manage(
        *(installation.environment, "add_webhook", receiver.url, "--team", "demo"),
        *("--event", "run.finished"),
    )
    key = manage(installation.environment, "create_api_key", "--name", "tests", *SCOPES)
    browser = signed_in(installation.url, tmp_path)

    installation.start(encryption=[OLD, NEW], sessions=[OLD_SESSIONS, NEW_SESSIONS])
    installation.start(encryption=[NEW, OLD], sessions=[NEW_SESSIONS, OLD_SESSIONS])
    before = manage(installation.environment, "rotate_secrets", "--dry-run")
    with runs_going_on(installation.url, key) as started:
        assert wait_for(lambda: len(receiver.received) >= 2, seconds=60)
        after = manage(installation.environment, "rotate_secrets")
        enough = len(started) + 3
        assert wait_for(lambda: len(started) >= enough, seconds=60)
    decision_keys = [f"{NEW} of decisions", OLD_SESSIONS]
    installation.start(encryption=[NEW], sessions=[NEW_SESSIONS], decisions=decision_keys)
    with Client(installation.url, key) as client:
        started.append(client.start("rehearse:echo").json()["id"])

    assert "1 inbox_webhookendpoint.secret: " in before
    assert "SIGNOFF_ENCRYPTION_KEYS 2: still needed by 1 secrets" in before
    assert "SIGNOFF_ENCRYPTION_KEYS 2: not needed any more" in after
    # The demo's decisions.
    assert "SIGNOFF_SECRET_KEY_FALLBACKS: no secret needs it, but 3 decisions" in after
    assert wait_for(lambda: len(receiver.received) == len(started), seconds=60)
    assert all(message.is_signed for message in receiver.received)
    browser.base_url = installation.url
    assert browser.get("/account/").status_code == 200
    assert "intact" in manage(installation.environment, "audit_verify")


def test_the_key_of_an_embedded_installation_is_rotated(receiver, tmp_path):
    environment = embedded_environment(tmp_path, SIGNOFF_PRIVATE_WEBHOOK_HOSTS="127.0.0.1")
    keys = tmp_path / "encryption-keys"
    with start_embedded(environment, log=tmp_path / "log", demo=True):
        receiver.secret = manage(environment, "add_webhook", receiver.url, "--team", "demo")
        old = keys.read_text().strip()
        manage(environment, "rotate_secrets", "--new-key")
    with start_embedded(environment, log=tmp_path / "log"):
        printed = manage(environment, "rotate_secrets")
    new, _ = keys.read_text().split()
    keys.write_text(new)
    archive = tmp_path / "backup.tar.gz"
    manage(environment, "backup", str(archive))
    restored = {**environment, "SIGNOFF_DATA_DIR": str(tmp_path / "restored")}
    manage(restored, "restore", str(archive))

    assert "SIGNOFF_ENCRYPTION_KEYS 2: not needed any more" in printed
    assert old not in keys.read_text()
    assert (tmp_path / "restored" / "encryption-keys").read_text() == new
    counts = manage(restored, "rotate_secrets", "--dry-run")
    assert "1 inbox_webhookendpoint.secret: " in counts
    assert "unreadable" not in counts


def test_short_and_shared_keys_stop_the_start(tmp_path):
    environment = embedded_environment(
        tmp_path, SIGNOFF_SECRET_KEY=OLD, SIGNOFF_ENCRYPTION_KEYS=f"{OLD},short"
    )

    with pytest.raises(StartFailed, match=r"(?s)signoff.E010.*signoff.E011"):
        manage(environment, "serve")
