"""JSON values and what makes two of them the same, written without the code under test."""

from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from tests.support.environment import IS_FULL

LARGEST = 2**53 - 1


def generated(examples: int) -> settings:
    """Return settings for so many examples, the same in each run; a quarter in `make test`."""
    return settings(
        max_examples=examples if IS_FULL else max(examples // 4, 8),
        suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
    )


texts = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=6
) | st.sampled_from(["true", "1", "é", "e\u0301", "\U0001f600", "\u20ac", "a b"])
numbers = (
    st.integers(-LARGEST, LARGEST)
    | st.sampled_from([0, 1, -1, 1.0, 0.5, 1e-7, 1e21, LARGEST])
    | st.floats(-1e6, 1e6)
)
scalars = st.none() | st.booleans() | numbers | texts
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)
#: Also what no JSON text can say, or what readers disagree about.
wild_scalars = (
    scalars
    | st.integers()
    | st.floats()
    | st.sampled_from([2**53, -(2**53), 1e20, 2.0**53, 1e16, float("nan"), float("-inf")])
    | st.sampled_from(["\0", "\ud800", "a\udc00"])
)
wild_values = st.recursive(
    wild_scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=5,
)


def same(first: Any, other: Any) -> bool:
    """Whether two values are the same JSON: `1` is `1.0`, but neither is `true`."""
    if isinstance(first, bool) or isinstance(other, bool):
        return first is other
    if isinstance(first, int | float) and isinstance(other, int | float):
        return first == other
    if type(first) is not type(other):
        return False
    if isinstance(first, list):
        return len(first) == len(other) and all(map(same, first, other))
    if isinstance(first, dict):
        return first.keys() == other.keys() and all(same(first[key], other[key]) for key in first)
    return bool(first == other)


def shuffled(value: Any) -> Any:
    """The same value with every object's keys the other way round."""
    if isinstance(value, list):
        return [shuffled(item) for item in value]
    if isinstance(value, dict):
        return {key: shuffled(value[key]) for key in reversed(value)}
    return value


@st.composite
def changed(draw: Any, value: Any) -> Any:
    """A value that differs from this one in one place."""
    if isinstance(value, list) and value:
        at = draw(st.integers(0, len(value) - 1))
        return [*value[:at], draw(changed(value[at])), *value[at + 1 :]]
    if isinstance(value, dict) and value and draw(st.booleans()):
        key = draw(st.sampled_from(sorted(value)))
        return {**value, key: draw(changed(value[key]))}
    if isinstance(value, dict):
        return {**value, "another key": draw(scalars)}
    return draw(scalars.filter(lambda other: not same(other, value)))
