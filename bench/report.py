"""Reports of figures: a table with targets, and JSON."""

import json
import os
import platform
from collections.abc import Mapping, Sequence
from typing import Any

import psutil

from bench.figures import medians, range_of
from bench.plan import Results

#: workload -> figure -> (scaled, embedded); a leading < means "at most", > "at least".
TARGETS: Mapping[str, Mapping[str, tuple[str, str]]] = {
    "W1 trips, 1 at a time": {
        "decide -> result p50 ms": ("<10", "<6"),
        "decide -> result p99 ms": ("<25", "<15"),
    },
    "W1 trips, 32 at once": {
        "trips per second": (">100", ">120"),
        "server CPU ms per trip": ("<15", "<10"),
    },
    "W2 stream, 1 run": {
        "deltas per second": (">10000", ">10000"),
        "first delta p50 ms": ("<15", "<10"),
        "server CPU us per delta": ("<100", "<100"),
    },
    "W2 stream, 20 runs at once": {
        "deltas per second": (">8000", ">8000"),
        "first delta p50 ms": ("<100", "<100"),
        "server CPU us per delta": ("<100", "<100"),
    },
    "W3 100 questions": {"resume -> finished p50 ms": ("<60", "<40")},
    "W5 100,000 pending": {"list p50 ms": ("<8", "<8"), "page p50 ms": ("<50", "<50")},
    "memory": {"peak MB": ("<300", "<150")},
}


def table(shape: str, runs: Sequence[Results], bare: Sequence[Results] = ()) -> str:
    """Return a table of one shape; `vs bare` is the ratio to the bare server's figure."""
    head = f"{shape}: medians of {len(runs)} runs"
    lines = [f"{head:44} {'median':>10} {'smallest':>10} {'largest':>10} {'aim':>9} {'vs bare':>8}"]
    for workload in runs[0]:
        lines.append(workload)
        workload_figures = [run[workload] for run in runs]
        bare_figures = medians([run[workload] for run in bare if workload in run])
        for name, value in medians(workload_figures).items():
            extent = range_of(workload_figures, name)
            numbers = [_number(value), *(map(_number, extent) if extent else ("-", "-"))]
            columns = " ".join(f"{number:>10}" for number in numbers)
            lines.append(
                f"    {name:40} {columns} {_target(shape, workload, name, value):>9} "
                f"{_ratio(value, bare_figures.get(name)):>8}".rstrip()
            )
    return "\n".join(lines)


def as_json(results: Mapping[str, Sequence[Results]]) -> str:
    """Return the figures of every run, the medians, and the machine as JSON."""
    content = {
        "machine": machine(),
        "shapes": {
            shape: {
                "medians": {
                    workload: medians([run[workload] for run in runs]) for workload in runs[0]
                },
                "runs": list(runs),
            }
            for shape, runs in results.items()
        },
        "aims": TARGETS,
    }
    return json.dumps(content, indent=2)


def machine() -> dict[str, Any]:
    """Return a description of this machine."""
    return {
        "cores": os.cpu_count(),
        "memory GB": round(psutil.virtual_memory().total / 1e9),
        "system": platform.platform(),
        "python": platform.python_version(),
        "load before": os.getloadavg()[0],
    }


def is_met(target: str, value: float) -> bool:
    """Return whether a figure meets a target such as `<10` or `>100`, limit included."""
    limit = float(target[1:])
    return value <= limit if target[0] == "<" else value >= limit


def _target(shape: str, workload: str, name: str, value: float | None) -> str:
    targets = TARGETS.get(workload, {}).get(name)
    if targets is None or shape not in ("scaled", "embedded"):
        return ""
    target = targets[0] if shape == "scaled" else targets[1]
    if value is None:
        return target
    return f"{target} {'ok' if is_met(target, value) else 'NO'}"


def _ratio(value: float | None, bare: float | None) -> str:
    return f"x{value / bare:.1f}" if value and bare else ""


def _number(value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"
