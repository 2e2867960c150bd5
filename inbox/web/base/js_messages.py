"""What the script of the pages says: its texts live with those of the server."""

from django.utils.translation import gettext


def words() -> dict[str, str]:
    """The texts by name; `{…}` stands for what the script fills in."""
    return {
        "live": gettext("Live"),
        "online": gettext("Live, {count} people here"),
        "reconnecting": gettext("Reconnecting"),
        "signedOut": gettext("Signed out"),
        "copied": gettext("Copied"),
        "now": gettext("now"),
        "justNow": gettext("just now"),
        "left": gettext("{time} left"),
        "oneHere": gettext("{names} is looking at this"),
        "manyHere": gettext("{names} are looking at this"),
        "decided": gettext("{who} has just decided this."),
        "chooseButton": gettext("Choose a button: a note alone decides nothing."),
        "newRequest": gettext("A new request waits for you"),
        "noConnection": gettext("There is no connection to the server. Your text is still here."),
        "mustSignIn": gettext(
            "You are signed out. Sign in in another tab, then send this again: your text is still "
            "here."
        ),
        "notAllowed": gettext(
            "You are not allowed to decide this, or the page is too old. Your text is still here."
        ),
        "notThere": gettext("This is not there any more, or not yours to see."),
        "broken": gettext(
            "The server had a problem. See whether this was decided before you try again."
        ),
    }
