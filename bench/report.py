"""A table for people, beside what is aimed at, and the same figures for machines."""

import json
import os
import platform
from collections.abc import Mapping, Sequence
from typing import Any

import psutil

from bench.figures import medians, range_of
from bench.plan import Results

#: work -> figure -> (scaled, embedded); a leading < is "at most", > is "at least".
AIMS: Mapping[str, Mapping[str, tuple[str, str]]] = {
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
    """The medians of one shape; `vs bare` is how many times the bare server's figure it is."""
    head = f"{shape}: medians of {len(runs)} runs"
    lines = [f"{head:44} {'median':>10} {'smallest':>10} {'largest':>10} {'aim':>9} {'vs bare':>8}"]
    for work in runs[0]:
        lines.append(work)
        of_work = [run[work] for run in runs]
        of_bare = medians([run[work] for run in bare if work in run])
        for name, value in medians(of_work).items():
            extent = range_of(of_work, name)
            numbers = [_number(value), *(map(_number, extent) if extent else ("-", "-"))]
            columns = " ".join(f"{number:>10}" for number in numbers)
            lines.append(
                f"    {name:40} {columns} {_aim(shape, work, name, value):>9} "
                f"{_ratio(value, of_bare.get(name)):>8}".rstrip()
            )
    return "\n".join(lines)


def as_json(results: Mapping[str, Sequence[Results]]) -> str:
    """Every run's figures and the medians, with the machine they belong to."""
    content = {
        "machine": machine(),
        "shapes": {
            shape: {
                "medians": {work: medians([run[work] for run in runs]) for work in runs[0]},
                "runs": list(runs),
            }
            for shape, runs in results.items()
        },
        "aims": AIMS,
    }
    return json.dumps(content, indent=2)


def machine() -> dict[str, Any]:
    """What the figures belong to: they mean nothing on another machine."""
    return {
        "cores": os.cpu_count(),
        "memory GB": round(psutil.virtual_memory().total / 1e9),
        "system": platform.platform(),
        "python": platform.python_version(),
        "load before": os.getloadavg()[0],
    }


def is_met(aim: str, value: float) -> bool:
    """Whether a figure is within an aim such as `<10` or `>100`, the limit included."""
    limit = float(aim[1:])
    return value <= limit if aim[0] == "<" else value >= limit


def _aim(shape: str, work: str, name: str, value: float | None) -> str:
    aims = AIMS.get(work, {}).get(name)
    if aims is None or shape not in ("scaled", "embedded"):
        return ""
    aim = aims[0] if shape == "scaled" else aims[1]
    if value is None:
        return aim
    return f"{aim} {'ok' if is_met(aim, value) else 'NO'}"


def _ratio(value: float | None, bare: float | None) -> str:
    return f"x{value / bare:.1f}" if value and bare else ""


def _number(value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"
