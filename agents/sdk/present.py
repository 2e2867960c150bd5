"""The presentation of a request to reviewers: `metadata.signoff.present`, typed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

Kind = Literal[
    "generic",
    "message",
    "money",
    "database",
    "code_change",
    "command",
    "deployment",
    "dns",
    "error",
]
SeverityName = Literal["low", "medium", "high", "critical"]
TypeName = Literal["text", "money", "number", "code", "diff", "markdown", "json"]


@dataclass(frozen=True)
class Value:
    """The display of one argument of a tool."""

    label: str = ""
    type: TypeName | None = None
    unit: str = ""  #: such as EUR
    language: str = ""  #: of code, such as sql
    role: str = ""  #: in the presentation, such as recipient
    #: Of money in whole numbers of its smallest unit, such as 2 for cents: 4750 is 47.50.
    minor_unit: int | None = None


@dataclass(frozen=True)
class Fact:
    """A fact beside the arguments; `value` is any JSON."""

    label: str
    value: Any
    type: TypeName | None = None
    unit: str = ""
    language: str = ""
    minor_unit: int | None = None


@dataclass(frozen=True)
class Section:
    """Facts under a title."""

    title: str
    facts: Sequence[Fact]


@dataclass(frozen=True)
class Present:
    """
    The display of a request: of its arguments, and of facts beside them.

    Nothing of it changes what is asked: the arguments are always shown, and one click away as JSON.
    """

    kind: Kind | None = None  #: chosen by the tool and its arguments if None
    title: str = ""  #: instead of the interrupt's message
    summary: str = ""
    severity: SeverityName | None = None
    reversible: bool | None = None
    step: tuple[int, int] | None = None  #: the number of this step and of all
    values: Mapping[str, Value] = field(default_factory=dict)  #: by the argument's name
    facts: Sequence[Fact] = ()
    sections: Sequence[Section] = ()

    def to_json(self) -> dict[str, Any]:
        """Return the JSON of `metadata.signoff.present`, without empty members."""
        return _filled(
            kind=self.kind,
            title=self.title,
            summary=self.summary,
            severity=self.severity,
            reversible=self.reversible,
            step=self.step and {"number": self.step[0], "total": self.step[1]},
            values={name: _filled(**vars(value)) for name, value in self.values.items()},
            facts=[_fact(fact) for fact in self.facts],
            sections=[
                {"title": section.title, "facts": [_fact(fact) for fact in section.facts]}
                for section in self.sections
            ],
        )


def with_present(
    metadata: Mapping[str, Any] | None, present: Present | None
) -> dict[str, Any] | None:
    """Return the metadata of an interrupt with its presentation; None if there is neither."""
    if present is None:
        return None if metadata is None else dict(metadata)
    signoff = (metadata or {}).get("signoff")
    others = signoff if isinstance(signoff, Mapping) else {}
    return {**(metadata or {}), "signoff": {**others, "present": present.to_json()}}


def _fact(fact: Fact) -> dict[str, Any]:
    return {"label": fact.label, "value": fact.value} | _filled(
        type=fact.type, unit=fact.unit, language=fact.language, minor_unit=fact.minor_unit
    )


def _filled(**members: Any) -> dict[str, Any]:
    return {name: value for name, value in members.items() if value not in (None, "", {}, [], ())}
