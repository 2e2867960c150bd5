"""Run the unit tests of static/js with Node's test runner."""

import shutil
import subprocess
from pathlib import Path

from tests.support.node import find_node

FOLDER = Path(__file__).parent
SCRIPTS = FOLDER.parents[2] / "static" / "js"


def test_page_scripts_pass_their_unit_tests(tmp_path):
    for path in (*SCRIPTS.glob("*.js"), *FOLDER.glob("*.mjs")):
        shutil.copy(path, tmp_path)
    (tmp_path / "package.json").write_text('{"type": "module"}')

    done = subprocess.run(
        [find_node().node, "--test"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )

    assert done.returncode == 0, done.stdout + done.stderr
