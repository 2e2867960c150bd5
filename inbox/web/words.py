"""What the script of the pages says: its texts live with those of the server."""


def words() -> dict[str, str]:
    """The texts by name; `{…}` stands for what the script fills in."""
    return {
        "live": "Live",
        "online": "Live, {count} people here",
        "reconnecting": "Reconnecting",
        "signedOut": "Signed out",
        "copied": "Copied",
        "now": "now",
        "left": "{time} left",
        "oneHere": "{names} is looking at this",
        "manyHere": "{names} are looking at this",
        "newRequest": "A new request waits for you",
        "noConnection": "There is no connection to the server. Your text is still here.",
        "mustSignIn": (
            "You are signed out. Sign in in another tab, then send this again: your text is still "
            "here."
        ),
        "notAllowed": (
            "You are not allowed to decide this, or the page is too old. Your text is still here."
        ),
        "notThere": "This is not there any more, or not yours to see.",
        "broken": "The server had a problem. See whether this was decided before you try again.",
        "openFirst": "Open the long values and read them before you approve.",
    }
