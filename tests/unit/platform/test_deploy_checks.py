"""`manage.py check --deploy`: each insecure setting has an id and a remedy."""

import json
import subprocess
import sys

import pytest
from django.conf import settings as live_settings

from inbox.apps import check_required_sign_in
from inbox.platform.deployment.deploy_checks import KNOWN_KEYS, check_deployment
from tests.support.processes import REPOSITORY, embedded_environment

KEYS = [f"key number {number} of more than 32 characters" for number in range(3)]
SECURE = {
    "DEBUG": False,
    "SESSION_COOKIE_SECURE": True,
    "ALLAUTH_TRUSTED_PROXY_COUNT": 1,
    "PUBLIC_URL": "https://signoff.example.com",
    "ALLOWED_HOSTS": ["signoff.example.com", "localhost"],
    "REDIS_URL": "rediss://signoff:x@valkey.example.com/0?ssl_cert_reqs=required",
    "EMBEDDED": False,
    "DATABASE_URL": "postgresql://db.example.com/signoff",
    "DATABASES": {"default": {"HOST": "db.example.com", "OPTIONS": {"sslmode": "verify-full"}}},
    "SECRET_KEY": KEYS[0],
    "ENCRYPTION_KEYS": [KEYS[1]],
    "DECISION_KEYS": [KEYS[2]],
    "SEPARATE_SIGNER": True,
    "AUDIT_SINKS": ("file:///elsewhere",),
    "AUDIT_ENTRY_SINKS": ("file:///elsewhere",),
    "BREACHED_PASSWORDS": "/srv/passwords",
    "OUTGOING_HOSTS": ("*.example.com",),
}
LOOPBACK = {"default": {"HOST": "127.0.0.1", "OPTIONS": {}}}
IN_THE_CLEAR = {"default": {"HOST": "db.example.com", "OPTIONS": {"sslmode": "require"}}}
INSECURE = [
    ("DEBUG", True, "signoff.E020"),
    ("SECRET_KEY", min(KNOWN_KEYS), "signoff.E021"),
    ("SESSION_COOKIE_SECURE", False, "signoff.W020"),
    ("ALLAUTH_TRUSTED_PROXY_COUNT", 0, "signoff.W021"),
    ("PUBLIC_URL", "http://signoff.example.com", "signoff.W022"),
    ("PUBLIC_URL", "", "signoff.W022"),
    ("ALLOWED_HOSTS", ["*"], "signoff.W023"),
    ("ALLOWED_HOSTS", [".example.com"], "signoff.W023"),
    ("REDIS_URL", "rediss://valkey.example.com/0", "signoff.W024"),
    ("REDIS_URL", "redis://127.0.0.1/0", "signoff.W024"),
    ("REDIS_URL", "rediss://:x@valkey.example.com/0", "signoff.W025"),
    ("REDIS_URL", "rediss://default:x@valkey.example.com/0", "signoff.W025"),
    ("REDIS_URL", "redis://signoff:x@valkey.example.com/0", "signoff.W026"),
    ("REDIS_URL", "rediss://signoff:x@valkey/0?ssl_cert_reqs=none", "signoff.W026"),
    ("DATABASES", IN_THE_CLEAR, "signoff.W027"),
    ("ENCRYPTION_KEYS", [], "signoff.W028"),
    ("DECISION_KEYS", [], "signoff.W029"),
    ("SEPARATE_SIGNER", False, "signoff.W030"),
    ("AUDIT_SINKS", (), "signoff.W031"),
    ("BREACHED_PASSWORDS", "", "signoff.W034"),
    ("AUDIT_ENTRY_SINKS", (), "signoff.W035"),
    ("OUTGOING_HOSTS", (), "signoff.W037"),
]


@pytest.fixture
def secure(monkeypatch, tmp_path):
    """The settings of a secure deployment."""
    tmp_path.chmod(0o700)
    for name, value in {**SECURE, "DATA_DIR": tmp_path}.items():
        monkeypatch.setattr(live_settings, name, value)
    return monkeypatch


def test_a_secure_deployment_has_no_problem(secure):
    assert check_deployment() == []


@pytest.mark.parametrize(("setting", "value", "problem"), INSECURE)
def test_insecure_settings_are_reported_with_a_remedy(secure, setting, value, problem):
    secure.setattr(live_settings, setting, value)

    (message,) = check_deployment()

    assert message.id == problem
    assert message.hint


