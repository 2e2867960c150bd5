"""What a campaign did, and what it must not have seen."""

import json
import time
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass
class Report:
    """Figures are for people; one violation fails the campaign."""

    name: str
    figures: dict[str, Any] = field(default_factory=dict)
    violations: list[str] = field(default_factory=list)
    seconds: float = 0.0
    _begun: float = field(default_factory=time.monotonic, repr=False)

    def violate(self, *sentences: str) -> None:
        self.violations.extend(sentences)

    def expect(self, *, that: bool, otherwise: str) -> None:
        if not that:
            self.violate(otherwise)

    def done(self) -> "Report":
        self.seconds = round(time.monotonic() - self._begun, 1)
        return self


def table(reports: Iterable[Report]) -> str:
    """One paragraph a campaign, its violations below."""
    lines = []
    for report in reports:
        verdict = f"{len(report.violations)} violations" if report.violations else "held"
        lines.append(f"{report.name:24} {verdict:>14} {report.seconds:8.1f} s")
        lines += [f"    {name:44} {value}" for name, value in report.figures.items()]
        lines += [f"  ! {sentence}" for sentence in report.violations[:20]]
    return "\n".join(lines)


def as_json(reports: Sequence[Report]) -> str:
    public_reports = [
        {name: value for name, value in asdict(report).items() if not name.startswith("_")}
        for report in reports
    ]
    return json.dumps({"campaigns": public_reports}, indent=2)
