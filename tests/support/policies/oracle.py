"""The semantics of policies once more: slow, plain, and without the code under test."""

import re
from collections import Counter
from datetime import datetime, timedelta
from fractions import Fraction
from typing import Any

YES, NO, UNKNOWN = "yes", "no", "unknown"
Unknown = type("Unknown", (Exception,), {})


def is_number(value: Any) -> bool:
    return type(value) is int or type(value) is float


def number(value: Any) -> Fraction:
    if not is_number(value):
        raise Unknown
    return Fraction(str(value))


def text(value: Any) -> str:
    if type(value) is not str:
        raise Unknown
    return value


def kind(value: Any) -> str:
    return "number" if is_number(value) else type(value).__name__


def look_up(facts: dict[str, Any], path: str) -> Any:
    value: Any = facts
    parts = [part.replace("~1", "/").replace("~0", "~") for part in path.split("/")[1:]]
    for part in parts:
        if type(value) is dict and part in value:
            value = value[part]
        elif type(value) is list and re.fullmatch("0|[1-9][0-9]*", part) and int(part) < len(value):
            value = value[int(part)]
        else:
            return None
    return value


def equals(value: Any, operand: Any) -> bool:
    if kind(value) != kind(operand):
        raise Unknown
    return number(value) == number(operand) if is_number(value) else value == operand


def is_among(value: Any, operands: list[Any]) -> bool:
    same_kind = [operand for operand in operands if kind(operand) == kind(value)]
    if not same_kind:
        raise Unknown
    return any(equals(value, operand) for operand in same_kind)


def glob(value: str, pattern: str) -> bool:
    if not pattern:
        return not value
    if pattern[0] == "*":
        return any(glob(value[at:], pattern[1:]) for at in range(len(value) + 1))
    return value[:1] == pattern[0] and glob(value[1:], pattern[1:])


def domain(value: Any) -> str:
    """The domain of `name@domain`; the generated texts have no other addresses."""
    name, at, host = text(value).partition("@")
    if not at or not name or not re.fullmatch(r"[a-z0-9-]+(\.[a-z0-9-]+)+", host):
        raise Unknown
    return host


def length(value: Any) -> int:
    if type(value) not in (str, list):
        raise Unknown
    return len(value)


def holds(value: Any, op: str, operand: Any) -> bool:
    if value is None:
        raise Unknown
    tests = {
        "lt": lambda: number(value) < number(operand),
        "lte": lambda: number(value) <= number(operand),
        "gt": lambda: number(value) > number(operand),
        "gte": lambda: number(value) >= number(operand),
        "between": lambda: number(operand[0]) <= number(value) <= number(operand[1]),
        "is": lambda: equals(value, operand),
        "is_one_of": lambda: is_among(value, operand),
        "starts_with": lambda: text(value)[: len(operand)] == operand,
        "ends_with": lambda: text(value)[max(0, len(value) - len(operand)) :] == operand,
        "contains": lambda: operand in text(value),
        "matches": lambda: glob(text(value), operand),
        "domain_is": lambda: domain(value) in operand,
        "longest": lambda: length(value) <= operand,
    }
    return bool(tests[op]())


def is_question(facts: dict[str, Any]) -> bool:
    return not facts.get("tool") and facts.get("args") is None and facts["reason"] != "tool_call"


def is_about_calls(condition: dict[str, Any]) -> bool:
    return condition["path"].split("/")[1] in ("tool", "args")


def truth(condition: dict[str, Any], facts: dict[str, Any]) -> str:
    if is_question(facts) and is_about_calls(condition):
        return NO
    value, op, operand = look_up(facts, condition["path"]), condition["op"], condition.get("value")
    try:
        if op == "present":
            result = value is not None
        elif condition.get("each"):
            result = over_items(condition, value)
        else:
            result = holds(value, op, operand)
    except Unknown:
        return UNKNOWN
    return YES if result != bool(condition.get("not")) else NO


