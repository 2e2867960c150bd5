"""The container image has every directory that the settings refer to."""

import re
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
