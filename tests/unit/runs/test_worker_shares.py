"""The shares of a process that teams and agents may occupy."""

from collections import Counter

import pytest

from inbox.rules.runs.worker_shares import Occupancy, may_resume, may_start, reserved_threads


class Process:
    """A process whose runs never end."""

    def __init__(self, threads):
        self.threads = threads
        self.runs, self.new_runs = Counter(), Counter()

    def occupancy(self, team, agent):
        new_runs = sum(n for (of, _), n in self.new_runs.items() if of == team)
        return Occupancy(
            threads=self.threads,
            runs=self.runs.total(),
            new_runs=self.new_runs.total(),
            team_resumes=self.runs[team] - new_runs,
            team_new_runs=new_runs,
            agent_new_runs=self.new_runs[team, agent],
        )

    def start(self, team, agent="agent", times=1):
        """Start runs of an agent as long as they are admitted, and return their number."""
        for number in range(times):
            if not may_start(self.occupancy(team, agent)):
                return number
            self.runs[team] += 1
            self.new_runs[team, agent] += 1
        return times

    def resume(self, team, times=1):
        for number in range(times):
            if not may_resume(self.occupancy(team, "agent")):
                return number
            self.runs[team] += 1
        return times


def greedy_process(threads=32):
    process = Process(threads)
    for agent in ("first", "second", "third"):
        process.start("greedy", agent, times=1_000)
    return process


@pytest.mark.parametrize("threads", range(4, 65))
def test_new_runs_of_one_team_leave_threads_to_others(threads):
    process = greedy_process(threads)

    assert process.start("other") == 1
    assert process.resume("another") == 1


@pytest.mark.parametrize("threads", range(2, 65))
def test_new_runs_of_all_teams_leave_threads_to_resumes(threads):
    process = Process(threads)
    for team in range(200):
        process.start(team, times=1_000)

    assert process.threads - process.runs.total() >= reserved_threads(threads) >= 1
    assert process.resume("other") == 1


@pytest.mark.parametrize("threads", range(3, 65))
def test_resumes_of_one_team_leave_a_thread_to_others(threads):
    process = Process(threads)
    process.resume("greedy", times=1_000)

    assert process.resume("other") == 1


@pytest.mark.parametrize("threads", range(6, 65))
def test_new_runs_of_one_agent_leave_a_thread_to_its_team(threads):
    process = Process(threads)
    process.start("team", "greedy", times=1_000)

    assert process.start("team", "other") == 1


@pytest.mark.parametrize("threads", range(2, 65))
def test_new_runs_of_a_team_leave_a_thread_to_its_own_resumes(threads):
    process = greedy_process(threads)

    assert process.resume("greedy") == 1


def test_a_team_that_is_alone_gets_most_of_the_process():
    process = Process(32)

    assert process.start("team", "one", times=100) == 21
    assert process.start("team", "two", times=100) == 3
    assert process.resume("team", times=100) == 7


def test_no_run_gets_a_thread_of_a_full_process():
    process = Process(2)
    process.resume("one"), process.resume("two")

    assert not process.start("three")
    assert not process.resume("three")


def test_a_single_thread_drives_every_run():
    assert Process(1).start("team") == 1
    assert Process(1).resume("team") == 1
