"""A function gets the arguments that were approved, or it does not run."""

import asyncio
import inspect
import json
from collections.abc import Sequence
from random import Random
from typing import Any

import pytest
from signoff_client import Signoff
from signoff_client.aio import AsyncSignoff
from signoff_client.approvals import Approval
from signoff_client.arguments import Signature, UnknownArguments

NAMES = ("charge", "amount", "more", "labels", "note", "x", "self", "args")
CALLS = 10_000


def record(charge: Any, /, amount: Any, *more: Any, note: Any = "-", **labels: Any) -> Any:
    """Return what arrived, under the names of the parameters."""
    return {"charge": charge, "amount": amount, "more": list(more), "note": note, **labels}


def strict(charge: str, amount: int = 1, *, note: str = "-") -> Any:
    return {"charge": charge, "amount": amount, "note": note}


def random_value(rng: Random, depth: int = 0) -> Any:
    """Return any JSON value, often one that Python takes for another: 1, 1.0 and true."""
    kind = rng.randrange(9 if depth < 3 else 7)
    if kind < 7:
        number = rng.choice([0, 1, -1, 2**53 + 1, 10**30, 1.0, 1.5, -0.0, 1e300])
        text = "".join(chr(rng.choice([0, 10, 34, 92, 97, 228, 0x2028, 0x1F600])) for _ in range(3))
        return rng.choice([None, True, False, number, number, text, text[:1]])
    children = [random_value(rng, depth + 1) for _ in range(rng.randrange(3))]
    return children if kind == 7 else dict(zip(("a", "b", "1"), children, strict=False))


def random_members(rng: Random, names: Sequence[str], most: int) -> dict[str, Any]:
    names = rng.sample(names, rng.randrange(most + 1))
    return {name: random_value(rng) for name in names}


def test_what_runs_is_what_was_approved():
    """Any arguments with any edit: the function gets exactly those that came back, or nothing."""
    rng, approval, executed = Random(20), Approval(record), 0

    for _ in range(CALLS):
        args = [random_value(rng) for _ in range(2 + rng.randrange(3))]
        proposed = approval.members(tuple(args), random_members(rng, ("note", "x", "y"), 3))["args"]
        approved = {**proposed, **random_members(rng, NAMES, 3)}
        for name in rng.sample(NAMES, rng.choice([0, 0, 1])):
            approved.pop(name, None)
        try:
            run = approval.bind(approved)
        except UnknownArguments:
            is_complete = {"charge", "amount", "more", "note"} <= approved.keys()
            assert not is_complete or not isinstance(approved["more"], list)
            continue
        executed += 1
        assert json.dumps(run(), sort_keys=True) == json.dumps(approved, sort_keys=True)

    assert CALLS / 2 < executed < CALLS


def test_members_that_a_function_does_not_take_are_refused():
    rng, approval, executed = Random(21), Approval(strict), 0

    for _ in range(CALLS):
        approved = random_members(rng, (*NAMES[:2], "note", "x"), 4)
        try:
            run = approval.bind(approved)
        except UnknownArguments:
            assert approved.keys() != {"charge", "amount", "note"}
            continue
        executed += 1
        assert json.dumps(run(), sort_keys=True) == json.dumps(approved, sort_keys=True)

    assert executed > 100


def test_the_variables_of_the_caller_are_not_used():
    labels = ["a"]
    approval = Approval(lambda labels: labels)
    proposed = approval.members((labels,), {})["args"]
    labels.append("b")

    assert approval.bind(proposed)() == ["a"]
    assert approval.bind({"labels": ["c"]})() == ["c"]


def test_defaults_are_approved_as_well():
    assert Signature(strict).to_json(("ch_1",), {}) == {"charge": "ch_1", "amount": 1, "note": "-"}


@pytest.mark.parametrize(
    "value",
    [
        {1: "a"},
        [{None: 1}],
        {"a": {2.0: 1}},
        float("nan"),
        float("inf"),
        b"x",
        {1, 2},
        object(),
        "\ud800",
        ({"a": ({3: 1},)},),
    ],
    ids=lambda value: type(value).__name__,
)
def test_values_that_json_does_not_have_are_refused(value):
    with pytest.raises(TypeError, match="strict"):
        Signature(strict).to_json((value,), {})


def test_values_without_an_end_are_refused():
    loop: list[Any] = []
    loop.append(loop)
    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]

    for value in (loop, deep):
        with pytest.raises(TypeError, match="strict"):
            Signature(strict).to_json((value,), {})


def test_calls_that_do_not_fit_the_function_are_refused_before_asking():
    with pytest.raises(TypeError):
        Signature(strict).to_json((), {"unknown": 1})
    with pytest.raises(TypeError, match="twice"):
        Signature(record).to_json((1, 2), {"charge": 3})


def test_the_form_has_the_parameters_and_no_others():
    assert Signature(strict).schema() == {
        "type": "object",
        "properties": {
            "charge": {"type": "string"},
            "amount": {"type": "integer"},
            "note": {"type": "string"},
        },
        "required": ["charge", "amount", "note"],
        "additionalProperties": False,
    }
    assert "args_schema" not in Approval(strict).members(("a",), {})
    assert Approval(strict, may_edit=True).members(("a",), {})["args_schema"]["required"]


def test_functions_that_run_later_are_refused():
    def generate() -> Any:
        yield 1

    async def later() -> int:
        return 1

    with pytest.raises(TypeError, match="generator"):
        Approval(generate)
    with pytest.raises(TypeError, match="AsyncSignoff"):
        Approval(later)
    with pytest.raises(TypeError, match="Signoff"):
        Approval(strict, is_async=True)
    assert asyncio.run(Approval(later, is_async=True).bind({})()) == 1


def test_other_effects_are_refused():
    with pytest.raises(ValueError, match="once"):
        Approval(strict, effect="twice")


@pytest.mark.parametrize("kind", [Signoff, AsyncSignoff], ids=["blocking", "async"])
def test_decorated_functions_stay_what_they_are(kind):
    async def later(charge: str) -> None:
        """Refund a charge."""

    function = later if kind is AsyncSignoff else strict
    wrapped = kind("http://localhost:1", "key").requires_approval(effect="idempotent")(function)

    assert wrapped.__name__ == function.__name__
    assert wrapped.__doc__ == function.__doc__
    assert inspect.iscoroutinefunction(wrapped) is (kind is AsyncSignoff)
    with pytest.raises(ValueError, match="key"):
        wrapped.with_key("")
