"""The translated messages of the pages' scripts."""

import json
from functools import cache

from django.utils.translation import gettext

from inbox.web.base.durations import unit_texts


@cache
def js_messages(language: str) -> str:
    """
    Return the messages by key as JSON text; the scripts fill in the `{…}` placeholders.

    `language` is the active language.
    """
    messages: dict[str, str | dict[str, str]] = {
        "live": gettext("Live"),
        "online": gettext("Live, {count} online"),
        "reconnecting": gettext("Reconnecting"),
        "signedOut": gettext("Signed out"),
        "copied": gettext("Copied"),
        "now": gettext("now"),
        "justNow": gettext("just now"),
        "ago": gettext("{time} ago"),
        "in": gettext("in {time}"),
        "left": gettext("{time} left"),
        "units": unit_texts(),
        "oneHere": gettext("{names} is viewing this"),
        "manyHere": gettext("{names} are viewing this"),
        "decided": gettext("{who} has just decided this."),
        "chooseButton": gettext("Choose a button. A note alone does not decide."),
        "draftRestored": gettext("Draft restored."),
        "discard": gettext("Discard"),
        "undoTooLate": gettext("Too late to undo. The agent already has the answer."),
        "undoWaits": gettext("Undo follows once the decision is recorded."),
        "notForThis": gettext("Not used: it was pressed before this request was on screen."),
        "newRows": gettext("{count} new"),
        "nothingToUndo": gettext("Nothing to undo."),
        "notUndone": gettext("This could not be undone. Open the request to see its state."),
        "newRequest": gettext("New request"),
        "noConnection": gettext("No connection to the server. Your text is kept."),
        "mustSignIn": gettext(
            "You are signed out. Sign in in another tab, then send this again. Your text is kept."
        ),
        "notAllowed": gettext(
            "You don't have permission to decide, or this page has expired. Your text is kept."
        ),
        "notThere": gettext("This no longer exists, or you don't have access."),
        "broken": gettext(
            "The server had a problem. Check whether the request was decided before you try again."
        ),
    }
    return json.dumps(messages, separators=(",", ":"))
