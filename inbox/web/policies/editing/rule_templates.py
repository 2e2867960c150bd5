"""Rules to begin with, whose tool and argument come from the team's own tools."""

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from django.utils.translation import gettext, gettext_noop

from inbox.queries.policies.tools import TeamTool
from inbox.rules.policies.language.policy import Effect, OnExpiry, Via
from inbox.web.policies.editing.rule_form import Row, RuleForm

#: Names of arguments that are amounts, the likeliest first.
_AMOUNTS: Final = ("amount", "total", "price", "cost", "sum")


def _small_amounts(tools: Sequence[TeamTool], _calendars: Sequence[str]) -> RuleForm:
    numbers = [
        (tool.name, argument)
        for tool in tools
        if not tool.only_reads
        for argument, kind in tool.arguments.items()
        if kind == "number"
    ]
    numbers.sort(key=lambda item: _AMOUNTS.index(item[1]) if item[1] in _AMOUNTS else 9)
    name, argument = numbers[0] if numbers else ("", "amount")
    return RuleForm(
        name=gettext("Small amounts"),
        effect=Effect.ALLOW.value,
        tools=[name] if name else [],
        rows={"when": [Row(argument, "between", "", "0, 50")], "unless": []},
    )


def _production(_tools: Sequence[TeamTool], _calendars: Sequence[str]) -> RuleForm:
    return RuleForm(
        name=gettext("Production"),
        rows={"when": [Row("/environment", "is", "", "production")], "unless": []},
        people={"role:reviewer": "2"},
        self_approval="no",
    )


def _night(_tools: Sequence[TeamTool], calendars: Sequence[str]) -> RuleForm:
    hours = calendars[0] if calendars else ""
    return RuleForm(
        name=gettext("Never at night"),
        effect=Effect.DENY.value,
        rows={"when": [Row("/local_time", "not-in_hours", "", hours)], "unless": []},
    )


def _read_only(tools: Sequence[TeamTool], _calendars: Sequence[str]) -> RuleForm:
    return RuleForm(
        name=gettext("Tools that only read"),
        effect=Effect.ALLOW.value,
        tools=[tool.name for tool in tools if tool.only_reads],
    )


def _four_eyes(_tools: Sequence[TeamTool], _calendars: Sequence[str]) -> RuleForm:
    return RuleForm(name=gettext("Four eyes"), self_approval="no", keys=False)


#: Programs that read their commands from whoever types into them, unless they have arguments.
_COMMAND_READERS: Final = "sh, bash, zsh, python, python3, node, psql, mysql, ssh, pwsh, powershell"


def _command_readers(_tools: Sequence[TeamTool], _calendars: Sequence[str]) -> RuleForm:
    return RuleForm(
        name=gettext("Reads further commands, which nobody approves"),
        rows={"when": [Row("command", "is_one_of", "", _COMMAND_READERS)], "unless": []},
        grantable=False,
        urgent=True,
    )


def _deadline(_tools: Sequence[TeamTool], _calendars: Sequence[str]) -> RuleForm:
    return RuleForm(
        name=gettext("Within four hours"),
        via=[Via.WEB.value],
        after="4",
        on_expiry=OnExpiry.DENY.value,
    )


Fill = Callable[[Sequence[TeamTool], Sequence[str]], RuleForm]
#: The title and the filled form by the name in the address.
TEMPLATES: Final[Mapping[str, tuple[str, Fill]]] = {
    "small-amounts": (gettext_noop("Approve small amounts"), _small_amounts),
    "production": (gettext_noop("Two people for production"), _production),
    "night": (gettext_noop("Never at night"), _night),
    "read-only": (gettext_noop("Read-only tools run"), _read_only),
    "four-eyes": (gettext_noop("Not the requester"), _four_eyes),
    "command-readers": (gettext_noop("Programs that read commands"), _command_readers),
    "deadline": (gettext_noop("Deny after four hours"), _deadline),
}
