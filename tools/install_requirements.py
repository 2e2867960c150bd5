"""Install a file of pinned requirements with pip, and say how far it is."""

import subprocess
import sys
from collections import deque
from collections.abc import Iterable, Iterator
from pathlib import Path

#: Without a terminal, every so many packages are a line.
_EACH = 10
_LAST_LINES = 20
_PIP = (sys.executable, "-m", "pip", "--disable-pip-version-check")


def main(path: str) -> int:
    requirements = Path(path)
    total = sum("==" in line for line in requirements.read_text().splitlines())
    print(f"Installing {path}: {total} packages, which takes a few minutes once", flush=True)
    # The file is complete, so nothing is resolved: pip before 23.3 would take a dependency with
    # an extra (pydantic[email]) for one without a pin when the index has a newer version.
    process = subprocess.Popen(
        [*_PIP, "install", "--progress-bar", "off", "--no-deps", "--require-hashes", "-r", path],
        stdout=subprocess.PIPE,
        text=True,
    )
    last = deque[str](maxlen=_LAST_LINES)
    for message in progress(
        _kept(process.stdout or (), last), total, is_terminal=sys.stdout.isatty()
    ):
        sys.stdout.write(message)
        sys.stdout.flush()
    code = process.wait()
    if code:
        sys.stderr.writelines(last)
        return code
    check = subprocess.run([*_PIP, "check"], capture_output=True, text=True, check=False)
    if check.returncode:
        sys.stderr.write(check.stdout)
    return check.returncode


def progress(lines: Iterable[str], total: int, *, is_terminal: bool) -> Iterator[str]:
    """Yield what to print for the output of pip; a terminal has one line that changes."""
    start, end = ("\r\x1b[K", "") if is_terminal else ("", "\n")
    number = 0
    for line in lines:
        word, _, package = line.partition(" ")
        if word in ("Collecting", "Requirement"):
            number = min(number + 1, total)
            if is_terminal or number % _EACH == 0:
                yield f"{start}  {number} of {total}: {package.split()[0]}{end}"
        elif line.startswith("Installing collected packages"):
            yield f"{start}  Writing the packages into {Path(sys.prefix).name}{end}"
    yield "\r\x1b[K" if is_terminal else ""


def _kept(lines: Iterable[str], last: deque[str]) -> Iterator[str]:
    for line in lines:
        last.append(line)
        yield line


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
