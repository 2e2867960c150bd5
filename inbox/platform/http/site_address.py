"""The address of the site, for links that the response to a request has."""

from typing import Protocol

from django.conf import settings


class _Request(Protocol):
    """A request of Django or of REST framework."""

    def build_absolute_uri(self, location: str) -> str: ...


def site_of(request: _Request) -> str:
    """Return SIGNOFF_PUBLIC_URL, or else the address to which the request was sent, without /."""
    return settings.PUBLIC_URL or request.build_absolute_uri("/").rstrip("/")
