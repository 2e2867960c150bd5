"""The Python environments of other frameworks, which could not live in one with ours."""

import hashlib
import subprocess
import sys
from pathlib import Path
from typing import Final

from uv import find_uv_bin

from tests.support.caches import make_once
from tests.support.children import StartFailed

LOCKS: Final = Path(__file__).resolve().parents[3] / "requirements" / "servers"


def find_python(name: str) -> Path:
    """
    Return the interpreter of the environment that requirements/servers/`name`.txt describes.

    It is made once for each lock file and Python, by uv, in the cache.

    Raises:
        StartFailed: it cannot be installed; the text carries what uv wrote.
    """
    lock = LOCKS / f"{name}.txt"
    key = hashlib.sha256(lock.read_bytes() + sys.version.encode()).hexdigest()[:16]

    def install(draft: Path) -> None:
        python = draft / "bin" / "python"
        _uv("venv", "--quiet", "--python", sys.executable, str(draft))
        _uv("pip", "sync", "--quiet", "--require-hashes", "--python", str(python), str(lock))

    return make_once(f"python-{name}-{key}", install) / "bin" / "python"


def _uv(*arguments: str) -> None:
    done = subprocess.run(
        [find_uv_bin(), *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        raise StartFailed(f"uv {' '.join(arguments)} failed:\n{done.stdout}")
