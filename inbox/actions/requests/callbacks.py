"""Calling programs back when their requests are decided."""

import json
from contextlib import suppress
from datetime import datetime

from inbox.actions.webhooks import outbox
from inbox.models import Agent, AgentRequest, Thread
from inbox.platform.encryption import DecryptionFailed, decrypt, encrypt
from inbox.platform.outgoing_hosts import webhook_hosts
from inbox.rules.errors import InvalidValue, raise_for
from inbox.rules.requests.callbacks import check_callback
from inbox.rules.webhooks.outgoing_urls import url_problem


def encrypted_callback(agent: Agent, url: str) -> str:
    """Return the URL as it is stored, "" for none. Raises InvalidValue."""
    if not url:
        return ""
    check_callback(url, json.loads(agent.callback_prefixes))
    # The operator may have changed the allowed hosts since the prefixes were entered.
    problem = url_problem(url, webhook_hosts())
    raise_for({"callback_url": [problem]} if problem else {})
    return encrypt(url)


def queue_callback(*, thread: Thread, request: AgentRequest, now: datetime) -> None:
    """
    Store the call of a decided request, if its URL is still below a prefix of the agent.

    The delivery workers of webhooks send it; a program that misses it reads the request later.
    """
    if request.callback:
        with suppress(InvalidValue, DecryptionFailed):
            check_callback(decrypt(request.callback), json.loads(thread.agent.callback_prefixes))
            outbox.program_called_back(thread=thread, request=request, now=now)
