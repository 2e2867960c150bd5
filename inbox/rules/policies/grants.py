"""Grants: the calls that they cover, their limits, and spending them."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from decimal import ROUND_CEILING, Decimal
from enum import StrEnum
from typing import Any, Final

from agents.agui.strict_json import LARGEST_INTEGER
from inbox.rules.decisions.consent import canonical_json
from inbox.rules.errors import InvalidValue
from inbox.rules.policies.operators import compare, exact
from inbox.rules.schema.secrets import pointer
from inbox.rules.text.messages import TranslatableMessage

DEFAULT_TIME, LONGEST_TIME = timedelta(hours=2), timedelta(hours=24)
SHORTEST_TIME = timedelta(minutes=1)
DEFAULT_USES, MOST_USES = 20, 100
MAX_ARGUMENTS = 100
MAX_BYTES = 16 * 1024
LARGEST_NUMBER: Final = LARGEST_INTEGER
#: Amounts count in this unit, rounded up; so the sums are exact in every database.
BUDGET_UNIT: Final = Decimal("0.0001")
LARGEST_BUDGET: Final = 10**11 - 1
#: Active grants of an agent, which all of its interrupts have to lock.
MOST_ACTIVE = 100


class Bound(StrEnum):
    SAME = "same"  #: the approved value
    UP_TO = "up_to"  #: a number from 0 to the limit
    ANY = "any"  #: every value, also none


class GrantEnd(StrEnum):
    """The reason that a grant has ended."""

    EXPIRED = "expired"
    USED_UP = "used_up"
    BUDGET = "budget"  #: the budget is spent
    REVOKED = "revoked"
    REJECTED = "rejected"  #: a person rejected a request that the grant covers
    WITHDRAWN = "withdrawn"  #: the maker withdrew the approval that the grant was made with
    MAKER = "maker"  #: the maker may not decide any more
    POLICY = "policy"  #: a newer version of the policy forbids it


class GrantInvalid(InvalidValue):
    """The limits of a grant are above the caps or do not fit the call; `problems` has them."""


@dataclass(frozen=True)
class Limit:
    """The limit on one argument; `value` is the approved value or the largest number."""

    bound: Bound
    value: Any = None


@dataclass(frozen=True)
class Budget:
    """The most that an argument of all uses may add up to."""

    argument: str
    amount: Decimal


@dataclass(frozen=True)
class GrantTerms:
    """
    The calls that a grant covers, and how often.

    `thread` is None for all threads of the agent. Calls with an argument without a limit are not
    covered.
    """

    agent: str
    tool: str
    limits: Mapping[str, Limit]
    thread: str | None = None
    time: timedelta = DEFAULT_TIME
    most_uses: int = DEFAULT_USES
    budget: Budget | None = None

    def to_json(self) -> dict[str, Any]:
        budget = self.budget and {
            "argument": self.budget.argument,
            "amount": str(self.budget.amount),
        }
        return {
            "agent": self.agent,
            "tool": self.tool,
            "limits": {
                name: {"bound": limit.bound.value, "value": limit.value}
                for name, limit in self.limits.items()
            },
            "thread": self.thread,
            "minutes": int(self.time.total_seconds()) // 60,
            "most_uses": self.most_uses,
            "budget": budget,
        }


@dataclass(frozen=True)
class GrantRequest:
    """The grant that a person wants to make; `choices` are those of `limits_for`."""

    choices: Mapping[str, Any]
    is_for_agent: bool = False  #: for all threads of the agent
    minutes: int = int(DEFAULT_TIME.total_seconds()) // 60
    most_uses: int = DEFAULT_USES
    budget: Budget | None = None


def plan_grant(
    request: GrantRequest, *, agent: str, thread: str, tool: str, args: Any
) -> GrantTerms:
    """
    Return the terms of a grant that is made from an approved call with these arguments.

    Raises:
        GrantInvalid: with all problems; the pointers are those of the REST API.
    """
    args = args if isinstance(args, dict) else {}
    limits, problems = _limits(args, request.choices)
    terms = GrantTerms(
        agent=agent,
        tool=tool,
        limits=limits,
        thread=None if request.is_for_agent else thread,
        # Any longer time is above the cap as well, and may not fit into a timedelta.
        time=timedelta(minutes=max(0, min(request.minutes, 10**6))),
        most_uses=request.most_uses,
        budget=request.budget,
    )
    _raise_for(
        [
            *((f"/grant/arguments{place}", message) for place, message in problems),
            *(
                (f"/grant{place}", message)
                for place, message in _term_problems(terms)
                # The limit of this argument has a problem of its own.
                if not (problems and place == "/budget/argument")
            ),
        ]
    )
    return terms


def terms_from_json(stored: Mapping[str, Any]) -> GrantTerms:
    """Return the terms of `GrantTerms.to_json`."""
    budget = stored["budget"]
    return GrantTerms(
        agent=stored["agent"],
        tool=stored["tool"],
        limits={
            name: Limit(Bound(limit["bound"]), limit["value"])
            for name, limit in stored["limits"].items()
        },
        thread=stored["thread"],
        time=timedelta(minutes=stored["minutes"]),
        most_uses=stored["most_uses"],
        budget=Budget(budget["argument"], Decimal(budget["amount"])) if budget else None,
    )


def limits_for(args: Mapping[str, Any], choices: Mapping[str, Any]) -> dict[str, Limit]:
    """
    Return the limits for the arguments of an approved call.

    `choices` has "same", "any", "up_to" (the approved number) or `{"up_to": 100}` by argument;
    arguments without a choice must stay the same.

    Raises:
        GrantInvalid: with all problems.
    """
    limits, problems = _limits(args, choices)
    _raise_for(problems)
    return limits


def _limits(
    args: Mapping[str, Any], choices: Mapping[str, Any]
) -> tuple[dict[str, Limit], list[tuple[str, str]]]:
    problems: list[tuple[str, str]] = [
        (pointer((name,)), TranslatableMessage("The call has no such argument."))
        for name in choices
        if name not in args
    ]
    if len(args) > MAX_ARGUMENTS or not is_small(args):
        problems.append(("", TranslatableMessage("The arguments are too large for a grant.")))
    limits = {}
    for name, value in args.items():
        limit = _limit(value, choices.get(name, Bound.SAME.value))
        if isinstance(limit, str):
            problems.append((pointer((name,)), limit))
        else:
            limits[name] = limit
    return limits, problems


def check_terms(terms: GrantTerms) -> None:
    """
    Raise unless the terms are below the caps; nothing is reduced silently.

    Raises:
        GrantInvalid: with all problems.
    """
    _raise_for(_term_problems(terms))


def _term_problems(terms: GrantTerms) -> list[tuple[str, str]]:
    problems: list[tuple[str, str]] = []
    if not SHORTEST_TIME <= terms.time <= LONGEST_TIME:
        text = TranslatableMessage("A grant lasts from 1 minute to {hours} hours.", hours=24)
        problems.append(("/minutes", text))
    if not 1 <= terms.most_uses <= MOST_USES:
        text = TranslatableMessage("A grant has 1 to {most} uses.", most=MOST_USES)
        problems.append(("/most_uses", text))
    budget = terms.budget
    if budget is not None:
        limit = terms.limits.get(budget.argument)
        if limit is None or limit.bound is Bound.ANY or not _is_amount(limit.value):
            text = TranslatableMessage("A budget needs a number that has a limit.")
            problems.append(("/budget/argument", text))
        if not _is_budget(budget.amount):
            text = TranslatableMessage(
                "The budget must be a positive number with at most {digits} decimals.", digits=4
            )
            problems.append(("/budget/amount", text))
    return problems


class Refusal(StrEnum):
    """The reason that a grant does not approve a call."""

    NOT_COVERED = "not_covered"
    ENDED = "ended"
    EXPIRED = "expired"
    USED_UP = "used_up"
    OVER_BUDGET = "over_budget"


@dataclass(frozen=True)
class GrantState:
    """A grant with what was used of it; read it after locking its row."""

    terms: GrantTerms
    expires_at: datetime
    used: int = 0
    spent: Decimal = Decimal(0)
    has_ended: bool = False

    @property
    def is_exhausted(self) -> bool:
        """True if no further call can be approved for its uses or its budget."""
        budget = self.terms.budget
        return self.used >= self.terms.most_uses or bool(budget and self.spent >= budget.amount)


@dataclass(frozen=True)
class Call:
    """A tool call that a grant may approve."""

    agent: str
    thread: str
    tool: str
    args: Any


def spend(grant: GrantState, call: Call, now: datetime) -> GrantState | Refusal:
    """
    Return the grant after one more use, or the reason that it does not approve the call.

    Read the clock after locking the row: a grant may expire while its lock is awaited.
    """
    if not covers(grant.terms, call):
        return Refusal.NOT_COVERED
    if grant.has_ended:
        return Refusal.ENDED
    if now >= grant.expires_at:
        return Refusal.EXPIRED
    if grant.used >= grant.terms.most_uses:
        return Refusal.USED_UP
    spent = grant.spent
    if grant.terms.budget is not None:
        amount = exact(call.args[grant.terms.budget.argument])
        spent += amount.quantize(BUDGET_UNIT, rounding=ROUND_CEILING)
        if spent > grant.terms.budget.amount:
            return Refusal.OVER_BUDGET
    return replace(grant, used=grant.used + 1, spent=spent)


def covers(terms: GrantTerms, call: Call) -> bool:
    """Return whether a call is within the limits on agent, thread, tool and arguments."""
    if (call.agent, call.tool) != (terms.agent, terms.tool):
        return False
    if terms.thread is not None and call.thread != terms.thread:
        return False
    if not isinstance(call.args, dict) or not call.args.keys() <= terms.limits.keys():
        return False
    return all(_is_within(limit, name, call.args) for name, limit in terms.limits.items())


def _is_within(limit: Limit, name: str, args: Mapping[str, Any]) -> bool:
    if limit.bound is Bound.ANY:
        return True
    if name not in args:
        return False
    if limit.bound is Bound.UP_TO:
        return _is_amount(args[name]) and compare(args[name], limit.value) != 1
    return _is_same(args[name], limit.value)


def _is_same(left: Any, right: Any) -> bool:
    try:
        return canonical_json(left) == canonical_json(right)
    except ValueError:
        return False


def _limit(value: Any, choice: Any) -> Limit | str:
    if choice in (Bound.SAME, Bound.ANY):
        return Limit(Bound(choice), value if choice == Bound.SAME else None)
    if choice == Bound.UP_TO:
        choice = {Bound.UP_TO.value: value}
    if not isinstance(choice, dict) or set(choice) != {Bound.UP_TO.value}:
        return TranslatableMessage("Choose same, up to or any.")
    largest = choice[Bound.UP_TO.value]
    if not _is_amount(value) or not _is_amount(largest):
        return TranslatableMessage("Only a number from 0 up has a largest value.")
    if compare(value, largest) == 1:
        return TranslatableMessage("The largest value is smaller than the approved value.")
    return Limit(Bound.UP_TO, largest)


def _is_amount(value: Any) -> bool:
    """Return True for a number of exact digits from 0 up; NaN and true are none."""
    return type(value) in (int, float) and 0 <= value <= LARGEST_NUMBER


def _is_budget(amount: Decimal) -> bool:
    is_in_range = amount.is_finite() and 0 < amount <= LARGEST_BUDGET
    return is_in_range and amount == amount.quantize(BUDGET_UNIT)


def is_small(args: Any) -> bool:
    """Return whether a grant can hold these arguments."""
    try:
        # A grant is about values that JSON can say: NaN equals nothing.
        json.dumps(args, ensure_ascii=False, allow_nan=False).encode()
        return len(canonical_json(args).encode()) <= MAX_BYTES
    except ValueError:
        return False


def _raise_for(problems: list[tuple[str, str]]) -> None:
    if problems:
        at, text = problems[0]
        raise GrantInvalid(
            f"{at or '/'}: {text}",
            problems=[{"pointer": place, "message": message} for place, message in problems],
        )
