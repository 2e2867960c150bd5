"""Percentiles, medians and ranges of figures."""

import math
import statistics
from collections.abc import Mapping, Sequence

#: The figures of one workload by name; None if not measured.
Figures = dict[str, float | None]


def percentile(values: Sequence[float], percent: float) -> float:
    """
    Return the smallest value that `percent` of the values do not exceed (nearest rank).

    Raises:
        ValueError: there are no values.
    """
    if not values:
        raise ValueError("no values to take a percentile of")
    rank = math.ceil(len(values) * percent / 100)
    return sorted(values)[max(rank, 1) - 1]


def spread(name: str, seconds: Sequence[float]) -> Figures:
    """Return p50, p95 and p99 of durations as milliseconds, named `<name> p50 ms` and so on."""
    return {
        f"{name} p{percent} ms": percentile(seconds, percent) * 1000 for percent in (50, 95, 99)
    }


def medians(runs: Sequence[Mapping[str, float | None]]) -> Figures:
    """Return the median of each figure over several runs; a figure missing anywhere is None."""
    names = dict.fromkeys(name for run in runs for name in run)
    results: Figures = {}
    for name in names:
        values = [value for run in runs if (value := run.get(name)) is not None]
        results[name] = statistics.median(values) if len(values) == len(runs) else None
    return results


def print_figures(figures: Figures) -> None:
    for name, value in figures.items():
        print(f"  {name:32} {value:.1f}")


def range_of(runs: Sequence[Mapping[str, float | None]], name: str) -> tuple[float, float] | None:
    """Return the smallest and the largest of one figure over several runs."""
    values = [value for run in runs if (value := run.get(name)) is not None]
    return (min(values), max(values)) if values else None
