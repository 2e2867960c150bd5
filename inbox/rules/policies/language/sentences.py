"""Policies in plain language: a rule as a sentence, and a ruling as an explanation."""

import json
from collections import Counter
from collections.abc import Callable, Iterable
from datetime import timedelta
from typing import Any, Final

from inbox.rules.policies.evaluation import ConditionResult, Match, Reason, Ruling
from inbox.rules.policies.facts import Doubt
from inbox.rules.policies.language.policy import (
    Condition,
    Each,
    Effect,
    Mode,
    OnExpiry,
    Op,
    Requirement,
    Rule,
    Slot,
    Via,
)
from inbox.rules.policies.operators import OPERATORS, Truth
from inbox.rules.text.messages import TranslatableMessage
from inbox.rules.text.safe_text import escape_invisible

#: Translates a TranslatableMessage, as `inbox.web.base.translate` does; `str` leaves English.
Translate = Callable[[str], str]
#: Marks a part of a sentence for the page, e.g. to be bold.
Mark = Callable[[str], str]
#: Returns the value to display for the value at a path, e.g. a mask.
Mask = Callable[[tuple[str, ...], Any], Any]

MAX_OPERANDS = 5


def _unmasked(_tokens: tuple[str, ...], value: Any) -> Any:
    return value


def condition_text(condition: Condition, translate: Translate = str) -> str:
    """Return a condition without a final stop: `amount ≤ 50`."""
    subject, negated = _subject(condition, translate, str)
    return _test_text(condition, subject, translate, negated=negated)


def _subject(condition: Condition, translate: Translate, mark: Mark) -> tuple[str, bool]:
    """Return the words for the fact of a condition, and whether its test is still negated."""
    subject = mark(fact_name(condition, translate))
    if condition.each:
        return translate(_quantified(condition, subject)), False
    return subject, condition.negated


def fact_name(condition: Condition, translate: Translate = str) -> str:
    """Return the name of a condition's fact: an argument by its path, others translated."""
    if condition.tokens[0] == "args":
        return escape_invisible(".".join(condition.tokens[1:])) or translate(
            TranslatableMessage("arguments")
        )
    return translate(_FACTS[condition.path])


def rule_sentence(rule: Rule, translate: Translate = str) -> str:
    """Return a rule as one or more sentences."""
    sentences = [
        effect_sentence(rule, translate),
        *requirement_sentences(rule.require, translate),
    ]
    if rule.mode is not Mode.ENFORCE:
        sentences.append(translate(_MODES[rule.mode]))
    return " ".join(sentences)


def effect_sentence(rule: Rule, translate: Translate = str, mark: Mark = str) -> str:
    """Return when a rule applies, and what happens; `mark` gets the parts that can be chosen."""

    def text(condition: Condition) -> str:
        subject, negated = _subject(condition, translate, mark)
        operand = mark(operand_text(condition, translate))
        words = OPERATORS[condition.op].words[negated]
        return translate(TranslatableMessage(words.pattern, fact=subject, value=operand))

    agent, tool, others = _subjects(rule, translate)
    values = {
        "agent": mark(agent or translate(TranslatableMessage("any agent"))),
        "tool": mark(tool or translate(TranslatableMessage("any tool"))),
        "conditions": _joined([text(condition) for condition in others], translate),
        "effect": _effect_text(rule, translate, mark),
    }
    form = _SENTENCES[bool(tool) or rule.is_about_calls, bool(others)]
    sentence = translate(TranslatableMessage(form.pattern, **values))
    if rule.unless:
        exceptions = _joined([text(condition) for condition in rule.unless], translate)
        sentence = translate(
            TranslatableMessage("{text}, unless {exceptions}", text=sentence, exceptions=exceptions)
        )
    return f"{sentence}."


def requirement_sentences(requirement: Requirement | None, translate: Translate = str) -> list[str]:
    """Return the requirements of a rule as sentences; the first one of a rule names the people."""
    if requirement is None:
        return []
    messages: list[TranslatableMessage] = []
    if requirement.self_approval is not None:
        messages.append(
            TranslatableMessage("Requesters may approve their own requests.")
            if requirement.self_approval
            else TranslatableMessage("Requesters may not approve their own requests.")
        )
    if requirement.fresh_sign_in_minutes:
        minutes = requirement.fresh_sign_in_minutes
        messages.append(
            TranslatableMessage("Needs a sign-in in the last {minutes} minutes.", minutes=minutes)
        )
    if not requirement.keys:
        messages.append(TranslatableMessage("API keys may not decide."))
    if requirement.via is not None:
        ways = ", ".join(translate(text) for way, text in _WAYS.items() if way in requirement.via)
        messages.append(TranslatableMessage("Decisions are possible through: {ways}.", ways=ways))
    if not requirement.grantable:
        messages.append(TranslatableMessage("Grants are not possible."))
    if requirement.urgent:
        messages.append(TranslatableMessage("Urgent: people are told at once."))
    return [*map(translate, messages), *_time_sentences(requirement, translate)]


