"""The shapes of the program, its commands, its logs and its demo."""

import json
import logging
import re
import stat
import subprocess
import sys
from io import StringIO

import pytest
from django.contrib.auth import authenticate
from django.core.management import CommandError, call_command

from inbox.management.demo import PEOPLE, ensure_demo
from inbox.models import Run, User
from inbox.platform.logs import LOGGING_CONFIGURATION
from inbox.queries.people.api_keys import actor_of_key
from tests.support.processes import REPOSITORY, embedded_environment

POSTGRES = "postgres://somebody:secret@db.example/signoff"
REDIS = "redis://rings.example:6379/0"
SETTINGS = """
import json
from inbox.config import settings as s
broker = s.CELERY_BROKER_URL, s.CELERY_BROKER_TRANSPORT_OPTIONS
print(json.dumps([s.EMBEDDED, s.DATABASES["default"], s.CHANNEL_LAYERS["default"], *broker,
    s.SECRET_KEY, s.ALLOWED_HOSTS, s.SESSION_COOKIE_SECURE], default=str))
"""
LOGS = """
import django, logging, structlog
django.setup()
structlog.get_logger("ours").warning("two\\nlines", value="a\\nb\\u2028c", number=1)
logging.getLogger("django").error("theirs %s", "x\\ny")
try:
    1 / 0
except ZeroDivisionError:
    structlog.get_logger("ours").exception("failed")
"""


def python(code, directory, **environment):
    """What a process with this environment prints, and what it logs."""
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=embedded_environment(
            directory, DJANGO_SETTINGS_MODULE="inbox.config.settings", **environment
        ),
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout, done.stderr


# -- shapes ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("role", ["--web", "--worker"])
def test_one_role_without_redis_is_refused_with_what_to_do(role):
    with pytest.raises(CommandError, match="set REDIS_URL, or omit both"):
        call_command("serve", role)


def test_two_roles_in_one_process_are_refused():
    with pytest.raises(CommandError, match="not allowed with"):
        call_command("serve", "--web", "--worker")


def test_addresses_of_servers_make_the_scaled_shape(tmp_path):
    out, _ = python(
        *(SETTINGS, tmp_path),
        DATABASE_URL=POSTGRES,
        REDIS_URL=REDIS,
        SIGNOFF_SECRET_KEY="given",
        SIGNOFF_ALLOWED_HOSTS="signoff.example",
        SIGNOFF_HTTPS="1",
    )
    embedded, database, layer, broker, options, key, hosts, is_secure = json.loads(out)

    assert not embedded
    assert database["ENGINE"] == "inbox.platform.pooled_database"
    assert database["OPTIONS"]["pool"]["max_size"] >= 32
    assert layer["BACKEND"] == "channels_redis.pubsub.RedisPubSubChannelLayer"
    assert layer["CONFIG"]["hosts"] == [{"address": REDIS, "socket_timeout": 30}]
    assert (broker, options["socket_timeout"]) == (REDIS, 30)
    assert key == "given"
    assert not (tmp_path / "secret-key").exists()
    assert hosts[0] == "signoff.example"
    assert "*" not in hosts
    assert is_secure


def test_empty_environment_gives_embedded_shape_and_a_stored_secret_key(tmp_path):
    first, second = (json.loads(python(SETTINGS, tmp_path)[0]) for _ in range(2))

    embedded, database, layer, broker, _, key, _, _ = first
    assert embedded
    assert database["ENGINE"] == "inbox.platform.embedded.database"
    assert layer["BACKEND"] == "inbox.platform.embedded.channel_layer.EmbeddedChannelLayer"
    assert broker.startswith("embedded://")
    path = tmp_path / "secret-key"
    assert key == second[5] == path.read_text()
    assert len(key) > 50
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


# -- logs -----------------------------------------------------------------------------------------


def test_logs_as_json_are_one_object_a_line_whatever_is_logged(tmp_path):
    _, logged = python(LOGS, tmp_path, SIGNOFF_LOG="json")

    ours, theirs, failed = map(json.loads, logged.splitlines())
    assert (ours["event"], ours["value"], ours["number"]) == ("two\nlines", "a\nb\u2028c", 1)
    assert ours["level"] == "warning"
    assert theirs["event"] == "theirs x\ny"
    assert "ZeroDivisionError" in failed["exception"]


