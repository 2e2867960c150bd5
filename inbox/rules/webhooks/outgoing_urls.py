"""The URLs that people may enter for remote agents, webhooks, callbacks and chats."""

from agents.adapters.remote.allowed_addresses import (
    AddressProblem,
    AddressRefused,
    AllowedHosts,
    check_url,
)
from inbox.rules.text.messages import TranslatableMessage

MAX_URL_CHARACTERS = 2_000
NOT_LISTED = TranslatableMessage(
    "This host is not one of those that the operator allows (SIGNOFF_OUTGOING_HOSTS)."
)
_PROBLEMS = {
    AddressProblem.NO_URL: TranslatableMessage("Enter a valid URL."),
    AddressProblem.SCHEME: TranslatableMessage("The URL must start with https:// and a host."),
    AddressProblem.CREDENTIALS: TranslatableMessage(
        "Remove the password: URLs are displayed and logged."
    ),
    AddressProblem.CHARACTERS: TranslatableMessage("Encode the special characters in the URL."),
    AddressProblem.CLEAR: TranslatableMessage(
        "The URL must start with https://. Only hosts of your own network that the operator has "
        "named may have http://."
    ),
    AddressProblem.NOT_LISTED: NOT_LISTED,
}


def url_problem(url: str, hosts: AllowedHosts) -> TranslatableMessage | None:
    """Return why nothing may be sent to a URL, None if it may; names are resolved later."""
    if len(url) > MAX_URL_CHARACTERS:
        return TranslatableMessage(
            "A URL can have at most {count} characters.", count=MAX_URL_CHARACTERS
        )
    try:
        check_url(url, hosts)
    except AddressRefused as refused:
        return _PROBLEMS[refused.fault]
    return None
