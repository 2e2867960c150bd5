"""Which campaigns there are, and what they share."""

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Final

from tests.campaigns.faults import barriers, outages
from tests.campaigns.faults.deployment import DATABASES
from tests.campaigns.faults.kills import kills
from tests.campaigns.faults.long_races import long_races
from tests.campaigns.faults.named_kills import named_kills, policy_kills
from tests.campaigns.faults.notification_kills import notification_kills
from tests.campaigns.faults.pauses import pauses
from tests.campaigns.faults.request_kills import request_kills
from tests.campaigns.faults.setup import Stage, stage
from tests.campaigns.report import Report

#: These take turns on one product.
_ON_ONE_STAGE: Final[dict[str, Callable[..., Report]]] = {
    "same-resume": barriers.same_resume,
    "last-two": barriers.last_two,
    "rings": outages.lost_rings,
    "database": outages.lost_database,
}
#: These have a product of their own, on either database.
_ON_EACH_DATABASE: Final[dict[str, Callable[..., Report]]] = {
    "named-kills": named_kills,
    "policy-kills": policy_kills,
    "pauses": pauses,
    "request-kills": request_kills,
}
CAMPAIGNS: Final = ("kills", "notification-kills", *_ON_EACH_DATABASE, *_ON_ONE_STAGE, "races")


def run_campaigns(directory: Path, *, names: Sequence[str], short: bool) -> list[Report]:
    """Run the named campaigns: those with a product of their own beside the others."""
    # Most of a kill campaign is waiting for leases to run out.
    with ThreadPoolExecutor(3) as beside:
        alone = [beside.submit(call) for call in _alone(directory, names, short=short)]
        shared = [name for name in _ON_ONE_STAGE if name in names]
        reports = _on_one_stage(directory / "shared", shared, short=short) if shared else []
        if "races" in names and not short:
            reports.append(long_races())
        return [*(future.result() for future in alone), *reports]


def _alone(directory: Path, names: Sequence[str], *, short: bool) -> Iterable[Callable[[], Report]]:
    if "kills" in names:
        yield partial(kills, directory / "kills", short=short)
    if "notification-kills" in names:
        yield partial(notification_kills, directory / "notification-kills", short=short)
    for name, campaign in _ON_EACH_DATABASE.items():
        for database in DATABASES if name in names else ():
            yield partial(campaign, directory / name / database, database, short=short)


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
