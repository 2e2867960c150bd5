"""The capacity model: its simulation, its arithmetic, and the tables of docs/scaling.md."""

import json
import re
from dataclasses import replace

import pytest

from bench.simulation import (
    COSTS,
    Costs,
    Shape,
    capacity,
    growth_table,
    limits_of_an_installation,
    limits_table,
    load_costs,
    plan,
    plans_table,
    simulate_clients,
    simulate_load,
    validation_table,
)
from tests.support.processes import REPOSITORY
from tests.unit.repository.test_deployment_files import read_settings

PAGE = (REPOSITORY / "docs/scaling.md").read_text()
FIGURES = json.loads(COSTS.read_text())
SHAPE = Shape(web=2, workers=3, postgres_cores=2)


@pytest.fixture
def costs() -> Costs:
    return load_costs(FIGURES)


def test_more_load_never_has_less_latency(costs):
    most, _ = capacity(costs, SHAPE)

    outcomes = [
        simulate_load(costs, SHAPE, load=most * part, trips=1_500)
        for part in (0.1, 0.4, 0.7, 0.9, 1.2)
    ]

    assert [each.p50 for each in outcomes] == sorted(each.p50 for each in outcomes)
    assert [each.p95 for each in outcomes] == sorted(each.p95 for each in outcomes)


@pytest.mark.parametrize(
    "shape",
    [
        Shape(web=1, workers=9, postgres_cores=9),
        Shape(web=9, workers=1, postgres_cores=9),
        Shape(web=9, workers=9, postgres_cores=1),
    ],
)
def test_throughput_ends_at_the_computed_limit(costs, shape):
    most, resource = capacity(costs, shape)

    outcome = simulate_load(costs, shape, load=most * 2, trips=2_000)

    assert outcome.trips_per_second == pytest.approx(most, rel=0.1)
    assert outcome.busiest == resource


def test_processes_of_one_machine_share_its_cores(costs):
    shape = Shape(web=1, workers=1, postgres_cores=1, shared_cores=1)
    most, resource = capacity(costs, shape)

    outcome = simulate_clients(costs, shape, at_once=8, trips=400)

    assert resource == "cores"
    assert outcome.trips_per_second == pytest.approx(most, rel=0.1)


def test_a_plan_is_busy_for_a_part_of_the_time_only(costs):
    planned = plan(costs, load=50, pages=500)

    most, _ = capacity(costs, planned.shape)

    assert most > 50 / planned.installations
    assert planned.simulate().trips_per_second > 0


def test_more_wakeups_than_a_process_can_take_need_installations(costs):
    slow = replace(costs, wakeup=0.001)

    assert (
        plan(slow, load=1_000, pages=0).installations > plan(costs, load=10, pages=0).installations
    )
    assert min(limits_of_an_installation(slow).values()) < min(
        limits_of_an_installation(costs).values()
    )


@pytest.mark.parametrize(
    "make",
    [
        lambda: plans_table(load_costs(FIGURES)),
        lambda: limits_table(load_costs(FIGURES)),
        lambda: validation_table(FIGURES),
        lambda: growth_table(FIGURES),
    ],
    ids=["plans", "limits", "validation", "growth"],
)
def test_the_page_has_the_tables_of_the_stored_costs_once(make):
    table = make()

    assert PAGE.count(table) == 1, (
        f"run python -m bench.simulation, and put this into the page once:\n{table}"
    )


def test_the_page_names_existing_settings_only():
    named = set(re.findall(r"SIGNOFF_[A-Z_]+[A-Z]", PAGE))

    assert named
    assert named <= read_settings()
