"""The part of the decision form that allows further calls of the tool."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from typing import Any, Final

from django.http import QueryDict
from django.utils.translation import gettext

from inbox.forms.form_nodes import Problem
from inbox.rules.policies.grants import (
    DEFAULT_USES,
    MAX_ARGUMENTS,
    Bound,
    Budget,
    GrantRequest,
    is_small,
)
from inbox.rules.schema.secrets import pointer
from inbox.rules.text.safe_text import escape_invisible, json_beginning, json_text
from inbox.web.decisions.decision_form import APPROVE_AND_ALLOW
from inbox.web.decisions.submitted_answer import InvalidAnswer

_DEFAULT_MINUTES: Final = 120
_MINUTES: Final = (30, _DEFAULT_MINUTES, 480, 1440)
_MAX_VALUE_CHARACTERS: Final = 80
_NUMBER: Final = re.compile(r"-?[0-9]{1,24}(\.[0-9]{1,24})?")


@dataclass(frozen=True)
class ArgumentLimit:
    """An argument of the call, with the limit on it in further calls."""

    id: str
    name: str
    value: str  #: the approved value, masked and cut
    is_number: bool
    bound: str
    most: str  #: the largest number, as typed


@dataclass(frozen=True)
class GrantForm:
    """The fields, filled with the posted values; arguments are known by their position."""

    args: Mapping[str, Any]
    masked: Mapping[str, Any]  #: the same with secrets masked
    data: QueryDict | None = None

    @property
    def is_open(self) -> bool:
        return self.data is not None and self.data.get("action") == APPROVE_AND_ALLOW

    @cached_property
    def limits(self) -> list[ArgumentLimit]:
        return [
            ArgumentLimit(
                id=f"grant-{number}",
                name=escape_invisible(name),
                value=short_json(self.masked[name]),
                is_number=_is_number(value),
                bound=self._text(f"grant-{number}-bound") or Bound.SAME,
                most=self._text(
                    f"grant-{number}-most", json_text(value) if _is_number(value) else ""
                ),
            )
            for number, (name, value) in enumerate(self.args.items())
        ]

    @property
    def numbers(self) -> list[ArgumentLimit]:
        """The arguments that can have a budget."""
        return [limit for limit in self.limits if limit.is_number]

    @property
    def budget_argument(self) -> str:
        return self._text("grant-budget-argument")

    @property
    def budget(self) -> str:
        return self._text("grant-budget")

    @property
    def is_for_agent(self) -> bool:
        return self._text("grant-scope") == "agent"

    @property
    def uses(self) -> str:
        return self._text("grant-uses", str(DEFAULT_USES))

    @property
    def times(self) -> list[tuple[int, str, bool]]:
        """The minutes, text and choice of each time that a grant may last."""
        chosen = self._text("grant-minutes", str(_DEFAULT_MINUTES))
        texts = {
            30: gettext("30 minutes"),
            _DEFAULT_MINUTES: gettext("2 hours"),
            480: gettext("8 hours"),
            1440: gettext("24 hours"),
        }
        return [(minutes, texts[minutes], str(minutes) == chosen) for minutes in _MINUTES]

    def read(self) -> GrantRequest:
        """
        Return the grant that was asked for.

        Raises:
            InvalidAnswer: a field cannot be read.
        """
        problems: list[Problem] = []
        choices: dict[str, Any] = {}
        for limit, name in zip(self.limits, self.args, strict=True):
            if limit.bound == Bound.UP_TO:
                number = _number(limit.most)
                if number is None:
                    problems.append(_not_a_number(f"f-{limit.id}-most", limit.name))
                choices[name] = {Bound.UP_TO.value: number}
            elif limit.bound == Bound.ANY:
                choices[name] = Bound.ANY.value
        budget = self._read_budget(problems)
        uses = _number(self.uses)
        if not isinstance(uses, int):
            problems.append(_not_a_number("f-grant-uses", gettext("Calls at most")))
        if problems:
            raise InvalidAnswer(problems)
        minutes = _number(self._text("grant-minutes", str(_DEFAULT_MINUTES)))
        return GrantRequest(
            choices=choices,
            is_for_agent=self.is_for_agent,
            minutes=minutes if isinstance(minutes, int) else 0,  # which is refused
            most_uses=uses if isinstance(uses, int) else 0,
            budget=budget,
        )

    def problem_place(self, at: str) -> tuple[str, str]:
        """Return the id and label of the field for a pointer of the REST API."""
        if at.startswith("/grant/budget"):
            return "f-grant-budget", gettext("Sum at most")
        if at == "/grant/most_uses":
            return "f-grant-uses", gettext("Calls at most")
        for number, name in enumerate(self.args):
            if at == f"/grant/arguments{pointer((name,))}":
                return f"f-grant-{number}-bound", escape_invisible(name)
        return "grant", gettext("Further calls")

    def _read_budget(self, problems: list[Problem]) -> Budget | None:
        if not self.budget:
            return None
        arguments = dict(zip((limit.id for limit in self.limits), self.args, strict=True))
        name = arguments.get(self.budget_argument)
        amount = Decimal(self.budget) if _NUMBER.fullmatch(self.budget) else None
        if amount is None or name is None:
            problems.append(_not_a_number("f-grant-budget", gettext("Sum at most")))
            return None
        return Budget(name, amount)

    def _text(self, name: str, default: str = "") -> str:
        return default if self.data is None else self.data.get(name, default).strip()


def may_have_grant_form(args: object) -> bool:
    return isinstance(args, dict) and len(args) <= MAX_ARGUMENTS and is_small(args)


def grant_problems(
    form: GrantForm, problems: Sequence[Mapping[str, Any]], translate: Any
) -> list[tuple[str, str, str]]:
    """Return the field id, label and message of each problem of a refused grant."""
    return [
        (*form.problem_place(problem["pointer"]), translate(problem["message"]))
        for problem in problems
    ]


def _not_a_number(field_id: str, label: str) -> Problem:
    return Problem(field_id, "", label, gettext("Enter a number."))


def _number(text: str) -> int | float | None:
    if not _NUMBER.fullmatch(text):
        return None
    return int(text) if text.isdecimal() and len(text) < 17 else float(text)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and value >= 0


def short_json(value: Any) -> str:
    """Return a value as JSON on one line, cut."""
    line = " ".join(json_beginning(value, _MAX_VALUE_CHARACTERS).split())
    return line if len(line) <= _MAX_VALUE_CHARACTERS else f"{line[:_MAX_VALUE_CHARACTERS]}…"
