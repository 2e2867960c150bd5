"""Durations as pages write them: at most two units, "4 min 49 s"."""

from datetime import timedelta

from django.utils.translation import gettext

#: From the largest to the smallest, in milliseconds.
_UNITS = {"d": 86_400_000, "h": 3_600_000, "min": 60_000, "s": 1000, "ms": 1}


def unit_texts() -> dict[str, str]:
    """Return the text of each unit, with a place for its count."""
    return {
        "d": gettext("{count} d"),
        "h": gettext("{count} h"),
        "min": gettext("{count} min"),
        "s": gettext("{count} s"),
        "ms": gettext("{count} ms"),
    }


def duration_text(duration: timedelta, *, most: int = 2) -> str:
    """Return a duration in its `most` largest units, without those that are zero."""
    left = max(0, round(duration / timedelta(milliseconds=1)))
    # To the next second, so that parts add up to their sum as well as they can.
    left = left if left < 1000 else 1000 * ((left + 500) // 1000)
    largest = next((size for size in _UNITS.values() if left >= size), 1)
    # Milliseconds stand alone: "1 s", not "1 s 4 ms".
    units = [unit for unit, size in _UNITS.items() if size <= largest and (size > 1 or left < 1000)]
    texts = unit_texts()
    words: list[str] = []
    for unit in units[:most]:
        count, left = divmod(left, _UNITS[unit])
        if count or not words:
            words.append(texts[unit].format(count=count))
    return " ".join(words)
