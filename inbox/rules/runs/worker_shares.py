"""
The shares of a worker process that teams and agents may occupy, so that no one starves the others.

Dynamic thresholds (Choudhury and Hahne, 1998): a team may take another thread while it has fewer
than a multiple of the threads that stay free. A team that is alone gets most of the process; the
more others take, the less it gets; and a thread is left for a team that has none.
"""

from dataclasses import dataclass

#: A team may have this many times as many threads as stay free, and new runs of an agent this many.
TEAM_FACTOR = 7
AGENT_FACTOR = 3
#: One thread of this many drives no new runs: it is left to resumes.
THREADS_PER_RESERVED = 8


@dataclass(frozen=True)
class Occupancy:
    """The runs that a process with this many threads drives, when one more asks for a thread."""

    threads: int
    runs: int
    new_runs: int  #: of them, those that are not resumes
    team_resumes: int  #: of the team that asks
    team_new_runs: int
    agent_new_runs: int


def reserved_threads(threads: int) -> int:
    """Return the number of threads that drive resumes only; a single thread drives everything."""
    return min(threads - 1, max(1, threads // THREADS_PER_RESERVED))


def may_resume(occupancy: Occupancy) -> bool:
    """Return whether a team may take a thread for a resume."""
    return _is_within(occupancy.team_resumes, TEAM_FACTOR, occupancy.threads - occupancy.runs)


def may_start(occupancy: Occupancy) -> bool:
    """Return whether a team may take a thread for a new run of an agent."""
    free = min(
        occupancy.threads - occupancy.runs,
        occupancy.threads - reserved_threads(occupancy.threads) - occupancy.new_runs,
    )
    return _is_within(occupancy.team_new_runs, TEAM_FACTOR, free) and _is_within(
        occupancy.agent_new_runs, AGENT_FACTOR, free
    )


def _is_within(occupied: int, factor: int, free: int) -> bool:
    return free > 0 and (occupied == 0 or occupied < factor * (free - 1))
