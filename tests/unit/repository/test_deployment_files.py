"""docker-compose.yml: what it starts, which secrets each service has, and what it passes on."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from inbox.platform.deployment.secret_settings import OPTIONAL_SECRETS as OPTIONAL_SETTINGS
from inbox.platform.deployment.secret_settings import SECRET_SETTINGS
from tests.support import processes
from tools.prepare_deployment import (
    IMAGES,
    OPTIONAL_SECRETS,
    SECRETS,
    NotPrepared,
    make_secrets,
    pin_images,
)

REPOSITORY = processes.REPOSITORY
#: Written apart, or this file would be the first to break the rule.
REGISTRY_HOSTS = [
    ".".join(parts)
    for parts in (
        ("pypi", "org"),
        ("pythonhosted", "org"),
        ("registry", "npmjs", "org"),
        ("registry", "yarnpkg", "com"),
        ("deb", "debian", "org"),
    )
]
PRODUCT = ("web", "worker", "signer", "migrate")
#: Settings that the image, the services or secrets set, or that only tests and development need.
NOT_PASSED_ON = {
    *("SIGNOFF_DATA_DIR", "SIGNOFF_STATIC_ROOT", "SIGNOFF_LEDGER", "SIGNOFF_HEARTBEAT"),
    *("SIGNOFF_DATABASE_PASSWORD", "SIGNOFF_REDIS_PASSWORD", "SIGNOFF_SECRET_KEY"),
    *("SIGNOFF_ENCRYPTION_KEYS", "SIGNOFF_DECISION_KEYS", "SIGNOFF_APPLICATION_PASSWORD"),
    "SIGNOFF_AUDIT_KEY",  # in the volume of the signer
    "SIGNOFF_AUDIT_CHECKPOINTS",  # there, too
    *("SIGNOFF_DEBUG", "HOST", "PORT"),
}
DIGEST = f"sha256:{'0' * 64}"


@pytest.fixture(scope="module")
def compose():
    return yaml.safe_load((REPOSITORY / "docker-compose.yml").read_text())


def read_settings():
    """Return the names of all settings that the product reads."""
    named = {
        name
        for folder in ("inbox", "agents")
        for path in (REPOSITORY / folder).rglob("*.py")
        for name in re.findall(r'environ(?:\.get\(|\[)"([A-Z_]+)"', path.read_text())
    }
    return {name for name in named if name.startswith("SIGNOFF_")} | {
        name for name in SECRET_SETTINGS if name.startswith("SIGNOFF_")
    }


# -- services -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("service", "started_by_tests"),
    [
        ("web", processes.WEB_COMMAND),
        ("worker", processes.WORKER_COMMAND),
        ("signer", processes.SIGNER_COMMAND),
    ],
)
def test_docker_compose_starts_what_the_tests_start(compose, service, started_by_tests):
    command = shlex.split(compose["services"][service]["command"])

    assert command == ["python", *started_by_tests]


def test_docker_compose_is_valid():
    """By the schema of the Compose specification, which check-jsonschema ships."""
    done = subprocess.run(
        [
            *(sys.executable, "-m", "check_jsonschema"),
            *("--builtin-schema", "vendor.compose-spec", "docker-compose.yml"),
        ],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("service", PRODUCT)
def test_services_have_no_more_rights_than_they_need(compose, service):
    settings = compose["services"][service]

    assert settings["read_only"] is True
    assert settings["cap_drop"] == ["ALL"]
    assert settings["security_opt"] == ["no-new-privileges:true"]
    assert settings["mem_limit"]
    assert "privileged" not in settings


def test_databases_have_no_port_and_no_way_out(compose):
    assert compose["networks"]["backend"]["internal"] is True
    for service in ("postgres", "valkey"):
        assert compose["services"][service]["networks"] == ["backend"]
        assert "ports" not in compose["services"][service]


# -- settings -------------------------------------------------------------------------------------


@pytest.mark.parametrize("service", ["web", "worker", "signer"])
def test_every_setting_is_passed_on(compose, service):
    environment = set(compose["services"][service]["environment"])

    passed_on = {name.removesuffix("_FILE") for name in environment}
    optional = set() if service == "web" else OPTIONAL_SETTINGS
    missing = read_settings() - environment - passed_on - NOT_PASSED_ON - optional

    assert missing == set()
    assert "SIGNOFF_RATE_LIMIT" in environment


def test_settings_that_are_passed_on_exist(compose):
    known_names = read_settings() | {"SIGNOFF_AGENTS"}
    environment = compose["services"]["worker"]["environment"]

    unknown = {
        name
        for name in environment
        if name.startswith("SIGNOFF_") and name.removesuffix("_FILE") not in known_names
    } - known_names

    assert unknown == set()


def test_settings_are_documented():
    pages = (REPOSITORY / "docs").glob("*.md")
    text = "\n".join(path.read_text() for path in pages)

    assert {name for name in read_settings() if name not in text} == {"SIGNOFF_LEDGER"}


# -- secrets --------------------------------------------------------------------------------------


def test_no_secret_is_in_the_clear(compose):
    for service in compose["services"].values():
        for name, value in service.get("environment", {}).items():
            is_secret = name.removesuffix("_FILE") in SECRET_SETTINGS or (
                "PASSWORD" in name and name != "SIGNOFF_BREACHED_PASSWORDS"
            )
            if not is_secret:
                continue
            assert value, f"{name} is passed on as it is"
            if name in ("DATABASE_URL", "REDIS_URL"):
                assert re.fullmatch(r"[a-z]+://\w+@\w+:\d+/\w+", value), "it has a password"
            else:
                assert name.endswith("_FILE")
                assert value.startswith("/run/secrets/")


def test_the_owner_and_the_application_have_passwords_of_their_own(compose):
    services = compose["services"]

    with_owner = {
        name for name, service in services.items() if "owner-password" in secrets(service)
    }

    assert with_owner == {"postgres", "migrate"}
    for name in ("web", "worker", "signer"):
        environment = services[name]["environment"]
        assert environment["SIGNOFF_DATABASE_PASSWORD_FILE"].endswith("/application-password")
        assert "//signoff_app@" in environment["DATABASE_URL"]
    assert "//signoff@" in services["migrate"]["environment"]["DATABASE_URL"]


def test_services_have_only_the_secrets_that_they_read(compose):
    for name in PRODUCT:
        service = compose["services"][name]
        files = {
            Path(value).name
            for setting, value in service["environment"].items()
            if setting.endswith("_FILE") and value
        }
        assert files == secrets(service), name


def secrets(service):
    return set(service.get("secrets", ()))


def test_only_the_signer_has_the_key_of_the_audit_trail(compose):
    with_volume = {
        name
        for name, service in compose["services"].items()
        if any(volume.startswith("signer:") for volume in service.get("volumes", ()))
    }

    assert with_volume == {"signer"}
    assert compose["services"]["signer"]["volumes"] == ["signer:/data"]
    for name in PRODUCT:
        environment = compose["services"][name]["environment"]
        assert environment["SIGNOFF_SEPARATE_SIGNER"] == "1"
        assert not any(key.startswith("SIGNOFF_AUDIT_KEY") for key in environment)


def test_secrets_are_files_that_the_script_makes(compose):
    assert set(compose["secrets"]) == {*SECRETS, *OPTIONAL_SECRETS}
    assert set(OPTIONAL_SECRETS.values()) == OPTIONAL_SETTINGS
    for name, secret in compose["secrets"].items():
        assert secret == {"file": f"./deploy/secrets/{name}"}
    assert "/deploy/secrets/" in (REPOSITORY / ".gitignore").read_text().splitlines()


def test_valkey_has_the_acl_and_reads_its_password_from_a_file(compose):
    valkey = compose["services"]["valkey"]

    script = valkey["command"][-1]
    assert "--aclfile" in script
    assert "< /run/secrets/redis-password" in script
    assert valkey["volumes"] == ["./deploy/redis/users.acl:/etc/valkey/users.acl:ro"]


def test_the_digest_of_the_password_reaches_the_acl(compose, tmp_path):
    """The script of the service, with the paths of a test and without the server."""
    script = compose["services"]["valkey"]["command"][-1].replace("$$", "$")
    (tmp_path / "password").write_text("secret\n")
    for path, replacement in {
        "/run/secrets/redis-password": tmp_path / "password",
        "/etc/valkey/users.acl": REPOSITORY / "deploy" / "redis" / "users.acl",
        "/run/valkey": tmp_path,
        "exec valkey-server": "exec true",
    }.items():
        assert path in script
        script = script.replace(path, str(replacement))

    subprocess.run(["sh", "-euc", script], check=True)

    # printf %s secret | sha256sum
    digest = "2bb80d537b1da3e38bd30361aa855686bde0eacd7162fef6a25fe97bf527a25b"
    assert f" on #{digest} " in (tmp_path / "users.acl").read_text()


# -- images ---------------------------------------------------------------------------------------


def test_every_image_of_others_is_pinned_by_the_script(compose):
    named = {
        name: service["image"]
        for name, service in compose["services"].items()
        if name not in PRODUCT
    }

    for image in named.values():
        assert re.fullmatch(r"\$\{(\w+):\?run python3 tools/prepare_deployment.py\}", image)
    variables = {re.match(r"\$\{(\w+)", image)[1] for image in named.values()}
    assert variables | {"PYTHON_IMAGE"} == set(IMAGES)


def test_images_are_pinned_once(tmp_path):
    file = tmp_path / ".env"
    file.write_text("SIGNOFF_PORT=9000\nVALKEY_IMAGE=mirror/valkey@" + DIGEST + "\n")

    lines = pin_images(file, update=False, digest_of=lambda _tag: DIGEST)

    assert f"POSTGRES_IMAGE=postgres:17@{DIGEST}" in lines
    assert file.read_text().splitlines()[:2] == [
        "SIGNOFF_PORT=9000",
        f"VALKEY_IMAGE=mirror/valkey@{DIGEST}",
    ]
    assert pin_images(file, update=False, digest_of=lambda _tag: "unused") == []


def test_a_tag_without_a_digest_is_pinned(tmp_path):
    file = tmp_path / ".env"
    file.write_text("POSTGRES_IMAGE=postgres:17\n")

    pin_images(file, update=False, digest_of=lambda _tag: DIGEST)

    assert file.read_text().count("POSTGRES_IMAGE=") == 1
    assert f"POSTGRES_IMAGE=postgres:17@{DIGEST}\n" in file.read_text()


def test_without_digests_nothing_is_written(tmp_path, monkeypatch):
    (tmp_path / "docker").write_text("#!/bin/sh\necho no network >&2; exit 1\n")
    (tmp_path / "docker").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))

    with pytest.raises(NotPrepared, match="no digest of python"):
        pin_images(tmp_path / ".env", update=True)

    assert not (tmp_path / ".env").exists()


def test_secrets_are_made_once_and_for_one_user(tmp_path, monkeypatch):
    monkeypatch.setattr("os.geteuid", lambda: 10001)
    folder = tmp_path / "secrets"

    new_names, again = make_secrets(folder), make_secrets(folder)

    assert (set(new_names), again) == ({*SECRETS, *OPTIONAL_SECRETS}, [])
    values = [(folder / name).read_text() for name in SECRETS]
    assert len(set(values)) == len(SECRETS)
    assert min(map(len, values)) >= 32
    assert {path.stat().st_mode & 0o777 for path in folder.iterdir()} == {0o400}


def test_optional_secrets_are_empty_or_those_of_the_environment(tmp_path):
    env = tmp_path / ".env"
    env.write_text("SIGNOFF_PORT=9000\nSIGNOFF_EMAIL_URL='smtp://u:p@mail'\nSIGNOFF_OIDC_X=1\n")

    make_secrets(tmp_path / "secrets", env)

    values = {name: (tmp_path / "secrets" / name).read_text() for name in OPTIONAL_SECRETS}
    assert {name: value for name, value in values.items() if value} == {
        "email-url": "smtp://u:p@mail"
    }
    assert env.read_text() == "SIGNOFF_PORT=9000\nSIGNOFF_OIDC_X=1\n"


def test_another_user_is_told_to_give_the_secrets_away(tmp_path, monkeypatch):
    monkeypatch.setattr("os.geteuid", lambda: 1000)

    with pytest.raises(NotPrepared, match="sudo chown 10001"):
        make_secrets(tmp_path / "secrets")


# -- registries -----------------------------------------------------------------------------------


def test_no_tracked_file_names_a_package_registry():
    tracked = subprocess.run(
        ["git", "ls-files", "-z"], cwd=REPOSITORY, capture_output=True, text=True, check=True
    ).stdout.split("\0")

    named = {
        f"{name}: {host}"
        for name in tracked
        for host in REGISTRY_HOSTS
        if name and host.encode() in _content(name)
    }

    assert "requirements/base.txt" in tracked
    assert "tests/e2e/clients/javascript/package-lock.json" in tracked
    assert named == set()


def _content(name):
    path = REPOSITORY / name
    # Listed and gone: a deletion that is not committed yet.
    return path.read_bytes() if path.is_file() else b""
