"""
Restarts this process when the code of its agents changes, for `serve --demo`.

The process replaces itself with a new one: runs and requests are rows, so nothing is lost. Django's
autoreload runs the server in a thread, where Daphne cannot handle signals, and restarts on changes
of every module.
"""

import os
import signal
import sys
import threading
from collections.abc import Callable, Mapping
from pathlib import Path

import structlog

from inbox import engine
from inbox.management.preparation import replace_process

log = structlog.get_logger(__name__)

#: Names the changed files for the new process, which says what it has reloaded.
_RELOADED = "SIGNOFF_RELOADED_FILES"
_PAUSE_SECONDS = 1.0

Changes = Mapping[str, float]


class AgentReloader:
    """Watches the files of the agents, and asks the process to stop when they change."""

    def __init__(
        self,
        files: Callable[[], Changes] | None = None,
        problems: Callable[[], list[str]] = engine.agent_problems_in_new_process,
    ) -> None:
        self._files = files or _files_of_agents
        self._problems = problems
        self.changed: list[str] = []  #: the files for which the process stops

    def start(self) -> None:
        threading.Thread(target=self._watch, name="agent-reloader", daemon=True).start()

    def look(self, before: Changes) -> Changes:
        """
        Compare the files with the times `before`; return their times now.

        If some have changed and the agents in them are usable, `changed` has their names.
        """
        now = self._files()
        changed = [name for name, time in now.items() if before.get(name, time) != time]
        if not changed:
            return now
        problems = self._problems()
        for problem in problems:
            log.warning("agents not reloaded, the earlier code goes on", why=problem)
        if not problems:
            self.changed = changed
        return now

    def restart(self) -> None:
        """Replace this process by a new one with the same arguments."""
        names = ", ".join(Path(name).name for name in self.changed)
        replace_process({_RELOADED: names})

    def _watch(self) -> None:
        times = self._files()
        while not engine.stopping.wait(_PAUSE_SECONDS):
            times = self.look(times)
            if self.changed:
                log.info("agents changed, restarting", files=self.changed)
                os.kill(os.getpid(), signal.SIGTERM)
                return


def reloaded_files() -> str:
    """Return the files for which the process before this one stopped, "" at a first start."""
    return os.environ.pop(_RELOADED, "")


def _files_of_agents() -> Changes:
    """Return the times of change of the modules that are the author's own."""
    times = {}
    for module in list(sys.modules.values()):
        path = getattr(module, "__file__", None)
        if path and engine.is_own_code(path):
            try:
                times[path] = os.stat(path).st_mtime  # noqa: PTH116 - called for each module
            except OSError:
                continue  # being written: editors replace files
    return times
