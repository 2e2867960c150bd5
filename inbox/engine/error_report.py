"""Reports of exceptions for authors of agents: the cause, and the lines of their own code."""

import site
import sysconfig
import traceback
from pathlib import Path

_ROOT = Path(__file__).parents[2]
#: Code between the author's lines, which says nothing about the mistake.
_OTHERS = tuple(
    str(path)
    for path in (
        _ROOT / "agents" / "sdk",
        _ROOT / "agents" / "adapters",
        _ROOT / "agents" / "agui",
        _ROOT / "inbox",
        _ROOT / "manage.py",
        sysconfig.get_path("stdlib"),
        *site.getsitepackages(),
    )
)
_MAX_FRAMES = 5
_MAX_CHARACTERS = 4_000


def cause_of(error: BaseException) -> dict[str, str]:
    """Return the cause and the author's last line as facts of a log line."""
    facts = {"cause": _summary(error)}
    if frames := _own_frames(error):
        facts["at"] = place_of(frames[-1])
    return facts


def report_of(error: BaseException) -> str:
    """Return the error and the author's last lines as text for the author."""
    lines = [_summary(error)]
    for frame in _own_frames(error)[-_MAX_FRAMES:]:
        lines += [f"  {place_of(frame)}", *([f"    {frame.line}"] if frame.line else [])]
    return "\n".join(lines)[:_MAX_CHARACTERS].replace("\0", "?")


def place_of(frame: traceback.FrameSummary) -> str:
    """Return the file, the line and the function of a frame."""
    return f"{Path(frame.filename).name}:{frame.lineno} in {frame.name}"


def is_own(filename: str) -> bool:
    """Return whether a file is neither of Signoff nor of Python and its packages."""
    return not filename.startswith((*_OTHERS, "<frozen"))


def _summary(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}".removesuffix(": ")[:1_000]


def _own_frames(error: BaseException) -> list[traceback.FrameSummary]:
    """Return the author's frames, the last one first raised; all frames if there are none."""
    frames = traceback.extract_tb(error.__traceback__)
    return [frame for frame in frames if is_own(frame.filename)] or list(frames)