@pytest.mark.parametrize(
    ("setting", "value"),
    [("REDIS_URL", "redis://signoff:x@[::1]/0"), ("DATABASES", LOOPBACK), ("REDIS_URL", "")],
)
def test_connections_within_one_machine_need_no_tls(secure, setting, value):
    secure.setattr(live_settings, setting, value)

    assert check_deployment() == []


def test_a_data_directory_that_others_can_read_is_reported(secure, tmp_path):
    tmp_path.chmod(0o705)

    assert [message.id for message in check_deployment()] == ["signoff.W032"]


def test_every_check_is_documented():
    page = (REPOSITORY / "docs" / "deployment.md").read_text()
    source = (REPOSITORY / "inbox/platform/deployment/deploy_checks.py").read_text()
    ids = {part.split('"')[0] for part in source.split('id="')[1:]}

    assert {problem for _, _, problem in INSECURE} | {"signoff.W032"} == ids
    for problem in ids | {"signoff.W001", "signoff.W033", "signoff.W036"}:
        assert f"`{problem}`" in page


def run(directory, *command, **environment):
    return subprocess.run(
        [sys.executable, *command],
        env=embedded_environment(directory, **environment),
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=False,
    )


def test_teams_that_a_password_alone_enters_are_reported(world):
    (message,) = check_required_sign_in(databases=["default"])

    assert message.id == "signoff.W036"
    assert "tests" in message.msg
    type(world.team).objects.update(required_sign_in="second_factor")
    assert check_required_sign_in(databases=["default"]) == []


def test_django_and_signoff_agree_on_a_secure_deployment(tmp_path):
    (tmp_path / "passwords").touch()
    done = run(
        *(tmp_path, "manage.py", "check", "--deploy", "--fail-level", "WARNING"),
        SIGNOFF_HTTPS="1",
        SIGNOFF_PROXIES="1",
        SIGNOFF_PUBLIC_URL="https://signoff.example.com",
        SIGNOFF_ALLOWED_HOSTS="signoff.example.com",
        SIGNOFF_BREACHED_PASSWORDS=str(tmp_path / "passwords"),
        SIGNOFF_OUTGOING_HOSTS="hooks.example.com",
    )

    assert done.returncode == 0, done.stderr


def test_cookies_have_a_host_prefix_with_https(tmp_path):
    names = (
        "import json; from inbox.config import settings as s;"
        "print(json.dumps([s.SESSION_COOKIE_NAME, s.CSRF_COOKIE_NAME, s.LANGUAGE_COOKIE_NAME,"
        " s.COOKIE_PREFIX, s.LANGUAGE_COOKIE_SECURE, s.SECURE_HSTS_SECONDS,"
        " s.SECURE_HSTS_INCLUDE_SUBDOMAINS, s.SECURE_SSL_REDIRECT]))"
    )

    with_https, without = (
        json.loads(
            run(tmp_path, "-c", names, SIGNOFF_HTTPS=value, SIGNOFF_HSTS_SUBDOMAINS=value).stdout
        )
        for value in ("1", "0")
    )

    names = ["sessionid", "csrftoken", "django_language", ""]
    assert with_https == [*(f"__Host-{name}" for name in names), True, 31_536_000, True, True]
    assert without == [*names, False, 0, False, False]


@pytest.mark.parametrize("days", ["-1", "36501"])
def test_days_that_would_delete_every_thread_are_refused(tmp_path, days):
    done = run(tmp_path, "manage.py", "check", SIGNOFF_THREAD_DAYS=days)

    assert "SIGNOFF_THREAD_DAYS must be from 0 to 36500" in done.stderr


def test_parameters_of_the_database_url_are_kept(tmp_path):
    code = (
        "import json; from inbox.config import settings as s; d = s.DATABASES['default'];"
        "o = d['OPTIONS']; print(json.dumps([d['PASSWORD'], o['sslmode'], 'pool' in o]))"
    )

    done = run(
        *(tmp_path, "-c", code),
        DATABASE_URL="postgresql://signoff_app@db.example.com/signoff?sslmode=verify-full",
        SIGNOFF_DATABASE_PASSWORD="a/b@c",
    )

    assert json.loads(done.stdout) == ["a/b@c", "verify-full", True]
