"""Names of groups."""

import re
from typing import Final

from inbox.rules.errors import InvalidValue
from inbox.rules.text.messages import TranslatableMessage

MAX_GROUPS: Final = 100
MAX_NAME_CHARACTERS: Final = 64
NAME: Final = r"^[a-z0-9][a-z0-9_-]*\Z"


def check_group_name(name: str) -> None:
    """Raise InvalidValue unless a group may have this name."""
    if len(name) > MAX_NAME_CHARACTERS or not re.match(NAME, name):
        message = TranslatableMessage(
            "The name of a group has at most {most} characters: lowercase letters, digits, "
            "- and _, not - or _ first.",
            most=MAX_NAME_CHARACTERS,
        )
        raise InvalidValue(message, problems={"name": [message]})
