"""Secrets of the environment and of files, and what is checked about keys."""

import json
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from django.core.exceptions import ImproperlyConfigured

from inbox.platform.deployment import secret_settings
from inbox.platform.deployment.key_checks import check_keys
from inbox.platform.deployment.secret_settings import (
    OPTIONAL_SECRETS,
    SECRET_SETTINGS,
    generated_secret,
    read_secret,
    read_secrets,
)
from inbox.platform.setting_parsers import path_setting
from tests.support.processes import REPOSITORY, embedded_environment

KEYS = [f"key number {number} of more than 32 characters" for number in range(4)]
SETTINGS = """
import json
from inbox.config import settings as s
print(json.dumps([s.SECRET_KEY, s.SECRET_KEY_FALLBACKS, s.ENCRYPTION_KEYS, s.DECISION_KEYS]))
"""


def keys_of(directory, **environment):
    done = subprocess.run(
        [sys.executable, "-c", SETTINGS],
        env=embedded_environment(directory, **environment),
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(done.stdout)


# -- files ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", SECRET_SETTINGS)
def test_a_secret_may_come_from_a_file(name, monkeypatch, tmp_path):
    (tmp_path / "secret").write_text("the value\n")
    monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv(f"{name}_FILE", str(tmp_path / "secret"))

    assert read_secret(name) == "the value"


def test_every_secret_of_the_environment_is_read_from_files_too():
    """No module reads a secret from the environment by itself."""
    modules = (REPOSITORY / "inbox").rglob("*.py")
    direct = [
        f"{path.name}: {name}"
        for path in modules
        for name in SECRET_SETTINGS
        if f'environ.get("{name}"' in path.read_text() or f'environ["{name}"]' in path.read_text()
    ]

    assert direct == []


@pytest.mark.parametrize("name", SECRET_SETTINGS)
def test_only_the_file_of_an_optional_secret_may_be_empty(name, monkeypatch, tmp_path):
    (tmp_path / "secret").write_text("\n")
    monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv(f"{name}_FILE", str(tmp_path / "secret"))

    if name in OPTIONAL_SECRETS:
        assert read_secret(name) == ""
    else:
        with pytest.raises(ImproperlyConfigured, match="is empty"):
            read_secret(name)


def test_a_value_and_a_file_are_refused_together(monkeypatch, tmp_path):
    monkeypatch.setenv("REDIS_URL", "redis://somewhere")
    monkeypatch.setenv("REDIS_URL_FILE", str(tmp_path / "secret"))

    with pytest.raises(ImproperlyConfigured, match="REDIS_URL or REDIS_URL_FILE, not both"):
        read_secret("REDIS_URL")


@pytest.mark.parametrize("content", [None, b"", b" \n", b"\xff\xfe"])
def test_a_file_without_a_secret_is_refused(content, monkeypatch, tmp_path):
    if content is not None:
        (tmp_path / "secret").write_bytes(content)
    monkeypatch.setenv("SIGNOFF_SECRET_KEY", "")
    monkeypatch.setenv("SIGNOFF_SECRET_KEY_FILE", str(tmp_path / "secret"))

    with pytest.raises(ImproperlyConfigured, match="SIGNOFF_SECRET_KEY_FILE"):
        read_secret("SIGNOFF_SECRET_KEY")


def test_lists_are_separated_by_commas_or_lines(monkeypatch, tmp_path):
    (tmp_path / "keys").write_text("a, b\n\nc\n")
    monkeypatch.setenv("SIGNOFF_ENCRYPTION_KEYS_FILE", str(tmp_path / "keys"))

    assert read_secrets("SIGNOFF_ENCRYPTION_KEYS") == ["a", "b", "c"]


def test_concurrent_starts_generate_one_secret(tmp_path, monkeypatch):
    results, barrier = [], threading.Barrier(8)

    def start(number):
        barrier.wait()
        results.append(generated_secret(tmp_path / "key", lambda: f"key {number}"))

    threads = [threading.Thread(target=start, args=[number]) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(set(results)) == 1
    assert [path.name for path in tmp_path.iterdir()] == ["key"]


def test_replacing_a_file_leaves_it_to_its_owner(tmp_path):
    path = tmp_path / "keys"

    secret_settings.replace_secret_file(path, "new\n")

    assert path.read_text() == "new\n"
    assert path.stat().st_mode & 0o777 == 0o600


# -- settings -------------------------------------------------------------------------------------


def test_a_new_installation_has_an_encryption_key_of_its_own(tmp_path):
    first, second = keys_of(tmp_path), keys_of(tmp_path)

    secret_key, fallbacks, encryption_keys, _ = first
    assert first == second
    assert (tmp_path / "encryption-keys").read_text() == f"{encryption_keys[0]}\n"
    assert (len(encryption_keys), fallbacks) == (1, [])
    assert secret_key not in encryption_keys


def test_no_key_is_generated_where_the_database_is_elsewhere(tmp_path):
    """A container without a lasting data directory would lose it."""
    _, _, encryption_keys, _ = keys_of(
        tmp_path, DATABASE_URL="postgresql://db/signoff", SIGNOFF_SECRET_KEY=KEYS[0]
    )

    assert encryption_keys == []
    assert not (tmp_path / "encryption-keys").exists()


def test_keys_of_the_environment_are_used_in_their_order(tmp_path):
    assert keys_of(
        tmp_path,
        SIGNOFF_SECRET_KEY=KEYS[0],
        SIGNOFF_SECRET_KEY_FALLBACKS=KEYS[1],
        SIGNOFF_ENCRYPTION_KEYS=f"{KEYS[2]},{KEYS[3]}",
        SIGNOFF_DECISION_KEYS=KEYS[1],
    ) == [KEYS[0], [KEYS[1]], KEYS[2:], [KEYS[1]]]


def test_lines_below_the_generated_secret_key_are_fallbacks(tmp_path):
    (tmp_path / "secret-key").write_text("new-key\nold-key")

    assert keys_of(tmp_path)[:2] == ["new-key", ["old-key"]]


def test_a_secret_key_with_a_line_feed_still_counts(tmp_path):
    """Earlier versions used the whole content of the file."""
    (tmp_path / "secret-key").write_text("the-key\n")

    assert keys_of(tmp_path)[:2] == ["the-key", ["the-key\n"]]


# -- checks ---------------------------------------------------------------------------------------


@pytest.fixture
def good_keys(settings, tmp_path, monkeypatch):
    for name in SECRET_SETTINGS:
        monkeypatch.delenv(f"{name}_FILE", raising=False)
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = KEYS[0], []
    settings.ENCRYPTION_KEYS, settings.DECISION_KEYS = [KEYS[1]], [KEYS[2]]
    settings.DATA_DIR = tmp_path
    return settings


def ids():
    return [message.id for message in check_keys()]


def test_good_keys_have_no_problem(good_keys):
    assert ids() == []


@pytest.mark.parametrize(
    ("setting", "value", "problem"),
    [
        ("ENCRYPTION_KEYS", [KEYS[1], "short"], "signoff.E010"),
        ("SECRET_KEY", "short", "signoff.W010"),
        ("DECISION_KEYS", ["short"], "signoff.W010"),
        ("ENCRYPTION_KEYS", [KEYS[0]], "signoff.E011"),
        ("ENCRYPTION_KEYS", [KEYS[2]], "signoff.E011"),
        ("SECRET_KEY_FALLBACKS", [KEYS[1]], "signoff.E011"),
        ("DECISION_KEYS", [KEYS[0]], "signoff.W011"),
    ],
)
def test_keys_that_protect_too_little_are_reported(good_keys, setting, value, problem):
    setattr(good_keys, setting, value)

    messages = check_keys()

    assert [message.id for message in messages] == [problem]
    assert messages[0].hint
    assert not any(key in str(messages[0]) for key in KEYS)


@pytest.mark.parametrize(
    ("mode", "problems"), [(0o604, ["signoff.W012"]), (0o640, []), (0o600, [])]
)
def test_key_files_that_others_can_read_are_reported(good_keys, tmp_path, mode, problems):
    (tmp_path / "encryption-keys").write_text(KEYS[1])
    (tmp_path / "encryption-keys").chmod(mode)

    assert ids() == problems


def test_secrets_of_the_environment_that_others_can_read_are_reported(
    good_keys, tmp_path, monkeypatch
):
    (tmp_path / "password").write_text("x")
    (tmp_path / "password").chmod(0o644)
    monkeypatch.setenv("SIGNOFF_REDIS_PASSWORD_FILE", str(tmp_path / "password"))

    assert ids() == ["signoff.W012"]


@pytest.mark.parametrize(
    ("value", "path"), [(None, "/srv/var"), ("", "/srv/var"), ("/data", "/data"), (".", ".")]
)
def test_an_empty_path_counts_as_not_set(monkeypatch, value, path):
    monkeypatch.delenv("SIGNOFF_DATA_DIR", raising=False)
    if value is not None:
        monkeypatch.setenv("SIGNOFF_DATA_DIR", value)

    assert path_setting("SIGNOFF_DATA_DIR", Path("/srv/var")) == Path(path)
