"""Reports of figures: a table with ratios between subjects, and JSON."""

import json
import os
import platform
import statistics
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import psutil

from bench.figures import Figures, medians, range_of
from bench.plan import FOREIGN_CORES, Results, turns


def table(results: Results, subjects: Sequence[str], *, base: str | None) -> str:
    """Return a table of the medians of all subjects, each with its ratio to the base."""
    heads = [f"{name:>12}" + ("" if name == base else f"{_against(base):>10}") for name in subjects]
    lines = [" " * 44 + "".join(heads)]
    for workload, rounds in results.items():
        lines.append(workload)
        for figure in dict.fromkeys(name for name in subjects for name in medians(rounds[name])):
            columns = []
            for name in subjects:
                columns.append(f"{_number(medians(rounds[name]).get(figure)):>12}")
                if name != base:
                    value = base and ratio(rounds[base], rounds[name], figure)
                    columns.append(f"{f'x{value:.2f}' if value else '':>10}")
            lines.append(f"    {figure:40}{''.join(columns)}".rstrip())
    return "\n".join(lines)


def compare_by_turns(
    title: str, measure: Callable[[int], Figures], number: int, *, rounds: int
) -> str:
    """Measure beside none and beside `number` by turns; return a table with the ratios."""
    numbers = {"none": 0, f"{number:,}": number}
    runs: dict[str, list[Figures]] = {name: [] for name in numbers}
    for name in turns([*numbers], rounds):
        runs[name].append(measure(numbers[name]))
    return table({title: runs}, [*numbers], base="none")


def ratio(before: Sequence[Figures], after: Sequence[Figures], figure: str) -> float | None:
    """
    Return the median of the ratios of one figure, round by round; None if a round lacks it.

    The rounds of two subjects follow each other, so that what slows one down slows down both.
    """
    pairs = [(a.get(figure), b.get(figure)) for a, b in zip(before, after, strict=True)]
    ratios = [b / a for a, b in pairs if a and b is not None]
    return statistics.median(ratios) if ratios and len(ratios) == len(pairs) else None


def neighbours(results: Results) -> str:
    """Return a sentence about what other processes used during the measurements."""
    every = [figures for rounds in results.values() for runs in rounds.values() for figures in runs]
    cores = medians(every).get(FOREIGN_CORES) or 0.0
    most = (range_of(every, FOREIGN_CORES) or (0.0, 0.0))[1]
    load = os.getloadavg()[0]
    return (
        f"Other processes used {cores:.1f} of {os.cpu_count()} cores (median of {len(every)} "
        f"measurements, at most {most:.1f}); load {load:.1f} at the end."
    )


def as_json(results: Results) -> str:
    """Return the figures of every round, the medians, and the machine as JSON."""
    content = {
        "machine": machine(),
        "workloads": {
            workload: {
                subject: {"medians": medians(runs), "rounds": runs}
                for subject, runs in rounds.items()
            }
            for workload, rounds in results.items()
        },
    }
    return json.dumps(content, indent=2)


def machine() -> Mapping[str, Any]:
    """Return a description of this machine."""
    return {
        "cores": os.cpu_count(),
        "memory GB": round(psutil.virtual_memory().total / 1e9),
        "system": platform.platform(),
        "python": platform.python_version(),
        "load at the end": os.getloadavg()[0],
    }


def _against(base: str | None) -> str:
    return f"vs {base}" if base else ""


def _number(value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"
