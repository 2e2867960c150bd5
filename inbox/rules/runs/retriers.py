"""The people and keys that retried a run, beside those who requested it."""

import json
from dataclasses import dataclass
from uuid import UUID


@dataclass(frozen=True)
class Retriers:
    """The ids of users, also of those who received the token of a key, and the ids of keys."""

    people: frozenset[int] = frozenset()
    keys: frozenset[str] = frozenset()

    def and_also(self, *, people: frozenset[int], key_id: UUID | None) -> "Retriers":
        """Return these retriers and one more, a person or a key with its people."""
        return Retriers(
            self.people | people,
            self.keys | ({str(key_id)} if key_id is not None else set()),
        )

    def to_text(self) -> str:
        return json.dumps({"people": sorted(self.people), "keys": sorted(self.keys)})


def retriers_from_text(text: str | None) -> Retriers:
    """Return the retriers of `Retriers.to_text`; none for None."""
    if text is None:
        return Retriers()
    members = json.loads(text)
    return Retriers(frozenset(members["people"]), frozenset(members["keys"]))
