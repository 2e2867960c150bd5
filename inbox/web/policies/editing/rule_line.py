"""The rule of a form as a sentence whose parts are chips, each with a menu of fields."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from django.utils.translation import gettext, gettext_noop, ngettext

from inbox.rules.policies.language.document import MAX_SLOTS
from inbox.rules.policies.language.document_values import TEXT_FACTS
from inbox.rules.policies.language.policy import Each, Effect, OnExpiry, Op, Slot
from inbox.rules.policies.language.sentences import people_text
from inbox.web.base.translate import translate
from inbox.web.policies.editing.rule_form import (
    COMPARISONS,
    SIDES,
    UNITS,
    Row,
    RuleForm,
    tool_names,
)
from inbox.web.policies.editing.rule_place import FACTS, Place

#: Longer lists have a field that filters them.
_FILTERED_FROM = 8
_MOST_LABEL, _MOST_NAMES, _MOST_FACES = 40, 3, 4
_MARKED = re.compile("\x02(.*?)\x03", re.DOTALL)
_STOP: Final = re.compile(r"[.,;:]+")
_EFFECTS: Final = {
    Effect.ALLOW: (
        gettext_noop("run without asking"),
        gettext_noop("The call runs without asking anybody."),
    ),
    Effect.ASK: (gettext_noop("ask people"), gettext_noop("The call waits until people decide.")),
    Effect.DENY: (
        gettext_noop("deny"),
        gettext_noop("The call is refused, and the agent is told so."),
    ),
}
_TYPES: Final = {
    "string": gettext_noop("text"),
    "number": gettext_noop("number"),
    "boolean": gettext_noop("yes or no"),
    "array": gettext_noop("list"),
    "object": gettext_noop("object"),
}
_EACH: Final = {
    "": gettext_noop("the value itself"),
    Each.ANY.value: gettext_noop("any item"),
    Each.EVERY.value: gettext_noop("every item"),
}
_ITEMS: Final = {
    "": "{fact}",
    Each.ANY.value: gettext_noop("any item of {fact}"),
    Each.EVERY.value: gettext_noop("every item of {fact}"),
}
_UNITS: Final = {
    "minutes": gettext_noop("minutes"),
    "hours": gettext_noop("hours"),
    "days": gettext_noop("days"),
}
_EXPIRIES: Final = {
    OnExpiry.CANCEL.value: gettext_noop("cancel the request"),
    OnExpiry.DENY.value: gettext_noop("deny the request"),
}
Option = tuple[str, str, str, bool]  #: value, words, a note, and whether it is chosen
Line = list[dict[str, Any]]


def field(name: str, label: str, value: str = "", *, at: str = "in", **more: Any) -> dict[str, Any]:
    """Return one field for `rule_field.html`; `at` begins its id."""
    return {"id": f"{at}-{name}", "name": name, "label": label, "value": value, **more}


class RuleLine:
    """The chips of a form by id, and the sentences that they are part of."""

    def __init__(self, form: RuleForm, place: Place, problems: Mapping[str, str]) -> None:
        self._form, self._place, self._problems = form, place, problems
        self._tools = tool_names(form)
        self._types = place.types(self._tools)
        self._ranges = place.ranges(self._tools)
        self._chips: dict[str, dict[str, Any]] = {}

    def sentence(self, values: Mapping[str, Sequence[tuple[str, str]]]) -> Line:
        """Return when the rule applies, and what happens; `values` are offered by field."""
        rows = {
            side: [
                self._condition(side, number, row, values.get(f"{side}-{number}-value", ()))
                for number, row in enumerate(self._form.rows[side])
            ]
            for side in SIDES
        }
        is_about_calls = bool(self._tools) or any(
            not row.fact.startswith("/") and not row.is_blank
            for side in SIDES
            for row in self._form.rows[side]
        )
        if rows["when"]:
            text = (
                gettext("When {agent} calls {tool} and {conditions}, {effect}")
                if is_about_calls
                else gettext("When {agent} makes {request} and {conditions}, {effect}")
            )
        else:
            text = (
                gettext("When {agent} calls {tool}, {effect}")
                if is_about_calls
                else gettext("When {agent} makes {request}, {effect}")
            )
        tool = self._tool_chip(is_about_calls=is_about_calls)
        text = text.format(
            agent=self._agent_chip(),
            tool=tool,
            request=tool,
            conditions=_joined(rows["when"]),
            effect=self._effect(),
        )
        if rows["unless"]:
            text = gettext("{text}, unless {exceptions}").format(
                text=text, exceptions=_joined(rows["unless"])
            )
        return self._parts(f"{text}.")

    def deadline(self) -> Line:
        """Return what happens without an answer, for a rule that asks."""
        if self._form.effect != Effect.ASK:
            return []
        form, calendars = self._form, self._place.policy.calendars
        units = [(unit, gettext(_UNITS[unit]), form.unit == unit) for unit in UNITS]
        hours = [("", gettext("all hours"), not form.hours)]
        hours += [(name, name, name == form.hours) for name in calendars]
        time = self._chip(
            "after",
            gettext("{number} {unit}").format(
                number=form.after, unit=gettext(_UNITS.get(form.unit, ""))
            )
            if form.after
            else gettext("deadline"),
            gettext("Expires after"),
            fields=[
                field("after", gettext("Expires after"), form.after, mode="numeric", most=20),
                field("unit", gettext("Unit"), options=units),
                field("hours", gettext("Times count in"), options=hours),
            ],
            is_add=not form.after,
            problem=self._problems.get("after") or self._problems.get("hours", ""),
        )
        then = self._chip(
            "on_expiry",
            gettext(_EXPIRIES.get(form.on_expiry, form.on_expiry)),
            gettext("Then"),
            name="on_expiry",
            options=[
                (value, gettext(words), "", value == form.on_expiry)
                for value, words in _EXPIRIES.items()
            ],
        )
        if not form.after:
            return self._parts(time)
        return self._parts(
            gettext("Without an answer in {time}, {then}.").format(time=time, then=then)
        )

    def _parts(self, text: str) -> Line:
        line: Line = []
        for number, part in enumerate(_MARKED.split(text)):
            if number % 2:
                line.append(self._chips[part])
            elif line and (stop := _STOP.match(part)):
                # The template has a space after each chip.
                line[-1]["stop"] = stop[0]
                line.append({"text": part[stop.end() :]})
            else:
                line.append({"text": part})
        return [part for part in line if part.get("text") != ""]

    def _chip(self, at: str, label: str, title: str, **menu: Any) -> str:
        """Add a chip with its menu, and return its mark in the sentence."""
        options = menu.get("options", ())
        self._chips[at] = {
            "id": at,
            "label": label if len(label) <= _MOST_LABEL else f"{label[:_MOST_LABEL]}\u2026",
            "title": title,
            "problem": self._problems.get(at, ""),
            "stop": "",
            "kind": "radio",
            "is_filtered": len(options) >= _FILTERED_FROM,
            **menu,
        }
        return f"\x02{at}\x03"

    def _agent_chip(self) -> str:
        chosen = self._form.agents
        names = [*self._place.agents, *(name for name in chosen if name not in self._place.agents)]
        return self._chip(
            "agents",
            _alternatives(chosen) or gettext("any agent"),
            gettext("Agents"),
            name="agents",
            kind="checkbox",
            options=[(name, name, "", name in chosen) for name in names],
            help=gettext("Without any agent, the rule is about every agent."),
        )

    def _tool_chip(self, *, is_about_calls: bool) -> str:
        tools = sorted(self._place.tools, key=lambda tool: (-tool.calls, tool.name))
        boxes = {tool.name for tool in tools}
        others = ", ".join(name for name in self._tools if name not in boxes)
        return self._chip(
            "other_tools",
            _alternatives(self._tools)
            or (gettext("any tool") if is_about_calls else gettext("any request")),
            gettext("Tools"),
            name="tools",
            kind="checkbox",
            is_code=bool(self._tools),
            options=[
                (tool.name, tool.name, _uses(tool), tool.name in self._tools) for tool in tools
            ],
            fields=[field("other_tools", gettext("Other tools"), others, is_code=True, most=2000)],
            help=gettext(
                "Names with commas between them. Without any tool, the rule is about every tool."
            ),
        )

    def _effect(self) -> str:
        """Return the chips for what happens, and for the people who are asked."""
        form = self._form
        menu = {
            "name": "effect",
            "options": [
                (value.value, gettext(words), gettext(note), form.effect == value)
                for value, (words, note) in _EFFECTS.items()
            ],
        }
        title = gettext("What happens")
        if form.effect != Effect.ASK:
            words = {value.value: words for value, (words, _) in _EFFECTS.items()}
            label = gettext(words.get(form.effect, form.effect))
            return self._chip("effect", label, title, **menu)
        people = self._people_chip()
        before, _, after = gettext("ask {people}").partition("{people}")
        effect = self._chip("effect", (before.strip() or after.strip()), title, **menu)
        return f"{effect} {people}" if before.strip() else f"{people} {effect}"

    def _people_chip(self) -> str:
        words = {"role:reviewer": gettext("reviewers"), "role:admin": gettext("administrators")}
        numbers = {key: text for key, text in self._form.people.items() if text not in ("", "0")}
        keys = dict.fromkeys([*self._place.people, *numbers])
        slots: list[Slot] = []
        for key, text in numbers.items():
            kind, _, name = key.partition(":")
            number = int(text) if text.isascii() and text.isdecimal() else 1
            slots += [Slot(kind, name)] * min(number, MAX_SLOTS)
        fields = []
        for key in keys:
            name = gettext("of the group {name}").format(name=key.partition(":")[2])
            users = self._place.people.get(key, ())
            fields.append(
                field(
                    f"people-{key}",
                    words.get(key) or name,
                    self._form.people.get(key, ""),
                    mode="numeric",
                    most=2,
                    faces=users[:_MOST_FACES],
                    note=ngettext("{number} person", "{number} people", len(users)).format(
                        number=len(users)
                    ),
                    problem=self._problems.get(f"people-{key}", ""),
                )
            )
        problems = [item["problem"] for item in fields if item["problem"]]
        return self._chip(
            "people",
            people_text(slots or [Slot("role", "reviewer")], translate),
            gettext("People"),
            fields=fields,
            help=gettext(
                "How many people have to approve. Nobody fills two places. Without a number, one "
                "reviewer decides."
            ),
            problem=self._problems.get("people") or " ".join(problems),
        )

    def _condition(
        self, side: str, number: int, row: Row, values: Sequence[tuple[str, str]]
    ) -> str:
        at = f"{side}-{number}"
        if row.text:
            title = gettext("Condition {number} as JSON").format(number=number + 1)
            return self._chip(
                f"{at}-text",
                row.text,
                title,
                fields=[field(f"{at}-text", title, row.text, rows=5)],
                is_code=True,
                remove=at,
            )
        kind = self._types.get(row.fact, "string" if row.fact in TEXT_FACTS else "")
        comparisons = [
            (name, item)
            for name, item in COMPARISONS.items()
            if not kind or kind == "array" or kind in item.types or name == row.comparison
        ]
        chosen = row.comparison or comparisons[0][0]
        words = COMPARISONS[chosen].words if chosen in COMPARISONS else chosen
        chips = [
            self._fact_chip(at, row, kind),
            self._chip(
                f"{at}-comparison",
                words,
                gettext("Comparison"),
                name=f"{at}-comparison",
                options=[(name, item.words, "", name == chosen) for name, item in comparisons],
            ),
        ]
        if chosen not in COMPARISONS or COMPARISONS[chosen].op is not Op.PRESENT:
            chips.append(self._value_chip(at, row, kind, values))
        return " ".join(chips)

    def _fact_chip(self, at: str, row: Row, kind: str) -> str:
        options = [
            (fact, fact, self._note(fact, type_), fact == row.fact)
            for fact, type_ in self._types.items()
            if fact not in FACTS
        ]
        options += [
            (fact, gettext(words), "", fact == row.fact) for fact, (_, words) in FACTS.items()
        ]
        is_listed = row.fact in self._types
        fields = [
            field(
                f"{at}-fact",
                gettext("Another argument"),
                "" if is_listed else row.fact,
                is_code=True,
                most=500,
            )
        ]
        if kind == "array" or row.each or (not kind and row.fact):
            items = [(name, gettext(text), name == row.each) for name, text in _EACH.items()]
            fields.append(field(f"{at}-each", gettext("Of a list"), options=items))
        name = gettext(FACTS[row.fact][1]) if row.fact in FACTS else row.fact
        label = gettext(_ITEMS.get(row.each, "{fact}")).format(fact=name or gettext("argument"))
        problem = self._problems.get(f"{at}-fact", "")
        return self._chip(
            f"{at}-fact",
            label,
            gettext("Argument"),
            name=f"{at}-fact-choice",
            options=options,
            fields=fields,
            is_code=is_listed and row.fact not in FACTS and not row.each,
            problem=problem,
            remove=at,
        )

    def _note(self, fact: str, kind: str) -> str:
        """Return the type of an argument, and the range of its numbers."""
        words = gettext(_TYPES[kind]) if kind in _TYPES else ""
        if fact not in self._ranges:
            return words
        low, high = self._ranges[fact]
        if low == high:
            return f"{words} {low:g}"
        return gettext("{type} from {low} to {high}").format(
            type=words, low=f"{low:g}", high=f"{high:g}"
        )

    def _value_chip(self, at: str, row: Row, kind: str, values: Sequence[tuple[str, str]]) -> str:
        place = self._place
        names = {
            "/environment": place.environments,
            "/agent": place.agents,
            "/tool": [tool.name for tool in place.tools],
            "/local_time": list(place.policy.calendars),
            "/requester/groups": place.groups,
        }.get(row.fact, ["true", "false"] if kind == "boolean" else [])
        low, _, high = row.value.partition(",")
        label = row.value or "\u2026"
        if row.comparison.endswith("between") and high:
            label = gettext("{low} and {high}").format(low=low.strip(), high=high.strip())
        return self._chip(
            f"{at}-value",
            label,
            gettext("Value"),
            fields=[field(f"{at}-value", gettext("Value"), row.value, most=8000)],
            choices=[*values, *((name, "") for name in names)],
            help=gettext(
                "Several values have commas between them; a text that looks like a number needs "
                "quotes."
            ),
        )


def _joined(texts: Sequence[str]) -> str:
    if len(texts) < 2:
        return "".join(texts)
    return gettext("{texts} and {last}").format(texts=", ".join(texts[:-1]), last=texts[-1])


def _alternatives(names: Sequence[str]) -> str:
    """Return names with "or" between them, "" without any."""
    if len(names) > _MOST_NAMES:
        return ", ".join([*names[:_MOST_NAMES], "\u2026"])
    if len(names) < 2:
        return "".join(names)
    return gettext("{texts} or {last}").format(texts=", ".join(names[:-1]), last=names[-1])


def _uses(tool: Any) -> str:
    words = [ngettext("{number} call", "{number} calls", tool.calls).format(number=tool.calls)]
    return ", ".join([*words, *([gettext("reads only")] if tool.only_reads else [])])
