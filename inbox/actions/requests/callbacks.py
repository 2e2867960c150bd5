"""Calling a program back: the URL that it sent."""

import json

from inbox.models import Agent
from inbox.platform.encryption import encrypt
from inbox.rules.requests.callbacks import check_callback


def encrypted_callback(agent: Agent, url: str) -> str:
    """Return the URL as it is stored, "" for none. Raises InvalidValue."""
    if not url:
        return ""
    check_callback(url, json.loads(agent.callback_prefixes))
    return encrypt(url)
