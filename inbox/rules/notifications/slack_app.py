"""The settings of a Slack app in one channel of a workspace."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from inbox.rules.text.messages import TranslatableMessage

#: The host of Slack's Web API, for pages and the audit trail.
SLACK_HOST: Final = "slack.com"
_FIELDS: Final = {
    "token": (
        re.compile(r"xoxb-[A-Za-z0-9-]{10,250}"),
        TranslatableMessage("Enter the bot token of the app: it begins with xoxb-."),
    ),
    "signing_secret": (
        re.compile(r"[A-Za-z0-9]{16,64}"),
        TranslatableMessage("Enter the signing secret of the app, as Basic Information shows it."),
    ),
    "workspace": (
        re.compile(r"T[A-Z0-9]{2,30}"),
        TranslatableMessage("Enter the id of the workspace, as T012AB3CD."),
    ),
    "channel": (
        re.compile(r"[CG][A-Z0-9]{2,30}"),
        TranslatableMessage("Enter the id of the channel, as C012AB3CD."),
    ),
}


@dataclass(frozen=True)
class SlackApp:
    """An app in a workspace; `token` and `signing_secret` are secrets."""

    token: str = field(default="", repr=False)
    signing_secret: str = field(default="", repr=False)
    workspace: str = ""
    channel: str = ""


#: Of chats that are no app.
NO_APP: Final = SlackApp()


def slack_problems(app: SlackApp) -> Mapping[str, list[TranslatableMessage]]:
    """Return the problems of the settings by field."""
    return {
        name: [message]
        for name, (pattern, message) in _FIELDS.items()
        if pattern.fullmatch(getattr(app, name)) is None
    }
