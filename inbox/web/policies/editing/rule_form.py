"""The fields of the form for one rule, and the rule in JSON that they stand for."""

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Final

from django.http import QueryDict

from agents.agui import strict_json
from inbox.rules.policies.language.document import MAX_SLOTS
from inbox.rules.policies.language.document_values import TEXT_FACTS
from inbox.rules.policies.language.policy import (
    COMMON_WAYS,
    MAX_CONDITIONS,
    Condition,
    Each,
    Effect,
    Mode,
    OnExpiry,
    Op,
    Requirement,
    Rule,
    format_duration,
)
from inbox.rules.policies.operators import OPERATORS
from inbox.rules.text.messages import TranslatableMessage
from inbox.web.base.translate import translate

SIDES: Final = ("when", "unless")
UNITS: Final = {"minutes": 1, "hours": 60, "days": 24 * 60}
_SPARE = 3  #: rows beyond the limit that are read, so that its error can be shown


@dataclass(frozen=True)
class Comparison:
    """A choice of the form: an operator, perhaps negated."""

    op: Op
    negated: bool

    @property
    def types(self) -> Collection[str]:
        """The JSON types that it fits."""
        return OPERATORS[self.op].types

    @property
    def words(self) -> str:
        """Its words in the reader's language, without the fact and the operand."""
        return " ".join(translate(OPERATORS[self.op].words[self.negated]).replace(":", "").split())


#: The comparisons by the name in the form; "is not at most" is "is above", and a schema is JSON.
COMPARISONS: Final[Mapping[str, Comparison]] = {
    f"not-{op}" if negated else op.value: Comparison(op, negated)
    for op in OPERATORS
    for negated in (False, True)
    if op is not Op.SCHEMA and not (negated and op in (Op.LT, Op.LTE, Op.GT, Op.GTE))
}
_NAMES: Final = {(item.op, item.negated): name for name, item in COMPARISONS.items()}
_NUMERIC: Final = {Op.LT, Op.LTE, Op.GT, Op.GTE, Op.LONGEST}
_LISTS: Final = {Op.BETWEEN, Op.IS_ONE_OF, Op.DOMAIN_IS}
_NUMBER: Final = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?", re.ASCII)


@dataclass(frozen=True)
class Row:
    """One condition in the form; `text` is the JSON of one that the fields cannot show."""

    fact: str = ""
    comparison: str = ""
    each: str = ""
    value: str = ""
    text: str = ""

    @property
    def is_blank(self) -> bool:
        return not (self.fact or self.value or self.text)


USUAL_WAYS: Final = tuple(way.value for way in COMMON_WAYS)


@dataclass(frozen=True)
class RuleForm:
    """The fields as they are displayed or posted."""

    name: str = ""
    effect: str = Effect.ASK.value
    mode: str = Mode.ENFORCE.value
    tools: Sequence[str] = ()
    other_tools: str = ""
    agents: Sequence[str] = ()
    rows: Mapping[str, Sequence[Row]] = field(default_factory=lambda: {"when": (), "unless": ()})
    people: Mapping[str, str] = field(default_factory=dict)  #: the number by `Slot.key`
    self_approval: str = ""
    fresh: str = ""
    keys: bool = True
    grantable: bool = True
    urgent: bool = False
    via: Sequence[str] = USUAL_WAYS
    lists_ways: bool = False  #: the stored rule lists its ways
    after: str = ""
    unit: str = "hours"
    on_expiry: str = OnExpiry.CANCEL.value
    hours: str = ""
    steps: str = ""  #: JSON of `remind` and `escalate`


@dataclass
class RuleJson:
    """The rule of a form, the field of each pointer into it, and texts that are no JSON."""

    rule: dict[str, Any]
    fields: dict[str, str]
    problems: dict[str, str] = field(default_factory=dict)  #: the error by field

    def field_of(self, pointer: str) -> str:
        """Return the field of the longest prefix of a pointer, "" if there is none."""
        while pointer and pointer not in self.fields:
            pointer = pointer.rpartition("/")[0]
        return self.fields.get(pointer, "")


# -- the form of a rule


