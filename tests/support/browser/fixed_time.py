"""
The product at a fixed time, so that pictures of its pages do not age:
`python -m tests.support.browser.fixed_time serve --demo`.

The clock starts at START and goes on while the demo is made and its agents ask. Once the file
STOPPED is in the data directory, it stands still at SHOWN.
"""

import os
import sys
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any, Final, cast

#: A Friday in November, as in the texts of the demo.
START: Final = datetime(2026, 11, 27, 14, 12, tzinfo=UTC)
SHOWN: Final = START + timedelta(minutes=4)
STOPPED: Final = "clock-stopped"


def main() -> None:
    import django
    from django.core.management import execute_from_command_line

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "inbox.config.settings")
    django.setup()

    from django.conf import settings

    from agents.sdk import expiry
    from inbox.management.past_clock import PastClock, clock_set_back
    from inbox.platform import clock

    stopped = settings.DATA_DIR / STOPPED

    class StoppingClock(PastClock):
        def now(self) -> datetime:
            return SHOWN if stopped.exists() else min(super().now(), SHOWN)

    with clock_set_back(START) as past:
        past.__class__ = StoppingClock
        clock.past = past.now
        # Agents set expiries by a clock of their own.
        cast("Any", expiry).datetime = SimpleNamespace(now=lambda _zone: clock.now())
        execute_from_command_line(["manage.py", *sys.argv[1:]])


if __name__ == "__main__":
    main()
