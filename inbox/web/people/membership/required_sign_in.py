"""The page of teams that a session does not enter, with what is missing."""

from typing import Any
from urllib.parse import urlencode

from allauth.account.adapter import get_adapter
from allauth.mfa.utils import is_mfa_enabled
from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.urls import reverse

from inbox.queries.people.access import closed_teams_of
from inbox.rules.people.access import Actor
from inbox.rules.people.required_sign_in import RequiredSignIn
from inbox.rules.text.safe_text import escape_invisible
from inbox.web.base.pages import page, see_other, show


@page
def required_page(request: HttpRequest, actor: Actor) -> HttpResponse:
    teams = closed_teams_of(actor)
    if not teams:
        return see_other("pending")
    factor_teams = [team for team in teams if team.required_sign_in != RequiredSignIn.PROVIDER]
    back = urlencode({"next": reverse("pending")})
    person: Any = request.user
    methods = get_adapter().get_reauthentication_methods(person)
    context = {
        "names": [escape_invisible(team.name) for team in teams],
        "needs_factor": bool(factor_teams),
        "has_factor": is_mfa_enabled(person),
        "confirmations": [
            (f"{method['url']}?{back}", method["id"] == "mfa_reauthenticate")
            for method in methods
            if method["id"].startswith("mfa_")
        ],
        "providers": [
            (provider["name"], f"{reverse('openid_connect_login', args=[provider['id']])}?{back}")
            for provider in settings.OIDC_PROVIDERS
        ],
    }
    return show(request, actor, "account/required.html", context, section="account")
