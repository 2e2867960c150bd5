"""The ledger counts every real execution, whoever makes it."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

from agents.demo_agent import execution_counter

ROOT = Path(__file__).parents[4]


def test_executions_are_counted_by_thread_and_tool_call(ledger_file):
    counts = [
        execution_counter.record("thread", "call", "k"),
        execution_counter.record("thread", "call", "other key"),
        execution_counter.record("thread", "other call", "k"),
        execution_counter.record("other thread", "call", "k"),
    ]

    assert counts == [1, 2, 1, 1]


def test_a_call_that_was_never_executed_counts_zero(ledger_file):
    assert execution_counter.count("thread", "call") == 0
    assert ledger_file.exists()


def test_the_ledger_is_where_the_environment_says(ledger_file, tmp_path, monkeypatch):
    execution_counter.record("thread", "call", "k")
    monkeypatch.setenv("SIGNOFF_LEDGER", str(tmp_path / "second.sqlite3"))

    assert execution_counter.count("thread", "call") == 0


def test_without_a_setting_the_ledger_is_below_the_current_directory(tmp_path, monkeypatch):
    monkeypatch.delenv("SIGNOFF_LEDGER", raising=False)
    monkeypatch.chdir(tmp_path)

    assert execution_counter.counter_path() == tmp_path / "var" / "rehearsal-ledger.sqlite3"


def test_threads_do_not_lose_each_others_executions(ledger_file):
    with ThreadPoolExecutor(8) as pool:
        counts = list(
            pool.map(lambda _: execution_counter.record("thread", "call", "k"), range(80))
        )

    assert sorted(counts) == list(range(1, 81))


def test_threads_may_open_a_new_ledger_at_once(tmp_path, monkeypatch):
    together = Barrier(8)

    def record(_number):
        together.wait(timeout=10)
        return execution_counter.record("thread", "call", "k")

    with ThreadPoolExecutor(8) as pool:
        for number in range(20):
            monkeypatch.setenv("SIGNOFF_LEDGER", str(tmp_path / f"{number}.sqlite3"))
            assert sorted(pool.map(record, range(8))) == list(range(1, 9))


def test_processes_that_start_together_do_not_lose_each_others_executions(ledger_file):
    program = (
        "from agents.demo_agent.execution_counter import record\n"
        "for _ in range(50): record('t', 'c', 'k')"
    )

    workers = [subprocess.Popen([sys.executable, "-c", program], cwd=ROOT) for _ in range(4)]
    codes = [worker.wait(timeout=60) for worker in workers]

    assert codes == [0, 0, 0, 0]
    assert execution_counter.count("t", "c") == 200
