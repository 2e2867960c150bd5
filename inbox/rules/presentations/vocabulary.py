"""The vocabulary of `metadata.signoff.present`, with which an author says how to show a request."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

from inbox.rules.decisions.consent import SIGNOFF

#: Longer lists are cut; the JSON of the request has everything.
MAX_FACTS = 60
MAX_SECTIONS = 12
MAX_STEPS = 999
MAX_MINOR_UNIT = 4
#: The keyword of a JSON Schema with the hint of a value: `{"type": "money", "unit": "EUR"}`.
HINT_KEYWORD = "x-present"


class Author(StrEnum):
    """The author of the words beside the values of a request."""

    OPERATOR = "operator"  #: of an agent whose code runs in this installation
    AGENT = "agent"  #: a remote agent
    PROGRAM = "program"


class Severity(StrEnum):
    """The harm that the request can do, in ascending order."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"
    CRITICAL = "critical"


class ValueType(StrEnum):
    """The types of values, by which they are displayed."""

    TEXT = "text"
    MONEY = "money"
    NUMBER = "number"
    CODE = "code"
    DIFF = "diff"
    MARKDOWN = "markdown"
    JSON = "json"


#: The words that agents use for severities.
_SEVERITIES = {
    **{severity.value: severity for severity in Severity},
    "severe": Severity.CRITICAL,
    "moderate": Severity.MEDIUM,
    "minor": Severity.LOW,
    "none": Severity.LOW,
}


@dataclass(frozen=True)
class ValueHint:
    """The display of one argument; empty members are derived from the value."""

    label: str = ""
    type: ValueType | None = None
    unit: str = ""  #: such as EUR, rows or %
    language: str = ""  #: of code, such as sql
    role: str = ""  #: in the presentation, such as recipient
    #: Of money in whole numbers of its smallest unit: the digits behind the decimal sign.
    minor_unit: int | None = None


@dataclass(frozen=True)
class DeclaredFact:
    """A fact that is no argument."""

    label: str
    value: Any
    hint: ValueHint = field(default_factory=ValueHint)


@dataclass(frozen=True)
class Section:
    """Facts under a title."""

    title: str
    facts: Sequence[DeclaredFact]


@dataclass(frozen=True)
class Present:
    """
    A parsed `metadata.signoff.present`.

    Members of unknown names or with values of a wrong type are in `others`: they are shown as
    facts, so that nothing an agent says is hidden.
    """

    kind: str = ""
    title: str = ""
    summary: str = ""
    severity: Severity | None = None
    is_reversible: bool | None = None
    step: tuple[int, int] | None = None  #: the number of this step and of all
    values: Mapping[str, ValueHint] = field(default_factory=dict)  #: by the argument's name
    facts: Sequence[DeclaredFact] = ()
    sections: Sequence[Section] = ()
    others: Mapping[str, Any] = field(default_factory=dict)


def severity_of(value: Any) -> Severity | None:
    """Return the severity for an agent's word, None for an unknown one."""
    return _SEVERITIES.get(value.strip().lower()) if isinstance(value, str) else None


def present_of(interrupt: Mapping[str, Any]) -> Present:
    """Return the `metadata.signoff.present` of an AG-UI Interrupt; empty if there is none."""
    present = _declaration_in(interrupt)
    if present is None:
        return Present()
    if not isinstance(present, Mapping):
        return Present(others={"present": present})
    return _parse(present)


def _declaration_in(interrupt: Mapping[str, Any]) -> Any:
    metadata = interrupt.get("metadata")
    signoff = metadata.get(SIGNOFF) if isinstance(metadata, Mapping) else None
    return signoff.get("present") if isinstance(signoff, Mapping) else None


def hints_of(values: Any) -> Mapping[str, ValueHint]:
    """Return how to show arguments, by their names; members that are no hints are left out."""
    members = values if isinstance(values, Mapping) else {}
    return {name: _hint(hint) for name, hint in members.items() if isinstance(hint, Mapping)}


def hints_from_outside(hints: Mapping[str, ValueHint]) -> Mapping[str, ValueHint]:
    """
    Return the hints without what could hide an argument behind words of an author outside.

    The type and the currency stay; the label, the place and other units are free texts.
    """
    return {
        name: replace(hint, label="", role="", unit=hint.unit if is_currency(hint.unit) else "")
        for name, hint in hints.items()
    }


