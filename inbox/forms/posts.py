"""What a browser posted for a form, and the changes of its structure that buttons ask for."""

from collections.abc import Sequence

from django.http import QueryDict

#: Rows are numbered by the form; what is posted in their place is not trusted.
MOST_ROWS = 1_000
LARGEST_TOKEN = 10**6
STATES = ("on", "off", "null", "auto")


class Posted:
    """The fields of one post; `name@word` carries what belongs to the field of that name."""

    def __init__(self, post: QueryDict) -> None:
        self._post = post
        self._instead: dict[str, str] = {}

    def text(self, name: str) -> str | None:
        """What was posted for a field, or None if the browser sent nothing of that name."""
        return self._instead.get(name, self._post.get(name))

    def texts(self, name: str) -> Sequence[str]:
        return self._post.getlist(name)

    def has(self, name: str) -> bool:
        return name in self._instead or name in self._post

    def state(self, name: str) -> str | None:
        state = self.text(f"{name}@on")
        return state if state in STATES else None

    def tokens(self, name: str) -> list[int] | None:
        """The rows that a list has, in order, or None if that was not posted."""
        text = self.text(f"{name}@rows")
        if text is None or len(text) > 8 * MOST_ROWS:
            return None
        parts = [part for part in text.split(",") if part.isascii() and part.isdecimal()]
        numbers = dict.fromkeys(int(part) for part in parts if len(part) < 8)
        return [number for number in numbers if number <= LARGEST_TOKEN][:MOST_ROWS]

    def branch(self, name: str) -> int | None:
        """The number of the chosen branch, -1 for none, or None if that was not posted."""
        text = self.text(f"{name}@branch")
        if text is None:
            return None
        return int(text) if text.isascii() and text.isdecimal() and len(text) < 5 else -1

    def put(self, name: str, text: str) -> None:
        """Take this for what was posted."""
        self._instead[name] = text

    @property
    def draft(self) -> str | None:
        """The button that changes the form instead of sending it."""
        return self._post.get("draft")
