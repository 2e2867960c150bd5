"""Avatars: initials and colour."""


def initials(name: str) -> str:
    words = name.split()
    return "".join(word[0] for word in [*words[:1], *words[1:][-1:]]).upper()


def avatar_colour(number: int) -> int:
    """Return the number of one of four colours."""
    return number % 4 + 1
