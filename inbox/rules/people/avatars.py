"""How a person is shown where there is little room."""


def initials(name: str) -> str:
    words = name.split()
    return "".join(word[0] for word in [*words[:1], *words[1:][-1:]]).upper()


def avatar_colour(number: int) -> int:
    """Which of the four colours of avatars somebody has."""
    return number % 4 + 1