def over_items(condition: dict[str, Any], items: Any) -> bool:
    if type(items) is not list or len(items) > 1000:
        raise Unknown
    results = []
    for item in items:
        try:
            results.append(YES if holds(item, condition["op"], condition["value"]) else NO)
        except Unknown:
            results.append(UNKNOWN)
    decisive, otherwise = (NO, True) if condition["each"] == "every" else (YES, False)
    if decisive in results:
        return not otherwise
    if UNKNOWN in results or (condition["each"] == "every" and not items):
        raise Unknown
    return otherwise


def both(truths: list[str]) -> str:
    return NO if NO in truths else UNKNOWN if UNKNOWN in truths else YES


def rule_truth(rule: dict[str, Any], facts: dict[str, Any]) -> str:
    conditions = [*rule.get("when", []), *rule.get("unless", [])]
    names_reason = any(condition["path"] == "/reason" for condition in rule.get("when", []))
    if is_question(facts) and any(map(is_about_calls, conditions)) and not names_reason:
        return NO
    result = both([truth(condition, facts) for condition in rule.get("when", [])])
    if rule.get("unless"):
        excepted = both([truth(condition, facts) for condition in rule["unless"]])
        result = both([result, {YES: NO, NO: YES, UNKNOWN: UNKNOWN}[excepted]])
    return result


def rule_on(
    bodies: list[tuple[dict[str, Any], bool]], facts: dict[str, Any], now: datetime
) -> dict[str, Any]:
    """Return the effect, and for questions the requirement, of (document, installation) pairs."""
    by_effect: dict[str, list[tuple[str, dict[str, Any]]]] = {"deny": [], "ask": [], "allow": []}
    doubtful = False
    for body, installation in bodies:
        for rule in body["rules"]:
            key = f"installation:{rule['id']}" if installation else rule["id"]
            result = rule_truth(rule, facts)
            if rule.get("mode", "enforce") != "enforce" or result == NO:
                continue
            if result == YES:
                by_effect[rule["effect"]].append((key, rule))
            elif rule["effect"] == "ask":
                by_effect["ask"].append((key, rule))
            elif rule["effect"] == "deny":
                by_effect["ask"].append((key, {}))
                doubtful = True
    for effect in ("deny", "ask", "allow"):
        if by_effect[effect]:
            break
    else:
        effect = "ask"
    outcome = {"effect": effect, "rules": {key for key, _ in by_effect[effect]}}
    if effect == "ask":
        asking = [
            rule.get("require", {}) for _, rule in by_effect["ask"] if rule.get("effect") == "ask"
        ]
        outcome |= requirement(asking, now)
        outcome["grantable"] = not doubtful and outcome["grantable"]
    return outcome


def requirement(asking: list[dict[str, Any]], now: datetime) -> dict[str, Any]:
    slots: Counter[str] = Counter()
    for item in asking:
        mine = Counter(f"{k}:{v}" for slot in item.get("slots", []) for k, v in slot.items())
        slots = Counter({name: max(slots[name], mine[name]) for name in {*slots, *mine}})
    slots = slots or Counter(["role:reviewer"])
    approvals = [item.get("self_approval") for item in asking]
    ways = [set(item["via"]) for item in asking if "via" in item]
    expiries = [now + hours(item["expires_after"]) for item in asking if "expires_after" in item]
    return {
        "slots": slots,
        "self_approval": False if False in approvals else bool(approvals) and None not in approvals,
        "fresh": min(
            [
                item["fresh_sign_in_minutes"]
                for item in asking
                if len(item) and "fresh_sign_in_minutes" in item
            ],
            default=None,
        ),
        "keys": all(item.get("keys", True) for item in asking),
        "via": set.intersection(*ways) if ways else None,
        "expires_at": min(expiries, default=None),
        "on_expiry": "deny"
        if any(item.get("on_expiry") == "deny" for item in asking)
        else "cancel",
        "grantable": all(item.get("grantable", True) for item in asking)
        and sum(slots.values()) == 1,
    }


def hours(text: str) -> timedelta:
    return timedelta(hours=int(text.removeprefix("PT").removesuffix("H")))
