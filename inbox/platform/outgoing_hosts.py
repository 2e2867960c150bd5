"""The hosts that the operator allows for URLs that people have entered."""

from django.conf import settings

from agents.adapters.remote.allowed_addresses import AllowedHosts


def agent_hosts() -> AllowedHosts:
    """Return the hosts that remote agents may have."""
    return AllowedHosts(settings.PRIVATE_AGENT_HOSTS, settings.OUTGOING_HOSTS)


def webhook_hosts() -> AllowedHosts:
    """Return the hosts to which webhooks, callbacks, chats and push messages may be sent."""
    return AllowedHosts(settings.PRIVATE_WEBHOOK_HOSTS, settings.OUTGOING_HOSTS)
