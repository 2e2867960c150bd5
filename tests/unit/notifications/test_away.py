"""Deputies: who is told while a person is away, and until when."""

from datetime import UTC, date, datetime, timedelta

import pytest

from inbox.rules.errors import InvalidValue
from inbox.rules.notifications.away import (
    Absence,
    check_absence,
    end_of_day,
    last_day,
    recipient_for,
)

NOW = datetime(2026, 12, 1, 12, tzinfo=UTC)
ANA, BEN, CY = 1, 2, 3
LATER, EARLIER = NOW + timedelta(days=1), NOW - timedelta(days=1)


@pytest.mark.parametrize(
    ("absences", "deciders", "recipient"),
    [
        ({}, [BEN], ANA),
        ({ANA: Absence(LATER, BEN)}, [BEN], BEN),
        ({ANA: Absence(EARLIER, BEN)}, [BEN], ANA),
        ({ANA: Absence(LATER, None)}, [BEN], None),
        ({ANA: Absence(LATER, BEN)}, [CY], ANA),  # the deputy may not decide
        ({ANA: Absence(LATER, BEN), BEN: Absence(LATER, CY)}, [BEN, CY], ANA),
        ({ANA: Absence(LATER, BEN), BEN: Absence(EARLIER, None)}, [BEN], BEN),
    ],
)
def test_who_is_told(absences, deciders, recipient):
    assert recipient_for(ANA, absences, deciders, NOW) == recipient


@pytest.mark.parametrize(
    ("until", "deputy", "field"),
    [
        (NOW, None, "until"),
        (NOW + timedelta(days=367), None, "until"),
        (LATER, CY, "deputy"),
    ],
)
def test_wrong_absences_are_refused(until, deputy, field):
    with pytest.raises(InvalidValue) as refusal:
        check_absence(until, deputy, colleagues=[BEN], now=NOW)

    assert list(refusal.value.detail["problems"]) == [field]


@pytest.mark.parametrize("zone", ["UTC", "Europe/Berlin", "America/Santiago", "Asia/Kathmandu"])
def test_the_last_day_ends_at_midnight_of_the_zone(zone):
    for number in range(400):
        day = date(2026, 1, 1) + timedelta(days=number)

        until = end_of_day(day, zone)

        assert last_day(until, zone) == day
