"""Sign a test client in as if with a password just now."""

import time
from typing import Any

from allauth.account.authentication import AUTHENTICATION_METHODS_SESSION_KEY
from django.test import Client


def sign_in(client: Client, user: Any, *, seconds_ago: float = 0) -> None:
    """Sign in without the form; `force_login` alone records no method, and is not fresh."""
    client.force_login(user)
    session: Any = client.session
    step = {"method": "password", "at": time.time() - seconds_ago, "username": user.username}
    session[AUTHENTICATION_METHODS_SESSION_KEY] = [step]
    session["account_authentication_methods_user"] = str(user.pk)
    session.save()
