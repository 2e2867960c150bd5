"""Sign-in at an OpenID Connect provider, and its link to local accounts."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING, Any, Final

import jwt
import structlog
from allauth.core.exceptions import ImmediateHttpResponse
from allauth.socialaccount.adapter import DefaultSocialAccountAdapter
from allauth.socialaccount.internal import jwtkit
from allauth.socialaccount.providers.oauth2.client import OAuth2Error
from allauth.socialaccount.providers.oauth2.views import OAuth2CallbackView, OAuth2LoginView
from allauth.socialaccount.providers.openid_connect.views import OpenIDConnectOAuth2Adapter
from django.conf import settings
from django.contrib import messages
from django.db import IntegrityError
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect, QueryDict
from django.urls import reverse
from django.utils.translation import gettext, gettext_noop
from requests import RequestException

from inbox.actions.people.accept_invitation import join_by_provider
from inbox.queries.people.accounts import user_by_verified_email
from inbox.rules.errors import NotFound
from inbox.rules.people.access import Role

if TYPE_CHECKING:
    from inbox.models import User


log = structlog.get_logger(__name__)

_UNKNOWN: Final = gettext_noop(
    "No account is linked to this sign-in. Ask your team's admin for an invitation."
)
_FAILED: Final = gettext_noop("Signing in with the provider failed. Try again.")
#: Signatures by the key of a provider; django-allauth takes the one that a token names.
_ALGORITHMS: Final = frozenset(
    {"RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"}
)
#: Exceptions that an invalid or missing response of a provider can raise.
_PROVIDER_ERRORS: Final = (
    *(RequestException, OAuth2Error, jwt.PyJWTError),
    *(AttributeError, LookupError, TypeError, ValueError),
)


class Provider(OpenIDConnectOAuth2Adapter):
    @property
    def openid_config(self) -> Any:
        """
        Return the metadata of the provider.

        django-allauth takes the issuer from it, so another provider's would be believed.

        Raises:
            ValueError: it names another issuer than the setting.
        """
        config = super().openid_config
        issuer = self.get_provider().app.settings["server_url"]  # type: ignore[no-untyped-call]
        if str(config["issuer"]).rstrip("/") != issuer:
            raise ValueError(f"{self.provider_id}: the metadata has another issuer")
        return config

    def complete_login(self, request: HttpRequest, app: Any, token: Any, **kwargs: Any) -> Any:
        """
        Verify the ID token, and fetch the e-mail address if the token has none.

        django-allauth does not verify the signature, and does not compare the subject of the
        user info with that of the token.
        """
        config = self.openid_config
        algorithm = jwt.get_unverified_header(kwargs["response"]["id_token"])["alg"]
        if algorithm not in _ALGORITHMS:
            raise ValueError(f"{self.provider_id}: an ID token is signed with {algorithm}")
        claims = jwtkit.verify_and_decode(
            credential=kwargs["response"]["id_token"],
            keys_url=config["jwks_uri"],
            issuer=config["issuer"],
            audience=app.client_id,
            lookup_kid=jwtkit.lookup_kid_jwk,
        )
        if "email" not in claims and "userinfo_endpoint" in config:
            more = self._fetch_user_info(token.token)
            if more.get("sub") == claims["sub"]:
                claims = {**more, **claims}
        provider: Any = self.get_provider()  # type: ignore[no-untyped-call]
        return provider.sociallogin_from_response(request, {"id_token": claims})


class OidcAdapter(DefaultSocialAccountAdapter):
    def generate_state_param(self, state: dict[str, Any]) -> str:
        """Return 256 random bits; django-allauth's state has 95."""
        return secrets.token_urlsafe(32)

    def on_authentication_error(self, request: HttpRequest, *_args: Any, **_more: Any) -> None:
        raise ImmediateHttpResponse(_redirect(request, _FAILED))

    def send_notification_mail(self, *_args: Any, **_more: Any) -> None:
        """Send no mail about a sign-in that the user has just made."""

    def pre_social_login(self, request: HttpRequest, sociallogin: Any) -> None:
        if sociallogin.is_existing:
            return
        claims = sociallogin.account.extra_data["id_token"]
        user = _user_for_claims(sociallogin.account.provider, claims)
        if user is None:
            raise ImmediateHttpResponse(_redirect(request, _UNKNOWN))
        sociallogin.connect(request, user)


def _user_for_claims(provider_id: str, claims: dict[str, Any]) -> User | None:
    """Return the user with the verified address, a new one if they may join, or None."""
    email = str(claims.get("email", "")).lower()
    # Some providers send the string "true"; the string "false" is truthy.
    if not email or claims.get("email_verified") not in (True, "true"):
        return None
    provider = next(entry for entry in settings.OIDC_PROVIDERS if entry["id"] == provider_id)
    domain = email.rpartition("@")[2]
    is_of_provider = domain in provider.get("domains", [domain])
    user = user_by_verified_email(email)
    if user is not None:
        # One provider must not vouch for addresses that another one has.
        return user if is_of_provider else None
    team = provider.get("team", "") if is_of_provider else ""
    try:
        return join_by_provider(
            email=email,
            full_name=str(claims.get("name", "")),
            provider_id=provider_id,
            team_slug=team,
            role=Role(provider.get("role", "viewer")),
        )
    except NotFound:
        log.warning("provider names no team", provider=provider_id, team=team)
        return None
    except IntegrityError:
        # A concurrent request created the account, probably from another tab.
        return user_by_verified_email(email)


def start_sign_in(request: HttpRequest, provider_id: str) -> HttpResponse:
    """Redirect to the provider; cross-site requests are rejected (login CSRF)."""
    if request.headers.get("Sec-Fetch-Site", "none") not in ("same-origin", "none"):
        return HttpResponseRedirect(reverse("account_login"))
    query = QueryDict(mutable=True)
    if "next" in request.GET:
        query["next"] = request.GET["next"]
    if "again" in request.GET:  # to confirm an identity: the provider's own session is not enough
        query["auth_params"] = "prompt=login"
    request.GET = query  # type: ignore[assignment]  # not modified after this
    return _run_view(OAuth2LoginView, request, provider_id)


def callback(request: HttpRequest, provider_id: str) -> HttpResponse:
    """Handle the provider's callback."""
    return _run_view(OAuth2CallbackView, request, provider_id)


def _run_view(view: Any, request: HttpRequest, provider_id: str) -> HttpResponse:
    if provider_id not in {entry["id"] for entry in settings.OIDC_PROVIDERS}:
        raise Http404()
    try:
        response: HttpResponse = view.adapter_view(Provider(request, provider_id))(request)
    except _PROVIDER_ERRORS:
        return _redirect(request, _FAILED)
    return response


def _redirect(request: HttpRequest, text: str) -> HttpResponse:
    messages.error(request, gettext(text))
    return HttpResponseRedirect(reverse("account_login"))
