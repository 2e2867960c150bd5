"""Form submissions: the fields that a browser sent, and overrides made by buttons."""

from collections.abc import Sequence

from django.http import QueryDict

#: Bounds of submitted row tokens, which are not trusted.
MAX_ROWS = 1_000
MAX_TOKEN = 10**6
STATES = ("on", "off", "null", "auto")


class Submission:
    """One submission; `name@word` holds data that belongs to the field `name`."""

    def __init__(self, data: QueryDict) -> None:
        self._data = data
        self._overrides: dict[str, str] = {}

    def text(self, name: str) -> str | None:
        """Return the value of a field, or None if the browser sent none."""
        return self._overrides.get(name, self._data.get(name))

    def texts(self, name: str) -> Sequence[str]:
        return self._data.getlist(name)

    def has(self, name: str) -> bool:
        return name in self._overrides or name in self._data

    def is_later(self, name: str) -> bool:
        """Return whether the page had not loaded the field: its value is unchanged."""
        return self.has(f"{name}@later") and not (self.has(name) or self.has(f"{name}@on"))

    def state(self, name: str) -> str | None:
        state = self.text(f"{name}@on")
        return state if state in STATES else None

    def tokens(self, name: str) -> list[int] | None:
        """Return the row tokens of a list in order, or None if they were not sent."""
        text = self.text(f"{name}@rows")
        if text is None or len(text) > 8 * MAX_ROWS:
            return None
        parts = [part for part in text.split(",") if part.isascii() and part.isdecimal()]
        numbers = dict.fromkeys(int(part) for part in parts if len(part) < 8)
        return [number for number in numbers if number <= MAX_TOKEN][:MAX_ROWS]

    def branch(self, name: str) -> int | None:
        """Return the number of the chosen branch, -1 for none, or None if it was not sent."""
        text = self.text(f"{name}@branch")
        if text is None:
            return None
        return int(text) if text.isascii() and text.isdecimal() and len(text) < 5 else -1

    def put(self, name: str, text: str) -> None:
        self._overrides[name] = text

    @property
    def draft(self) -> str | None:
        """Return the button that changes the form instead of submitting it."""
        return self._data.get("draft")
