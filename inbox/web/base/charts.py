"""
Structures that templates draw as SVG: stacked columns of counts, and dots by time and amount.

`column_chart` takes a Bucket for each column and returns a ColumnChart, which
`components/columns.html` draws. `dot_chart` takes a Point for each call and returns a DotChart of
circles in a plot of WIDTH by HEIGHT units, whose `amounts` (an Axis) places a limit or a tick:
`Axis.y(value)` and `Axis.ticks`. Coordinates are strings, so that no language rewrites them; they
grow to the right and downwards. The look of a series is the class `f-<series>`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from math import ceil, floor, log10

#: The order in which series stack, from the bottom up, and stand in legends and tables.
SERIES = ("rule", "approved", "edited", "rejected", "expired", "waiting")
#: Fewer calls are said in a sentence instead of drawn.
FEWEST = 5
#: The units of one column's width, and of the plot of dots.
COLUMN, WIDTH, HEIGHT = 10, 1000, 100
#: Columns above this multiple of the 95th percentile are cut, so that one day hides no others.
_CAP = 1.3
#: The height of a part that would be too low to be seen.
_LOWEST = 2.5
#: Amounts whose quotient is greater have a logarithmic axis.
_DECADES = 100


@dataclass(frozen=True)
class Bucket:
    """One column to draw: a day, an hour, or a tool."""

    name: str  #: in the table and beneath the pointer: "18 Nov"
    counts: Mapping[str, int]  #: by series
    tick: str = ""  #: the label beneath the column, "" for most of them
    url: str = ""  #: of the calls that it counts
    is_chosen: bool = False

    @property
    def total(self) -> int:
        return sum(self.counts.values())

    @property
    def row(self) -> list[int]:
        """Return the counts in the order of the series."""
        return [self.counts.get(series, 0) for series in SERIES]


@dataclass(frozen=True)
class Part:
    """The part of a column that stands for one series."""

    series: str
    y: str
    height: str


@dataclass(frozen=True)
class Column:
    """A column with its parts from the bottom up."""

    bucket: Bucket
    slot: str  #: the x of its whole width
    x: str
    parts: Sequence[Part]
    notch: str  #: the path of the notch in a column that is cut; its true value stands above


@dataclass(frozen=True)
class ColumnChart:
    """Columns in a stretched box, which has HEIGHT units for `top` calls."""

    columns: Sequence[Column]
    view_box: str
    top: int
    total: int
    busiest: Bucket | None  #: None without any call


def column_chart(buckets: Sequence[Bucket]) -> ColumnChart:
    """Return stacked columns, with those cut that would flatten all others."""
    top = _top([bucket.total for bucket in buckets])
    busiest = max(buckets, key=lambda bucket: bucket.total, default=None)
    return ColumnChart(
        columns=[_column(index, bucket, top) for index, bucket in enumerate(buckets)],
        view_box=f"0 0 {COLUMN * len(buckets)} {HEIGHT}",
        top=top,
        total=sum(bucket.total for bucket in buckets),
        busiest=busiest if busiest and busiest.total else None,
    )


def _top(totals: Sequence[int]) -> int:
    """Return the value at the upper edge: the greatest one, or less if that one stands out."""
    ordered = sorted(total for total in totals if total)
    if len(ordered) < 2:
        return sum(ordered)
    # Of fewer than 20 columns the greatest is the 95th percentile: take the one before it.
    rank = min(ceil(len(ordered) * 0.95), len(ordered) - 1)
    return min(ordered[-1], ceil(_CAP * ordered[rank - 1]))


def _column(index: int, bucket: Bucket, top: int) -> Column:
    counts = [(series, bucket.counts.get(series, 0)) for series in SERIES]
    scale = HEIGHT / max(top, bucket.total, 1)
    heights = [(series, max(_LOWEST, count * scale)) for series, count in counts if count]
    shrink = min(1.0, HEIGHT / sum(height for _, height in heights)) if heights else 1.0
    x, y, parts = index * COLUMN + 1, float(HEIGHT), []
    for series, height in heights:
        y -= height * shrink
        parts.append(Part(series, f"{max(0.0, y):.1f}", f"{height * shrink:.1f}"))
    notch = f"M{x} 12l4-5 4 5v5l-4-5-4 5z" if bucket.total > top else ""
    return Column(bucket, str(x - 1), str(x), parts, notch)


@dataclass(frozen=True)
class Slice:
    """The part of a lying bar that stands for one series."""

    series: str
    x: str
    width: str


def bar_of(counts: Mapping[str, int]) -> list[Slice]:
    """Return the series of a lying bar of 100 units."""
    total, left, slices = sum(counts.values()), 0.0, []
    for series in SERIES:
        if count := counts.get(series, 0):
            width = 100 * count / total
            slices.append(Slice(series, f"{left:.1f}", f"{max(1.0, width - 0.5):.1f}"))
            left += width
    return slices


# -- dots by time and amount ----------------------------------------------------------------------


@dataclass(frozen=True)
class Point:
    """A call to draw as a dot."""

    at: datetime
    amount: float
    series: str
    url: str = ""
    name: str = ""  #: beneath the pointer


@dataclass(frozen=True)
class Dot:
    """A point with its place."""

    point: Point
    x: str
    y: str


@dataclass(frozen=True)
class Axis:
    """The amounts of a chart, from the bottom up; logarithmic over more than two decades."""

    low: float
    high: float
    is_logarithmic: bool
    ticks: Sequence[tuple[str, float]] = field(default_factory=list)  #: (y, value), at most four

    def y(self, amount: float) -> str:
        """Return the place of an amount; those outside of the axis are at its ends."""
        low, high, value = self.low, self.high, min(max(amount, self.low), self.high)
        if self.is_logarithmic:
            low, high, value = log10(low), log10(high), log10(value)
        return f"{HEIGHT - HEIGHT * (value - low) / (high - low or 1):.1f}"


@dataclass(frozen=True)
class DotChart:
    dots: Sequence[Dot]
    amounts: Axis


def dot_chart(
    points: Sequence[Point], *, begin: datetime, end: datetime, limits: Sequence[float] = ()
) -> DotChart:
    """Return the points between two times as dots, on an axis that has these limits, too."""
    axis = _axis([*(point.amount for point in points), *limits])
    length = (end - begin).total_seconds() or 1
    return DotChart(
        [
            Dot(
                point,
                f"{WIDTH * (point.at - begin).total_seconds() / length:.1f}",
                axis.y(point.amount),
            )
            for point in points
            if begin <= point.at <= end
        ],
        axis,
    )


def _axis(amounts: Sequence[float]) -> Axis:
    low, high = min(amounts, default=0), max(amounts, default=0)
    if low > 0 and high / low > _DECADES:
        axis = Axis(low, high, is_logarithmic=True)
        powers = range(floor(log10(low)), ceil(log10(high)) + 1)
        steps = [step * 10.0**power for power in powers for step in (1, 2, 5)]
        values = [step for step in steps if low <= step <= high] or [low, high]
        values = values[:: ceil(len(values) / 4)]
    else:
        axis = Axis(min(low, 0), high, is_logarithmic=False)
        step = _step(high - axis.low)
        values = [step * number for number in range(ceil(axis.low / step), int(high / step) + 1)]
    return Axis(axis.low, high, axis.is_logarithmic, [(axis.y(value), value) for value in values])


def _step(length: float) -> float:
    """Return a round distance of which at most three fit into a length."""
    power = 10.0 ** int(log10(length / 3)) if length > 3 else 1.0
    return next(step * power for step in (1, 2, 5, 10, 20) if step * power * 4 > length)