def people_text(slots: Iterable[Slot], translate: Translate = str) -> str:
    """Return the people of slots: `2 of finance and one reviewer`."""
    return _people_text(slots, translate, str)


def _people_text(slots: Iterable[Slot], translate: Translate, mark: Mark) -> str:
    return _joined(
        [mark(_slot_text(slot, number, translate)) for slot, number in Counter(slots).items()],
        translate,
    )


def explanation(ruling: Ruling, translate: Translate = str, mask: Mask = _unmasked) -> list[str]:
    """
    Return the explanation of a ruling as sentences.

    `mask` gets the path and value of each fact, and returns what is displayed.
    """
    sentences = [translate(_REASONS[reason]) for reason in ruling.reasons]
    applied = [match for match in ruling.matches if match.applied]
    sentences += [_applied_text(match, translate, mask) for match in applied]
    if ruling.grant:
        sentences.append(translate(TranslatableMessage("A grant approved the call.")))
    if ruling.requirement and applied:
        slots = [slot.slot for slot in ruling.requirement.slots]
        sentences.append(
            translate(TranslatableMessage("Needs {people}.", people=people_text(slots, translate)))
        )
    sentences += [
        _unapplied_text(match, translate, mask) for match in ruling.matches if not match.applied
    ]
    if ruling.omitted:
        sentences.append(
            translate(TranslatableMessage("Rules left out here: {number}.", number=ruling.omitted))
        )
    return sentences


def match_sentence(match: Match, translate: Translate = str) -> str:
    """Return how one rule took part in a ruling."""
    text = _applied_text if match.applied else _unapplied_text
    return text(match, translate, _unmasked)


# Parts of rules

#: By whether the rule is about tool calls, and whether it has further conditions.
_SENTENCES: Final = {
    (True, False): TranslatableMessage(
        "When {agent} calls {tool}, {effect}", agent="", tool="", effect=""
    ),
    (True, True): TranslatableMessage(
        "When {agent} calls {tool} and {conditions}, {effect}",
        agent="",
        tool="",
        conditions="",
        effect="",
    ),
    (False, False): TranslatableMessage(
        "When {agent} makes a request, {effect}", agent="", effect=""
    ),
    (False, True): TranslatableMessage(
        "When {agent} makes a request and {conditions}, {effect}",
        agent="",
        conditions="",
        effect="",
    ),
}
_ONE_REVIEWER: Final = (Slot("role", "reviewer"),)


def _effect_text(rule: Rule, translate: Translate, mark: Mark) -> str:
    if rule.effect is not Effect.ASK:
        is_denial = rule.effect is Effect.DENY
        return mark(
            translate(
                TranslatableMessage("deny")
                if is_denial
                else TranslatableMessage("run without asking")
            )
        )
    slots = rule.require.slots if rule.require else ()
    people = _people_text(slots or _ONE_REVIEWER, translate, mark)
    return translate(TranslatableMessage("ask {people}", people=people))


def _subjects(rule: Rule, translate: Translate) -> tuple[str, str, list[Condition]]:
    """Return the agents and the tools that a rule names, "" for any, and its other conditions."""
    names = {"/agent": "", "/tool": ""}
    others = []
    for condition in rule.when:
        is_list = condition.op in (Op.IS, Op.IS_ONE_OF)
        is_plain = is_list and not condition.negated and not condition.each
        if is_plain and names.get(condition.path) == "":
            names[condition.path] = _alternatives(condition, translate)
        else:
            others.append(condition)
    return names["/agent"], names["/tool"], others


def _alternatives(condition: Condition, translate: Translate) -> str:
    values = condition.value if isinstance(condition.value, tuple) else (condition.value,)
    texts = [_json(value) for value in values[:MAX_OPERANDS]]
    if len(values) > MAX_OPERANDS:
        return ", ".join([*texts, "\u2026"])
    if len(texts) == 1:
        return texts[0]
    return translate(
        TranslatableMessage("{texts} or {last}", texts=", ".join(texts[:-1]), last=texts[-1])
    )