def form_of(rule: Rule, types: Mapping[str, str]) -> RuleForm:
    """Return the form of a rule; `types` are as of `rule_json`."""
    # Tools and agents are written first; the order of conditions decides nothing.
    named = {path: next(_named(rule, path), None) for path in ("/tool", "/agent")}
    others = [item for item in rule.when if all(item is not first for first in named.values())]
    sides = {"when": others, "unless": rule.unless}
    return RuleForm(
        name=rule.name,
        effect=rule.effect.value,
        mode=rule.mode.value,
        tools=tools_of(rule),
        agents=_names_of(named["/agent"]),
        rows={side: [_row_of(item, types) for item in items] for side, items in sides.items()},
        **_requirement_fields(rule.require or Requirement()),
    )


def tools_of(rule: Rule) -> Sequence[str]:
    """Return the tools that a condition of the rule lists, none without such a condition."""
    return _names_of(next(_named(rule, "/tool"), None))


def _named(rule: Rule, path: str) -> Iterator[Condition]:
    """Yield the conditions that a list of names stands for."""
    return (item for item in rule.when if item.path == path and _names_of(item))


def _names_of(condition: Condition | None) -> Sequence[str]:
    """Return the names that a condition lists, none if the form would save it in another way."""
    if condition is None or condition.negated or condition.each:
        return ()
    if condition.op is Op.IS:
        values: tuple[Any, ...] = (condition.value,)
    else:
        # One name in a list, or a name twice, would be saved in another way.
        values = condition.value if condition.op is Op.IS_ONE_OF else ()
        values = values if len(set(values)) == len(values) > 1 else ()
    return values if all(isinstance(value, str) and value.strip() for value in values) else ()


def _row_of(condition: Condition, types: Mapping[str, str]) -> Row:
    negated = condition.negated
    each = condition.each.value if condition.each else ""
    if each and negated:  # "any item is not" is "not every item is"
        each = (Each.EVERY if condition.each is Each.ANY else Each.ANY).value
    fact = condition.path.removeprefix("/args/")
    name = _NAMES.get((condition.op, negated))
    row = Row(fact, name or "", each, value_text(condition.op, condition.value))
    # What would not be read back the same is edited as JSON.
    if name is None or _condition_json(row, types.get(fact, "")) != condition.to_json():
        return Row(text=json.dumps(condition.to_json(), ensure_ascii=False))
    return row


def _requirement_fields(requirement: Requirement) -> dict[str, Any]:
    people: dict[str, str] = {}
    for slot in requirement.slots:
        people[slot.key] = str(int(people.get(slot.key, 0)) + 1)
    after, unit = _duration_fields(requirement.expires_after)
    stored = requirement.to_json()
    steps = {name: stored[name] for name in ("remind", "escalate") if name in stored}
    return {
        "people": people,
        "self_approval": {None: "", True: "yes", False: "no"}[requirement.self_approval],
        "fresh": str(requirement.fresh_sign_in_minutes or ""),
        "keys": requirement.keys,
        "grantable": requirement.grantable,
        "urgent": requirement.urgent,
        "via": USUAL_WAYS if requirement.via is None else [way.value for way in requirement.via],
        "lists_ways": requirement.via is not None,
        "after": after,
        "unit": unit,
        "on_expiry": requirement.on_expiry.value,
        "hours": requirement.hours or "",
        "steps": json.dumps(steps) if steps else "",
    }