#: The codes of ISO 4217 that people pay with, without metals, funds and codes for tests.
_CURRENCY_CODES = (
    "AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BGN BHD BIF BMD BND BOB BOV BRL "
    "BSD BTN BWP BYN BZD CAD CDF CHE CHF CHW CLF CLP CNY COP COU CRC CUP CVE CZK DJF "
    "DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GNF GTQ GYD HKD HNL HTG "
    "HUF IDR ILS INR IQD IRR ISK JMD JOD JPY KES KGS KHR KMF KPW KRW KWD KYD KZT LAK "
    "LBP LKR LRD LSL LYD MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MXV MYR MZN "
    "NAD NGN NIO NOK NPR NZD OMR PAB PEN PGK PHP PKR PLN PYG QAR RON RSD RUB RWF SAR "
    "SBD SCR SDG SEK SGD SHP SLE SOS SRD SSP STN SVC SYP SZL THB TJS TMT TND TOP TRY "
    "TTD TWD TZS UAH UGX USD USN UYI UYU UYW UZS VED VES VND VUV WST XAF XCD XCG XOF "
    "XPF YER ZAR ZMW ZWG "
)
_CURRENCIES = frozenset(_CURRENCY_CODES.split())
_SIGNS = frozenset("$€£")
#: Codes that are other units when they are not in capitals: a cup, all, a try.
_WORDS = frozenset({"ALL", "CUP", "MOP", "TOP", "TRY"})


def is_currency(unit: str) -> bool:
    """Return whether a unit is a code (ISO 4217) or a sign of a currency, and no other text."""
    code = unit.upper()
    return unit in _SIGNS or (code in _CURRENCIES and (unit == code or code not in _WORDS))


def has_more_facts(interrupt: Mapping[str, Any]) -> bool:
    """Return whether the author declares more facts or sections than `present_of` returns."""
    present = _declaration_in(interrupt)
    if not isinstance(present, Mapping):
        return False
    sections = present.get("sections")
    parts = [present, *(sections if isinstance(sections, list) else ())]
    facts = [part.get("facts") for part in parts if isinstance(part, Mapping)]
    return len(parts) - 1 > MAX_SECTIONS or any(
        isinstance(part, list) and len(part) > MAX_FACTS for part in facts
    )


def _parse(present: Mapping[str, Any]) -> Present:
    parsers = {
        "kind": _text,
        "title": _text,
        "summary": _text,
        "severity": severity_of,
        "reversible": _boolean,
        "step": _step,
        "values": _values_or_none,
        "facts": _facts,
        "sections": _sections,
    }
    members: dict[str, Any] = {}
    others: dict[str, Any] = {}
    for name, value in present.items():
        parsed = parsers[name](value) if name in parsers else None
        if parsed is None:
            others[name] = value
        else:
            members["is_reversible" if name == "reversible" else name] = parsed
    return Present(**members, others=others)


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _boolean(value: Any) -> bool | None:
    return value if isinstance(value, bool) else None


def _step(value: Any) -> tuple[int, int] | None:
    if not isinstance(value, Mapping):
        return None
    number, total = _count(value.get("number")), _count(value.get("total"))
    return (number, total) if 1 <= number <= total <= MAX_STEPS else None


def _count(value: Any) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) else 0


def _hint(value: Mapping[str, Any]) -> ValueHint:
    texts = {
        name: value[name]
        for name in ("label", "unit", "language", "role")
        if isinstance(value.get(name), str)
    }
    kind = next((kind for kind in ValueType if kind == value.get("type")), None)
    minor_unit = value.get("minor_unit")
    return ValueHint(
        type=kind, **texts, minor_unit=minor_unit if is_minor_unit(minor_unit) else None
    )


def is_minor_unit(value: Any) -> bool:
    return type(value) is int and 0 <= value <= MAX_MINOR_UNIT


def _values_or_none(value: Any) -> Mapping[str, ValueHint] | None:
    return hints_of(value) if isinstance(value, Mapping) else None


def _facts(value: Any) -> Sequence[DeclaredFact] | None:
    if not isinstance(value, list):
        return None
    return [_fact(item) for item in value[:MAX_FACTS]]


def _fact(item: Any) -> DeclaredFact:
    if isinstance(item, Mapping) and isinstance(item.get("label"), str) and "value" in item:
        return DeclaredFact(item["label"], item["value"], _hint(item))
    return DeclaredFact("", item)


def _sections(value: Any) -> Sequence[Section] | None:
    return [_section(item) for item in value[:MAX_SECTIONS]] if isinstance(value, list) else None


def _section(item: Any) -> Section:
    if not isinstance(item, Mapping):
        return Section("", [DeclaredFact("", item)])
    title = item.get("title") if isinstance(item.get("title"), str) else None
    facts = _facts(item.get("facts"))
    displayed_names = {"title"} if title is not None else set()
    displayed_names |= {"facts"} if facts is not None else set()
    others = {name: member for name, member in item.items() if name not in displayed_names}
    return Section(title or "", [*(facts or ()), *([DeclaredFact("", others)] if others else ())])