_WAYS: Final = {
    Via.WEB: TranslatableMessage("the inbox"),
    Via.REST: TranslatableMessage("the REST API"),
    Via.AGUI: TranslatableMessage("AG-UI clients"),
    Via.LINK: TranslatableMessage("links in e-mails"),
    Via.CHAT: TranslatableMessage("chats"),
}
_MODES: Final = {
    Mode.SHADOW: TranslatableMessage("The rule is tried out without an effect."),
    Mode.OFF: TranslatableMessage("The rule is off."),
}
_FACTS: Final = {
    "/agent": TranslatableMessage("agent"),
    "/tool": TranslatableMessage("tool"),
    "/reason": TranslatableMessage("reason"),
    "/environment": TranslatableMessage("environment"),
    "/team": TranslatableMessage("team"),
    "/requester/kind": TranslatableMessage("kind of requester"),
    "/requester/id": TranslatableMessage("requester"),
    "/requester/role": TranslatableMessage("role of the requester"),
    "/requester/groups": TranslatableMessage("groups of the requester"),
    "/local_time": TranslatableMessage("time"),
}


def _quantified(condition: Condition, subject: str) -> TranslatableMessage:
    if condition.each is Each.EVERY:
        if condition.negated:
            return TranslatableMessage("not every item of {fact}", fact=subject)
        return TranslatableMessage("every item of {fact}", fact=subject)
    if condition.negated:
        return TranslatableMessage("no item of {fact}", fact=subject)
    return TranslatableMessage("any item of {fact}", fact=subject)


def _test_text(condition: Condition, subject: str, translate: Translate, *, negated: bool) -> str:
    operator = OPERATORS[condition.op]
    operand = operand_text(condition, translate)
    if operator.signs:
        return f"{subject} {operator.signs[negated]} {operand}"
    words = operator.words[negated]
    return translate(TranslatableMessage(words.pattern, fact=subject, value=operand))


def operand_text(condition: Condition, translate: Translate = str) -> str:
    """Return the operand of a condition as text."""
    value = condition.value
    if condition.op is Op.SCHEMA:
        return escape_invisible(value[:80])
    if condition.op is Op.BETWEEN:
        return translate(
            TranslatableMessage("{low} and {high}", low=_json(value[0]), high=_json(value[1]))
        )
    if not isinstance(value, tuple):
        return _json(value)
    texts = [_json(item) for item in value[:MAX_OPERANDS]]
    if len(value) > MAX_OPERANDS:
        texts.append("\u2026")
    return ", ".join(texts)


def _joined(texts: list[str], translate: Translate) -> str:
    if len(texts) < 2:
        return "".join(texts)
    return translate(
        TranslatableMessage("{texts} and {last}", texts=", ".join(texts[:-1]), last=texts[-1])
    )


def _slot_text(slot: Slot, number: int, translate: Translate) -> str:
    name = escape_invisible(slot.name)
    if slot.kind == "group" and number == 1:
        message = TranslatableMessage("one of {name}", name=name)
    elif slot.kind == "group":
        message = TranslatableMessage("{number} of {name}", number=number, name=name)
    elif slot.name == "admin" and number == 1:
        message = TranslatableMessage("one administrator")
    elif slot.name == "admin":
        message = TranslatableMessage("{number} administrators", number=number)
    elif number == 1:
        message = TranslatableMessage("one reviewer")
    else:
        message = TranslatableMessage("{number} reviewers", number=number)
    return translate(message)


def _time_sentences(requirement: Requirement, translate: Translate) -> list[str]:
    messages: list[TranslatableMessage] = []
    if requirement.expires_after:
        time = duration_text(requirement.expires_after, translate)
        messages.append(
            TranslatableMessage("After {time} the request is denied.", time=time)
            if requirement.on_expiry is OnExpiry.DENY
            else TranslatableMessage("After {time} the request is cancelled.", time=time)
        )
    messages += [
        TranslatableMessage("A reminder after {time}.", time=duration_text(after, translate))
        for after in requirement.remind
    ]
    messages += [
        TranslatableMessage(
            "After {time}, {people} may decide in their place.",
            time=duration_text(step.after, translate),
            people=escape_invisible(step.to.name),
        )
        for step in requirement.escalate
    ]
    if requirement.hours:
        messages.append(
            TranslatableMessage("Times count in the hours {name}.", name=requirement.hours)
        )
    return list(map(translate, messages))