def _duration_fields(duration: timedelta | None) -> tuple[str, str]:
    if duration is None:
        return "", "hours"
    minutes = int(duration.total_seconds()) // 60
    unit = next(name for name in reversed(UNITS) if minutes % UNITS[name] == 0)
    return str(minutes // UNITS[unit]), unit


# -- the form that was posted


def read_form(post: QueryDict) -> RuleForm:
    def text(name: str) -> str:
        return post.get(name, "").strip()

    slots = [key for key in post if key.startswith("people-")]
    return RuleForm(
        name=" ".join(text("name").split()),
        effect=text("effect"),
        mode=text("mode"),
        tools=post.getlist("tools"),
        other_tools=text("other_tools"),
        agents=post.getlist("agents"),
        rows={side: _read_rows(post, side) for side in SIDES},
        people={key.removeprefix("people-"): post.get(key, "").strip() for key in slots},
        keys="keys" in post,
        grantable="grantable" in post,
        urgent="urgent" in post,
        via=post.getlist("via"),
        lists_ways="lists_ways" in post,
        self_approval=text("self_approval"),
        fresh=text("fresh"),
        after=text("after"),
        unit=text("unit"),
        on_expiry=text("on_expiry"),
        hours=text("hours"),
        steps=text("steps"),
    )


def _read_rows(post: QueryDict, side: str) -> list[Row]:
    def text(name: str) -> str:
        return post.get(name, "").strip()

    rows = [
        Row(
            # The list of arguments has a field for others beside it.
            fact=text(f"{side}-{number}-fact") or text(f"{side}-{number}-fact-choice"),
            comparison=post.get(f"{side}-{number}-comparison", ""),
            each=post.get(f"{side}-{number}-each", ""),
            value=text(f"{side}-{number}-value"),
            text=text(f"{side}-{number}-text"),
        )
        for number in range(MAX_CONDITIONS + _SPARE)
        if f"{side}-{number}-fact" in post or f"{side}-{number}-text" in post
    ]
    removed = post.get("remove", "")
    return [row for number, row in enumerate(rows) if removed != f"{side}-{number}"]


def rule_json(form: RuleForm, rule_id: str, types: Mapping[str, str]) -> RuleJson:
    """Return the rule of a form; `types` are the JSON types of arguments by their pointer."""
    rule: dict[str, Any] = {"id": rule_id, "effect": form.effect, "mode": form.mode}
    fields = {"/id": "name", "/name": "name", "/effect": "effect", "/mode": "mode"}
    json_of = RuleJson(rule, fields)
    if form.name:
        rule["name"] = form.name
    for side in SIDES:
        conditions: list[Any] = []
        named = (("/tool", tool_names(form), "other_tools"), ("/agent", form.agents, "agents"))
        for path, names, field_name in named if side == "when" else ():
            if names:
                op, value = (Op.IS, names[0]) if len(names) == 1 else (Op.IS_ONE_OF, [*names])
                fields[f"/when/{len(conditions)}"] = field_name
                conditions.append({"path": path, "op": op.value, "value": value})
        for number, row in enumerate(form.rows[side]):
            if not row.is_blank:
                at = f"{side}-{number}"
                fields[f"/{side}/{len(conditions)}"] = f"{at}-{'text' if row.text else 'value'}"
                fields[f"/{side}/{len(conditions)}/path"] = f"{at}-{'text' if row.text else 'fact'}"
                conditions.append(_row_json(row, at, types, json_of))
        if conditions:
            rule[side] = conditions
        fields[f"/{side}"] = f"add-{side}"
    if form.effect == Effect.ASK and (requirement := _requirement_json(form, json_of)):
        rule["require"] = requirement
    return json_of


def tool_names(form: RuleForm) -> list[str]:
    """Return the tools that the form names, each once."""
    return list(dict.fromkeys([*form.tools, *map(str, _items(form.other_tools, "string"))]))


def _row_json(row: Row, at: str, types: Mapping[str, str], json_of: RuleJson) -> Any:
    if not row.text:
        return _condition_json(row, types.get(row.fact, ""))
    return _loads(row.text, f"{at}-text", json_of)


def _loads(text: str, name: str, json_of: RuleJson) -> Any:
    try:
        return strict_json.loads(text)
    except (ValueError, RecursionError) as error:
        json_of.problems[name] = TranslatableMessage(
            "This is not valid JSON: {error}.", error=str(error)[:200]
        )
        return None


def _condition_json(row: Row, kind: str) -> dict[str, Any]:
    path = row.fact if row.fact.startswith("/") else f"/args/{row.fact}"
    comparison = COMPARISONS.get(row.comparison)
    if comparison is None:
        return {"path": path, "op": row.comparison}
    members: dict[str, Any] = {"path": path, "op": comparison.op.value}
    if comparison.op is not Op.PRESENT:
        is_text = path in TEXT_FACTS
        members["value"] = parse_value(comparison.op, row.value, "string" if is_text else kind)
    if row.each and comparison.negated:
        members["each"] = (Each.EVERY if row.each == Each.ANY else Each.ANY).value
    elif row.each:
        members["each"] = row.each
    if comparison.negated:
        members["not"] = True
    return members


def _requirement_json(form: RuleForm, json_of: RuleJson) -> dict[str, Any]:
    names = {"self_approval", "keys", "grantable", "via", "on_expiry", "hours"}
    json_of.fields |= {f"/require/{name}": name for name in names}
    json_of.fields |= {
        "/require/expires_after": "after",
        "/require/fresh_sign_in_minutes": "fresh",
        "/require/slots": "people",
        "/require": "steps",
    }
    members: dict[str, Any] = {
        "slots": _slots_json(form, json_of),
        "self_approval": {"yes": True, "no": False}.get(form.self_approval),
        "fresh_sign_in_minutes": _scalar(form.fresh, "number") if form.fresh else None,
        "keys": None if form.keys else False,
        "grantable": None if form.grantable else False,
        "urgent": form.urgent or None,
        "expires_after": _duration_text(form) if form.after else None,
        "on_expiry": None if form.on_expiry in ("", OnExpiry.CANCEL) else form.on_expiry,
        "hours": form.hours or None,
    }
    members = {name: value for name, value in members.items() if value not in (None, [])}
    # A list of the usual ways is kept: it forbids those that other rules name beside them.
    if form.lists_ways or set(form.via) != set(USUAL_WAYS):
        members["via"] = list(form.via)
    if form.steps:
        steps = _loads(form.steps, "steps", json_of)
        members |= steps if isinstance(steps, dict) else {"remind": steps}
    return members


def _slots_json(form: RuleForm, json_of: RuleJson) -> list[dict[str, str]]:
    slots: list[dict[str, str]] = []
    for key, text in form.people.items():
        kind, _, name = key.partition(":")
        if text and not (text.isascii() and text.isdecimal() and int(text) <= MAX_SLOTS):
            json_of.problems[f"people-{key}"] = TranslatableMessage(
                "This must be a whole number from {least} to {most}.", least=0, most=MAX_SLOTS
            )
            continue
        for _ in range(int(text or 0)):
            json_of.fields[f"/require/slots/{len(slots)}"] = f"people-{key}"
            slots.append({kind: name})
    return slots


def _duration_text(form: RuleForm) -> str:
    if not (form.after.isascii() and form.after.isdecimal() and len(form.after) < 7):
        return form.after
    return format_duration(timedelta(minutes=int(form.after) * UNITS.get(form.unit, 1)))


# -- values


def parse_value(op: Op, text: str, kind: str) -> Any:
    """Return the value of a comparison; `kind` is the JSON type of the fact, "" if unknown."""
    if op in _LISTS:
        values = _items(text, {Op.BETWEEN: "number", Op.DOMAIN_IS: "string"}.get(op, kind))
        return values[0] if op is Op.DOMAIN_IS and len(values) == 1 else values
    if op is Op.IS:
        return _scalar(text, kind)
    return _scalar(text, "number" if op in _NUMERIC else "string")


def value_text(op: Op, value: Any) -> str:
    """Return the text that `parse_value` reads as this value, whatever the type of the fact."""
    if op in (Op.PRESENT, Op.SCHEMA):
        return ""
    if isinstance(value, tuple):
        return ", ".join(_item_text(item) for item in value)
    if isinstance(value, str):
        is_plain = _scalar(value, "" if op is Op.IS else "string") == value
        is_plain = is_plain and not (op is Op.DOMAIN_IS and "," in value)
        return value if is_plain else json.dumps(value, ensure_ascii=False)
    return json.dumps(value)


def _item_text(value: Any) -> str:
    if isinstance(value, str) and "," not in value and _scalar(value, "") == value:
        return value
    return json.dumps(value, ensure_ascii=False)


def _items(text: str, kind: str) -> list[Any]:
    """Return the values between commas; a comma inside of quotes separates nothing."""
    items = [""]
    is_quoted = is_escaped = False
    for character in text:
        if character == "," and not is_quoted:
            items.append("")
            continue
        if character == '"' and not is_escaped and (is_quoted or not items[-1].strip()):
            is_quoted = not is_quoted
        is_escaped = is_quoted and character == "\\" and not is_escaped
        items[-1] += character
    return [_scalar(item, kind) for item in items if item.strip()]


def _scalar(text: str, kind: str) -> Any:
    """Return the value of a text: quoted it is a text, otherwise what the type says."""
    text = text.strip()
    if len(text) > 1 and text.startswith('"') and text.endswith('"'):
        try:
            return strict_json.loads(text)
        except ValueError:
            return text
    if kind == "string":
        return text
    if text in ("true", "false"):
        return text == "true"
    return strict_json.loads(text) if _NUMBER.fullmatch(text) else text
