"""The bill of materials, and the workflows."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.processes import REPOSITORY

WORKFLOWS = sorted((REPOSITORY / ".github" / "workflows").glob("*.yml"))
MAKEFILE = (REPOSITORY / "Makefile").read_text()


def test_bill_of_materials_has_every_pinned_package(tmp_path):
    """By the command of `make sbom`."""
    recipe = re.search(r"^sbom:.*\n((?:\t.*\n)+)", MAKEFILE, re.MULTILINE)[1]
    command = recipe.replace("\\\n", " ").strip().lstrip("@").split()
    command[0] = str(Path(sys.executable).with_name("cyclonedx-py"))
    command[command.index("sbom.json")] = str(tmp_path / "sbom.json")

    subprocess.run(command, cwd=REPOSITORY, check=True, capture_output=True)

    bill = json.loads((tmp_path / "sbom.json").read_text())
    components = {(row["name"], row["version"]) for row in bill["components"]}
    pins = re.findall(
        r"^([\w.-]+)(?:\[[\w,-]+\])?==([\w.]+)",
        (REPOSITORY / "requirements" / "base.txt").read_text(),
        re.MULTILINE,
    )
    assert bill["bomFormat"] == "CycloneDX"
    assert len(pins) > 50
    assert components == set(pins)


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_workflows_are_valid_and_may_only_read(path):
    done = subprocess.run(
        [
            *(sys.executable, "-m", "check_jsonschema"),
            *("--builtin-schema", "vendor.github-workflows", str(path)),
        ],
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stdout
    assert "permissions:\n  contents: read\n" in path.read_text()


def test_every_list_of_the_image_is_audited():
    audit = (REPOSITORY / ".github" / "workflows" / "dependencies.yml").read_text()
    extras = re.search(r"^ALL_EXTRAS := (.*)$", MAKEFILE, re.MULTILINE)[1].split()

    (names,) = re.findall(r"for name in ([\w -]+); do", audit)
    assert names.split() == ["base", *extras]