def line_of(**values):
    """A line as the console gets it."""
    configuration = LOGGING_CONFIGURATION._standard()["formatters"]["line"].copy()
    formatter = configuration.pop("()")(**configuration)
    record = logging.LogRecord("ours", logging.INFO, "", 0, values.pop("event"), None, None)
    record.__dict__.update(values)
    return formatter.format(record)


@pytest.mark.parametrize("hostile", ["a\nb", "a\r\nb", "a\n17:00:00 [info     ] forged"])
def test_a_value_cannot_begin_a_line_of_its_own(hostile):
    line = line_of(event="run.failed", error=hostile)

    assert len(line.splitlines()) == 1


def test_lines_have_the_date_and_the_zone():
    line = line_of(event="run.failed")

    assert re.match(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z \[", line)


def test_an_exception_cannot_forge_a_line_or_steer_a_terminal():
    class ForgedError(ValueError):
        """Says what an agent has said, controls and all."""

    error = ForgedError("a\n2026-01-01T00:00:00.000000Z [info     ] forged\x1b[2J")
    record = logging.LogRecord(
        "ours", logging.ERROR, "", 0, "failed", None, (type(error), error, error.__traceback__)
    )
    configuration = LOGGING_CONFIGURATION._standard()["formatters"]["line"].copy()

    event, *traceback = configuration.pop("()")(**configuration).format(record).splitlines()

    assert "failed" in event
    assert "ForgedError: a" in "\n".join(traceback)
    assert all(line.startswith("    ") for line in traceback)
    assert "\x1b" not in "\n".join(traceback)


def test_https_is_demanded_of_pages_and_kept_in_mind(tmp_path):
    out, _ = python(
        "import json\nfrom django.conf import settings as s\n"
        "found = s.SECURE_HSTS_SECONDS, s.SECURE_SSL_REDIRECT, s.SECURE_REDIRECT_EXEMPT\n"
        "print(json.dumps(found))",
        tmp_path,
        SIGNOFF_HTTPS="1",
    )

    seconds, redirects, exempt = json.loads(out)
    assert seconds >= 365 * 24 * 3600
    assert redirects
    assert exempt == ["^healthz$"]


def test_a_value_cannot_steer_the_terminal_that_shows_it():
    line = line_of(event="run.failed", error="a\x1b[2Jb")

    assert "\x1b" not in line


# -- the demo -------------------------------------------------------------------------------------


def signs_in(rf, account):
    return authenticate(rf.get("/"), username=account.username, password=account.password)


def test_a_demo_has_people_who_can_sign_in_and_a_key_that_works(db, tmp_path, rf):
    demo = ensure_demo(tmp_path)

    assert [account.username for account in demo.accounts] == [person[0] for person in PEOPLE]
    assert all(signs_in(rf, account) for account in demo.accounts)
    assert actor_of_key(demo.api_key) is not None
    mode = (tmp_path / "demo-credentials.json").stat().st_mode
    assert stat.S_IMODE(mode) == 0o600


def test_a_second_start_keeps_accounts_key_and_runs(db, tmp_path):
    first = ensure_demo(tmp_path)
    runs = Run.objects.count()

    assert ensure_demo(tmp_path) == first
    assert Run.objects.count() == runs


def test_a_start_after_the_credentials_were_lost_gives_passwords_that_work(db, tmp_path, rf):
    lost = ensure_demo(tmp_path)
    (tmp_path / "demo-credentials.json").unlink()

    demo_ = ensure_demo(tmp_path)

    assert all(signs_in(rf, account) for account in demo_.accounts)
    assert not any(signs_in(rf, account) for account in lost.accounts)
    assert User.objects.count() == len(PEOPLE)
    assert actor_of_key(demo_.api_key) is not None


@pytest.fixture
def demo_data(tmp_path, settings):
    settings.DATA_DIR = tmp_path
    names = ("signoff.sqlite3", "signoff.sqlite3-wal", "demo-credentials.json", "secret-key")
    for name in names:
        (tmp_path / name).touch()
    return tmp_path


def test_a_reset_forgets_the_demo_and_keeps_the_secret_key(demo_data):
    call_command("demo_reset", stdout=StringIO())

    assert [path.name for path in demo_data.iterdir()] == ["secret-key"]


def test_a_reset_is_refused_where_a_database_server_is_used(demo_data, settings):
    settings.DATABASE_URL = POSTGRES

    with pytest.raises(CommandError, match="DATABASE_URL is set"):
        call_command("demo_reset")

    assert len(list(demo_data.iterdir())) == 4
