"""A tiny run of the benchmark: each workload still knows the interfaces that it drives."""

from dataclasses import replace

import pytest

from bench import capacity, simulation
from bench.plan import QUICK, measure
from bench.report import neighbours, table
from bench.shapes import start

TINY = replace(
    QUICK,
    trips=2,
    trips_at_once=8,
    pages=2,
    pending=(20,),
    followers=(2,),
    idle_streams=2,
    idle_seconds=0.2,
    finished=10,
)


@pytest.mark.services
def test_every_workload_runs_and_has_figures():
    with start("bare") as bare, start("embedded") as embedded:
        subjects = {"bare": bare, "embedded": embedded}
        results = measure(subjects, TINY, rounds=1)
        compared = measure(subjects, TINY, rounds=1, only="W5", fill=False)

    assert {name.split()[0].rstrip(",") for name in results} == {
        *("W1", "W2", "W3", "followers", "idle", "W5", "W6"),
    }
    assert list(compared) == ["W5 1,000 pending"]
    assert "x" in table(results, ["bare", "embedded"], base="bare")
    assert neighbours(results)


@pytest.mark.services
def test_capacity_has_all_costs_that_the_simulation_reads():
    with start("scaled", postgres_settings=capacity.POSTGRES) as subject:
        figures = capacity.measure(subject, capacity.QUICK)

    costs = simulation.load_costs(figures)
    assert min(costs.web, costs.worker, costs.wal_bytes, costs.disk_bytes, costs.signed) > 0
    assert figures["growth a trip"]["inbox_interrupt"]["rows"] == 1
    assert figures["connections"]["web to PostgreSQL"] >= 2
    assert "inbox_event" in capacity.table(figures)
