"""Durations as pages write them: at most two units, "4 min 49 s"."""

from datetime import timedelta

from django.utils.translation import gettext


def duration_text(duration: timedelta) -> str:
    """Return a duration in its two largest units, without one that is zero."""
    milliseconds = max(0, round(duration / timedelta(milliseconds=1)))
    if milliseconds < 1000:
        return gettext("{count} ms").format(count=milliseconds)
    minutes, seconds = divmod(milliseconds // 1000, 60)
    hours, minutes = divmod(minutes, 60)
    days, hours = divmod(hours, 24)
    if days:
        text = gettext("{days} d {hours} h") if hours else gettext("{days} d")
    elif hours:
        text = gettext("{hours} h {minutes} min") if minutes else gettext("{hours} h")
    elif minutes:
        text = gettext("{minutes} min {seconds} s") if seconds else gettext("{minutes} min")
    else:
        text = gettext("{seconds} s")
    return text.format(days=days, hours=hours, minutes=minutes, seconds=seconds)
