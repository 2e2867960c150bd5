"""Whom django-axes counts, beside the address that it was tried from: which name was tried."""

from typing import Any

from django.http import HttpRequest


def name_of(request: HttpRequest, credentials: dict[str, Any] | None = None) -> str:
    """
    The name or address that was typed, in one spelling: `BOB` signs in as `bob` does.

    It is not looked up: that an address is locked with a name would tell that they belong together.
    """
    typed = request.POST.get("username") or (credentials or {}).get("username") or ""
    # Upper case first: databases take a dotless i for an I.
    return str(typed).strip().upper().lower()[:254]
