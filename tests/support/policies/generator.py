"""Random policies and facts that meet often enough to be interesting."""

from random import Random
from typing import Any

TEXTS = ["refund", "delete", "mail", "a@example.org", "b@evil.example", "", "re", "x@y", "10"]
SCALARS = [*TEXTS, 0, 1, 10, 49.99, 50, 50.0, 50.01, -1, 1e21, True, False]
PATHS = ["/args/amount", "/args/to", "/args/items", "/args/items/0", "/args/a~1b/c", "/args/nil"]
FACTS = ["/tool", "/agent", "/environment", "/requester/role"]
OPS = ["lt", "lte", "gt", "gte", "between", "is", "is_one_of", "starts_with", "ends_with"]
OPS += ["contains", "matches", "domain_is", "longest", "present"]
TEXT_OPS = ["is", "is_one_of", "starts_with", "ends_with", "contains", "matches", "longest"]
GLOBS = ["*", "re*", "*d", "r*f*d", "d*e*e", "refund", "**", "*@example.org"]


def condition(random: Random) -> dict[str, Any]:
    is_text = random.random() < 0.3
    path = random.choice(FACTS if is_text else [*PATHS, "/args/amount", "/requester/groups"])
    is_list = path == "/requester/groups"
    op = random.choice(TEXT_OPS if is_text or is_list else OPS)
    members: dict[str, Any] = {"path": path, "op": op}
    if op != "present":
        members["value"] = operand(random, op)
        if is_list or (not is_text and random.random() < 0.2):
            members["each"] = random.choice(["every", "any"])
    if random.random() < 0.2:
        members["not"] = random.choice([True, True, False])
    return members


def operand(random: Random, op: str) -> Any:
    numbers = [value for value in SCALARS if type(value) in (int, float)]
    choices = {
        "between": sorted(random.choices(numbers, k=2)),
        "is": random.choice(SCALARS),
        "is_one_of": random.choices(SCALARS, k=random.randint(1, 4)),
        "matches": random.choice(GLOBS),
        "domain_is": random.sample(["example.org", "evil.example", "other.example"], k=2),
        "longest": random.randint(0, 6),
        **dict.fromkeys(("lt", "lte", "gt", "gte"), random.choice(numbers)),
    }
    return choices.get(op, random.choice([text for text in TEXTS if text]))


def requirement(random: Random) -> dict[str, Any]:
    options: dict[str, Any] = {
        "slots": random.choices(
            [{"group": "finance"}, {"group": "leads"}, {"role": "reviewer"}, {"role": "admin"}],
            k=random.randint(0, 3),
        ),
        "self_approval": random.choice([True, False]),
        "fresh_sign_in_minutes": random.choice([1, 5, 60]),
        "keys": random.choice([True, False]),
        "via": random.sample(["web", "rest", "agui", "link", "chat"], k=random.randint(1, 3)),
        "expires_after": random.choice(["PT1H", "PT4H", "PT24H"]),
        "on_expiry": random.choice(["cancel", "deny"]),
        "grantable": False,
    }
    return {name: options[name] for name in options if random.random() < 0.3}


def rule(random: Random, number: int, effects: list[str]) -> dict[str, Any]:
    effect = random.choice(effects)
    least = 1 if effect == "allow" else 0
    members: dict[str, Any] = {
        "id": f"rule-{number}",
        "effect": effect,
        "when": [condition(random) for _ in range(random.randint(least, 3))],
    }
    if random.random() < 0.3:
        members["unless"] = [condition(random) for _ in range(random.randint(1, 2))]
    if random.random() < 0.2:
        members["mode"] = random.choice(["enforce", "shadow", "off"])
    if effect == "ask" and random.random() < 0.7:
        members["require"] = requirement(random)
    return members


def document(random: Random, *, effects: list[str] | None = None) -> dict[str, Any]:
    number = random.randint(0, 5)
    effects = effects or ["allow", "allow", "ask", "deny"]
    return {"rules": [rule(random, at, effects) for at in range(number)]}


def value(random: Random, depth: int = 0) -> Any:
    pick = random.random()
    if pick < 0.1:
        return None
    if pick < 0.25 and depth < 2:
        return [value(random, depth + 1) for _ in range(random.randint(0, 3))]
    if pick < 0.3:
        return {"c": random.choice(SCALARS)}
    return random.choice(SCALARS)


def subject(random: Random) -> dict[str, Any]:
    """Return facts as JSON; each may be missing."""
    names = ["amount", "to", "items", "nil"]
    args = {name: value(random) for name in names if random.random() < 0.85}
    args["nil"] = None
    if random.random() < 0.5:
        args["a/b"] = {"c": random.choice(SCALARS)}
    return {
        "reason": "tool_call",
        "tool": random.choice(["refund", "delete", "mail"]),
        "args": args,
        "agent": random.choice(["desk", "refund", None]),
        "environment": random.choice(["production", "re", None]),
        "team": "support",
        "requester": random.choice(
            [
                None,
                {"kind": "human", "id": "7", "role": "re", "groups": ["refund", "mail"]},
                {"kind": "key", "id": "k", "role": None, "groups": []},
            ]
        ),
    }
