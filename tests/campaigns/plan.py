"""Which campaigns there are, and what they share."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final

from tests.campaigns import meetings, outages
from tests.campaigns.kills import kills
from tests.campaigns.races import long_races
from tests.campaigns.report import Report
from tests.campaigns.stage import Stage, stage

#: These take turns on one product.
_ON_ONE_STAGE: Final[dict[str, Callable[..., Report]]] = {
    "same-resume": meetings.same_resume,
    "last-two": meetings.last_two,
    "rings": outages.lost_rings,
    "database": outages.lost_database,
}
CAMPAIGNS: Final = ("kills", *_ON_ONE_STAGE, "races")


def run_campaigns(directory: Path, *, names: Sequence[str], short: bool) -> list[Report]:
    """Run the named campaigns; the kills, on a product of their own, beside the others."""
    with ThreadPoolExecutor(1) as beside:
        # Most of a kill campaign is waiting for leases to run out.
        killing = (
            beside.submit(kills, directory / "kills", short=short) if "kills" in names else None
        )
        shared = [name for name in _ON_ONE_STAGE if name in names]
        reports = _on_one_stage(directory / "shared", shared, short=short) if shared else []
        if "races" in names and not short:
            reports.append(long_races())
        return [*([killing.result()] if killing else []), *reports]


def _on_one_stage(directory: Path, names: Sequence[str], *, short: bool) -> list[Report]:
    with stage(directory) as shared:
        return [_guarded(name, shared, short=short) for name in names]


def _guarded(name: str, shared: Stage, *, short: bool) -> Report:
    try:
        return _ON_ONE_STAGE[name](shared, short=short)
    except Exception as error:
        report = Report(name)
        report.violate(f"{type(error).__name__}: {error}\n{shared.product.log_tails()}")
        return report.done()