def duration_text(duration: timedelta, translate: Translate = str) -> str:
    hours, minutes = divmod(int(duration.total_seconds()) // 60, 60)
    if not hours:
        return translate(TranslatableMessage("{minutes} min", minutes=minutes))
    if not minutes:
        return translate(TranslatableMessage("{hours} h", hours=hours))
    return translate(TranslatableMessage("{hours} h {minutes} min", hours=hours, minutes=minutes))


# Parts of explanations

_REASONS: Final = {
    Reason.NO_RULE: TranslatableMessage("No rule decides this request."),
    Reason.NO_CALL: TranslatableMessage(
        "Rules approve and deny tool calls only, so a person decides."
    ),
    Reason.DECEPTIVE: TranslatableMessage(
        "The request has misleading characters, so a person decides."
    ),
    Reason.TOO_LARGE: TranslatableMessage(
        "The arguments are too large for rules, or have numbers such as NaN, so a person decides."
    ),
    Reason.CIRCUIT_BREAKER: TranslatableMessage(
        "The thread ran long without a person, so a person decides."
    ),
    Reason.UNREADABLE: TranslatableMessage(
        "A policy cannot be read, so a person decides everything."
    ),
    Reason.DOUBTFUL_DENIAL: TranslatableMessage(
        "A rule that denies may apply, so a person decides."
    ),
    Reason.NOBODY: TranslatableMessage("The rules leave no way in for a decision."),
    Reason.NO_ANSWER: TranslatableMessage(
        "The agent does not accept the answer of the rules, so a person decides."
    ),
}
_DOUBTS: Final = {
    Doubt.MISSING: TranslatableMessage("{fact} is missing", fact=""),
    Doubt.WRONG_TYPE: TranslatableMessage("{fact} has another type", fact=""),
    Doubt.TOO_LARGE: TranslatableMessage("{fact} is too large", fact=""),
    Doubt.DECEPTIVE: TranslatableMessage("{fact} has misleading characters", fact=""),
    Doubt.NO_ITEMS: TranslatableMessage("{fact} has no items", fact=""),
    Doubt.CALENDAR: TranslatableMessage("the calendar for {fact} is missing", fact=""),
}


def _applied_text(match: Match, translate: Translate, mask: Mask) -> str:
    because = [
        _result_text(result, translate, mask)
        for result in match.conditions
        if result.is_exception is (result.truth is Truth.NO) or result.truth is Truth.UNKNOWN
    ]
    verb = {
        Effect.ALLOW: TranslatableMessage("{rule} approved", rule=_title(match, translate)),
        Effect.ASK: TranslatableMessage("{rule} asked", rule=_title(match, translate)),
        Effect.DENY: TranslatableMessage("{rule} denied", rule=_title(match, translate)),
    }[match.effect]
    if match.effect is Effect.DENY and match.truth is Truth.UNKNOWN:
        verb = TranslatableMessage("{rule} may deny", rule=_title(match, translate))
    text = translate(verb)
    return f"{text}: {_joined(because, translate)}." if because else f"{text}."


def _unapplied_text(match: Match, translate: Translate, mask: Mask) -> str:
    if match.truth is Truth.YES:
        return translate(TranslatableMessage("{rule} is overruled.", rule=_title(match, translate)))
    failed = [
        _result_text(result, translate, mask)
        for result in match.conditions
        if result.truth is Truth.UNKNOWN
        or result.truth is (Truth.YES if result.is_exception else Truth.NO)
    ]
    text = translate(TranslatableMessage("{rule} did not apply", rule=_title(match, translate)))
    return f"{text}: {_joined(failed, translate)}." if failed else f"{text}."


def _title(match: Match, translate: Translate) -> str:
    title = escape_invisible(match.name or match.rule)
    if match.installation:
        return translate(
            TranslatableMessage(
                "{rule} (installation, version {number})", rule=title, number=match.version
            )
        )
    return translate(
        TranslatableMessage("{rule} (version {number})", rule=title, number=match.version)
    )


def _result_text(result: ConditionResult, translate: Translate, mask: Mask) -> str:
    """Return a condition with its value: `amount 860.5 > 50`; for a doubt, the doubt."""
    condition = result.condition
    subject = fact_name(condition, translate)
    if result.doubt:
        return translate(TranslatableMessage(_DOUBTS[result.doubt].pattern, fact=subject))
    value = mask(condition.tokens, result.value)
    is_said = condition.op is Op.IS and value == condition.value  # "agent a = a" says it twice
    if value is None or condition.each or condition.op is Op.PRESENT or is_said:
        text = condition_text(condition, translate)
        return (
            text
            if result.truth is Truth.YES
            else translate(TranslatableMessage("not: {text}", text=text))
        )
    holds = (result.truth is Truth.YES) is not condition.negated
    return _test_text(condition, f"{subject} {_json(value)}", translate, negated=not holds)


def _json(value: Any) -> str:
    if isinstance(value, str):
        return escape_invisible(value) or '""'
    return json.dumps(value)
